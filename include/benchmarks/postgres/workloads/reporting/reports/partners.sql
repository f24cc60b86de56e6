-- What came in through partners in the last quarter, by segment.
SELECT s.segment, count(DISTINCT o.order_id) AS orders, sum(l.quantity) AS units,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS revenue
FROM orders o JOIN order_lines l USING (order_id) JOIN customers c USING (customer_id)
JOIN segments s USING (segment_id)
WHERE o.channel_id = 4 AND o.ordered_at >= '2024-04-01'
GROUP BY s.segment
ORDER BY s.segment;
