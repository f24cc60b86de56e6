-- A panel on the sales view: one category in one region over the last year.
SELECT date_trunc('month', ordered_at) AS month, count(DISTINCT customer_id) AS buyers, sum(amount) AS revenue
FROM sales
WHERE category = 'Category 12' AND region = 'Region 2' AND ordered_at >= '2023-07-01'
GROUP BY month
ORDER BY month;
