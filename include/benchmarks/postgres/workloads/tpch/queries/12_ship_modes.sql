-- Whether cheap ways of shipping make urgent orders late.
SELECT l_shipmode, count(*) FILTER (WHERE o_orderpriority < '3') AS urgent, count(*) FILTER (WHERE o_orderpriority >= '3') AS other
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate AND l_receiptdate >= date '1994-01-01' AND l_receiptdate < date '1995-01-01'
GROUP BY l_shipmode
ORDER BY l_shipmode;
