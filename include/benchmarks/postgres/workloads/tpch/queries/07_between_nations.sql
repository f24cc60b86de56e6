-- What two nations sold to each other, by year.
SELECT n1.n_name AS seller, n2.n_name AS buyer, extract(year FROM l_shipdate) AS year,
       sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM supplier, lineitem, orders, customer, nation n1, nation n2
WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey
  AND c_nationkey = n2.n_nationkey AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31'
  AND ((n1.n_nationkey = 6 AND n2.n_nationkey = 7) OR (n1.n_nationkey = 7 AND n2.n_nationkey = 6))
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
