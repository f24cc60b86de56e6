-- Revenue per day and channel in the last month, with its running total and weekly mean.
SELECT day, channel_id, revenue, sum(revenue) OVER (PARTITION BY channel_id ORDER BY day) AS to_date,
       round(avg(revenue) OVER (PARTITION BY channel_id ORDER BY day ROWS 6 PRECEDING), 2) AS week_mean
FROM (
  SELECT o.ordered_at::date AS day, o.channel_id,
       sum(l.quantity * l.unit_price * (1 - l.discount)) AS revenue
  FROM orders o JOIN order_lines l USING (order_id)
  WHERE o.ordered_at >= '2024-06-01'
  GROUP BY day, o.channel_id
) days
ORDER BY channel_id, day;
