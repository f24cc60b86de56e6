-- Order 5 to 15 items. Stock rows are locked in the order of their items, so few orders deadlock.
\set w random(1, :warehouses)
\set d random(1, 10)
\set c random(1, :customers)
\set n random(5, 15)
\set s random(1, 1000000000)
BEGIN;
SELECT w_tax, c_discount FROM warehouse, customer WHERE w_id = :w AND c_w_id = :w AND c_d_id = :d AND c_id = :c;
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w AND d_id = :d RETURNING d_next_o_id - 1 AS o \gset
INSERT INTO orders VALUES (:w, :d, :o, :c, NULL, :n, now());
INSERT INTO new_order VALUES (:w, :d, :o);
WITH it AS MATERIALIZED (
  SELECT g AS n, (1 + (hashint8(:s::bigint + g)::bigint & 2147483647) % :items)::int AS i
  FROM generate_series(1, :n::int) g
), st AS (
  UPDATE stock
  SET s_quantity = CASE WHEN s_quantity > 15 THEN s_quantity - 5 ELSE s_quantity + 86 END,
      s_ytd = s_ytd + 5, s_order_cnt = s_order_cnt + 1
  WHERE s_w_id = :w AND s_i_id = ANY (ARRAY(SELECT i FROM it ORDER BY 1))
  RETURNING s_i_id, s_dist
)
INSERT INTO order_line
  SELECT :w::int, :d::int, :o::int, it.n, it.i, NULL, 5 * i_price, :w::int, 5, st.s_dist
  FROM it JOIN item ON i_id = it.i JOIN st ON s_i_id = it.i;
COMMIT;
