-- Customers of the first year who ordered nothing in the last 90 days.
SELECT s.segment, count(*) AS dormant
FROM customers c JOIN segments s USING (segment_id)
WHERE c.created_on < '2022-01-01'
  AND NOT EXISTS (
    SELECT FROM orders o
    WHERE o.customer_id = c.customer_id AND o.ordered_at >= timestamp '2024-07-01' - interval '90 days'
  )
GROUP BY s.segment
ORDER BY s.segment;
