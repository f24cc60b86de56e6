-- What a year loses without the small orders of a brand.
SELECT round(sum(l_extendedprice) / 7.0, 2) AS yearly
FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand 13' AND p_container = 'MED BOX'
  AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey);
