-- A panel on the sales view: the consumers of one country by month and department.
SELECT date_trunc('month', ordered_at) AS month, department, sum(amount) AS revenue
FROM sales
WHERE country = 'Country 35' AND segment = 'consumer'
GROUP BY month, department
ORDER BY month, department;
