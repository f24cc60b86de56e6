SELECT avg(r.rating) FROM reviews r JOIN trust t ON r.u_id = t.target_u_id
  WHERE r.i_id = :i AND t.source_u_id = :u AND t.trust = 1
