-- Enterprise customers of one country this year, by account manager.
SELECT c.account_manager_id, count(DISTINCT o.order_id) AS orders,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS revenue
FROM customers c JOIN orders o USING (customer_id) JOIN order_lines l USING (order_id)
WHERE c.segment_id = 3 AND c.country_id = 7 AND o.ordered_at >= '2024-01-01'
GROUP BY c.account_manager_id
ORDER BY revenue DESC, c.account_manager_id;
