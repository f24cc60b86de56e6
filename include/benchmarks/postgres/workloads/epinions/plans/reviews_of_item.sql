SELECT r.a_id, r.rating, r.rank, avg(rr.rating) FROM reviews r LEFT JOIN review_ratings rr USING (a_id)
  WHERE r.i_id = :i GROUP BY r.a_id, r.rating, r.rank ORDER BY avg(rr.rating) DESC NULLS LAST, r.a_id LIMIT 10
