SELECT r.a_id, r.rating, u.name FROM reviews r JOIN trust t ON r.u_id = t.target_u_id JOIN users u ON u.u_id = r.u_id
  WHERE r.i_id = :i AND t.source_u_id = :u ORDER BY r.rank DESC, r.a_id LIMIT 10
