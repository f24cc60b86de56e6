-- One brand month by month.
SELECT date_trunc('month', o.ordered_at) AS month, count(DISTINCT o.customer_id) AS buyers, sum(l.quantity) AS units
FROM brands b JOIN products p USING (brand_id) JOIN order_lines l USING (product_id)
JOIN orders o USING (order_id)
WHERE b.brand = 'Brand 110'
GROUP BY month
ORDER BY month;
