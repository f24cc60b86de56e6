-- How many customers have how many orders.
SELECT orders, count(*) AS customers
FROM (
  SELECT c_custkey, count(o_orderkey) AS orders
  FROM customer LEFT JOIN orders ON c_custkey = o_custkey AND o_orderpriority <> '1-URGENT'
  GROUP BY c_custkey
) counted
GROUP BY orders
ORDER BY customers DESC, orders DESC;
