-- The book of one account manager: who bought what, and when last.
SELECT c.customer_id, c.customer, count(DISTINCT o.order_id) AS orders,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS revenue, max(o.ordered_at) AS last_order
FROM customers c JOIN orders o USING (customer_id) JOIN order_lines l USING (order_id)
WHERE c.account_manager_id = 17
GROUP BY c.customer_id, c.customer
ORDER BY revenue DESC, c.customer_id
LIMIT 50;
