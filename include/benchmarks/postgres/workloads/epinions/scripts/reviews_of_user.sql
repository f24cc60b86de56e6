-- Show what a user has reviewed.
\set u random_zipfian(1, :users, 1.2)
SELECT u.name, i.title, r.rating FROM users u JOIN reviews r USING (u_id) JOIN items i USING (i_id)
  WHERE u.u_id = :u ORDER BY r.rating DESC, r.a_id LIMIT 10;
