-- Three account managers compared, the last quarter.
SELECT m.manager, date_trunc('month', o.ordered_at) AS month, count(DISTINCT o.customer_id) AS buyers,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS revenue
FROM account_managers m JOIN customers c USING (account_manager_id) JOIN orders o USING (customer_id)
JOIN order_lines l USING (order_id)
WHERE m.account_manager_id IN (4, 21, 38) AND o.ordered_at >= '2024-04-01'
GROUP BY m.manager, month
ORDER BY m.manager, month;
