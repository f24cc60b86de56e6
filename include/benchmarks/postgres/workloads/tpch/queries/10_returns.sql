-- Customers who sent back most in a quarter.
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS lost, n_name
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= date '1993-10-01'
  AND o_orderdate < date '1994-01-01' AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, n_name
ORDER BY lost DESC, c_custkey
LIMIT 20;
