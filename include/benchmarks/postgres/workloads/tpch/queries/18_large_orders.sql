-- The orders with the largest quantities.
SELECT c_name, o_orderkey, o_orderdate, sum(l_quantity) AS quantity
FROM customer, orders, lineitem
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 250)
  AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, o_orderkey, o_orderdate
ORDER BY quantity DESC, o_orderdate, o_orderkey
LIMIT 100;
