-- Revenue of three picks of parts and quantities.
SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem, part
WHERE p_partkey = l_partkey AND l_shipmode IN ('AIR', 'REG AIR')
  AND ((p_brand = 'Brand 12' AND p_container = 'SM CASE' AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5)
    OR (p_brand = 'Brand 23' AND p_container = 'MED BOX' AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10)
    OR (p_brand = 'Brand 4' AND p_container = 'LG DRUM' AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15));
