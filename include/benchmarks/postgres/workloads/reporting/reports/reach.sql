-- Distinct buyers and products per channel, the last two months.
SELECT o.channel_id, count(DISTINCT o.customer_id) AS buyers, count(DISTINCT l.product_id) AS products
FROM orders o JOIN order_lines l USING (order_id)
WHERE o.ordered_at >= '2024-05-01'
GROUP BY o.channel_id
ORDER BY o.channel_id;
