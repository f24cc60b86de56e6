-- Cohorts of enterprise customers by the quarter of their first order, and how many still buy later.
WITH firsts AS (
  SELECT o.customer_id, min(o.ordered_at) AS first_at
  FROM orders o JOIN customers c USING (customer_id)
  WHERE c.segment_id = 3
  GROUP BY o.customer_id
)
SELECT cohort, quarters, count(*) AS buyers
FROM (
  SELECT DISTINCT date_trunc('quarter', f.first_at) AS cohort, (o.ordered_at::date - f.first_at::date) / 91 AS quarters,
         o.customer_id
  FROM firsts f JOIN orders o USING (customer_id)
) active
GROUP BY cohort, quarters
ORDER BY cohort, quarters;
