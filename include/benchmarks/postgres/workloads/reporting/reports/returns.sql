-- What was returned in the last year, by category.
SELECT p.category_id, count(*) AS lines,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS value
FROM orders o JOIN order_lines l USING (order_id) JOIN products p USING (product_id)
WHERE o.status = 'returned' AND o.ordered_at >= '2023-07-01'
GROUP BY p.category_id
ORDER BY value DESC, p.category_id;
