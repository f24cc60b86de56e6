-- A panel on the sales view: one brand by country this year.
SELECT country, sum(quantity) AS units, sum(amount) AS revenue
FROM sales
WHERE brand = 'Brand 140' AND ordered_at >= '2024-01-01'
GROUP BY country
ORDER BY revenue DESC, country;
