-- How four small brands are taken up.
SELECT b.brand, count(DISTINCT o.customer_id) AS buyers, min(o.ordered_at) AS since, sum(l.quantity) AS units
FROM brands b JOIN products p USING (brand_id) JOIN order_lines l USING (product_id)
JOIN orders o USING (order_id)
WHERE b.brand_id BETWEEN 180 AND 183
GROUP BY b.brand
ORDER BY units DESC, b.brand;
