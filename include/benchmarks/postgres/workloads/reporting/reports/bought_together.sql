-- What is bought together with the products of one brand.
SELECT p.product, count(*) AS baskets
FROM products mine
JOIN order_lines a USING (product_id)
JOIN order_lines b ON b.order_id = a.order_id AND b.product_id <> a.product_id
JOIN products p ON p.product_id = b.product_id
WHERE mine.brand_id = 110
GROUP BY p.product_id, p.product
ORDER BY baskets DESC, p.product_id
LIMIT 20;
