-- A panel on the sales view: one brand in one region by category this year.
SELECT category, count(DISTINCT customer_id) AS buyers, sum(amount) AS revenue
FROM sales
WHERE brand = 'Brand 60' AND region = 'Region 3' AND ordered_at >= '2024-01-01'
GROUP BY category
ORDER BY category;
