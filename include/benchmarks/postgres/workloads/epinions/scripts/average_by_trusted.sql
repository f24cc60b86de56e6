-- Give the average rating of an item by users whom somebody trusts.
\set u random_zipfian(1, :users, 1.2)
\set i random_zipfian(1, :items, 1.2)
SELECT avg(r.rating) FROM reviews r JOIN trust t ON r.u_id = t.target_u_id
  WHERE r.i_id = :i AND t.source_u_id = :u AND t.trust = 1;
