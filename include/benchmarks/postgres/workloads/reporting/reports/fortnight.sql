-- Two weeks by department.
SELECT d.department, count(DISTINCT o.order_id) AS orders,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS revenue
FROM orders o JOIN order_lines l USING (order_id) JOIN products p USING (product_id)
JOIN categories c USING (category_id) JOIN departments d USING (department_id)
WHERE o.ordered_at >= '2024-06-10' AND o.ordered_at < '2024-06-24'
GROUP BY d.department
ORDER BY revenue DESC, d.department;
