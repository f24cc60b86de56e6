-- How often a customer buys the same product of one category again.
SELECT times, count(*) AS pairs
FROM (
  SELECT o.customer_id, l.product_id, count(*) AS times
  FROM products p JOIN order_lines l USING (product_id) JOIN orders o USING (order_id)
  WHERE p.category_id = 12
  GROUP BY o.customer_id, l.product_id
) bought
GROUP BY times
ORDER BY times;
