-- Each species by month, with the share of the month before.
WITH monthly AS (
  SELECT name, date_trunc('month', caught_on) AS month, sum(fish) AS fish FROM catches GROUP BY 1, 2
)
SELECT name, month, fish, lag(fish) OVER (PARTITION BY name ORDER BY month) AS before
FROM monthly
ORDER BY name, month;
