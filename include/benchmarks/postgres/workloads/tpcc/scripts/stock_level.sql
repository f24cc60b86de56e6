-- Count the items of the last twenty orders that are nearly sold out: the join whose plan may flip.
\set w random(1, :warehouses)
\set d random(1, 10)
\set t random(10, 20)
SELECT d_next_o_id AS o FROM district WHERE d_w_id = :w AND d_id = :d \gset
SELECT count(DISTINCT s_i_id) FROM order_line, stock
  WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id < :o AND ol_o_id >= :o - 20
    AND s_w_id = :w AND s_i_id = ol_i_id AND s_quantity < :t;
