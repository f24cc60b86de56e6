-- Give an item another title.
\set i random_zipfian(1, :items, 1.2)
UPDATE items SET title = 'Item ' || :i || ' anew' WHERE i_id = :i;
