-- Give the average rating of an item.
\set i random_zipfian(1, :items, 1.2)
SELECT avg(rating), count(*) FROM reviews WHERE i_id = :i;
