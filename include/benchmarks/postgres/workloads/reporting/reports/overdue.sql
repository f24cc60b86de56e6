-- Invoices that are late, by region and months.
SELECT r.region, (date '2024-07-01' - i.due_on) / 30 AS months_late, count(*) AS lines,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS owed
FROM invoices i JOIN orders o USING (order_id) JOIN order_lines l USING (order_id) JOIN customers c USING (customer_id)
JOIN countries n USING (country_id) JOIN regions r USING (region_id)
WHERE i.paid_on IS NULL AND i.due_on < '2024-07-01'
GROUP BY r.region, months_late
ORDER BY r.region, months_late;
