-- Change the rating that a user has given to an item.
\set u random_zipfian(1, :users, 1.2)
\set i random_zipfian(1, :items, 1.2)
\set v random(0, 5)
UPDATE reviews SET rating = :v WHERE i_id = :i AND u_id = :u;
