-- Rename a user.
\set u random_zipfian(1, :users, 1.2)
UPDATE users SET name = 'User ' || :u || ' again' WHERE u_id = :u;
