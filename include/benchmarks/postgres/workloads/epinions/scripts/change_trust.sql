-- Change whom a user trusts.
\set u random_zipfian(1, :users, 1.2)
\set t random_zipfian(1, :users, 1.2)
UPDATE trust SET trust = 1 - trust WHERE source_u_id = :u AND target_u_id = :t;
