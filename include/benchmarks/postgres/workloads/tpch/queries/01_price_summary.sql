-- What was billed and shipped until a date, by flag and status.
SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS base,
       sum(l_extendedprice * (1 - l_discount)) AS billed, round(avg(l_discount), 4) AS discount, count(*) AS lines
FROM lineitem
WHERE l_shipdate <= date '1998-09-01'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;
