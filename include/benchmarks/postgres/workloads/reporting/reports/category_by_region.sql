-- A panel on the sales view: the last month by region and category; it reads everything of that month.
SELECT region, category, sum(amount) AS revenue
FROM sales
WHERE ordered_at >= '2024-06-01'
GROUP BY region, category
ORDER BY region, category;
