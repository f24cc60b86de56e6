-- Deliver the oldest open order of one district.
\set w random(1, :warehouses)
\set d random(1, 10)
BEGIN;
SELECT coalesce((SELECT no_o_id FROM new_order WHERE no_w_id = :w AND no_d_id = :d ORDER BY no_o_id LIMIT 1 FOR UPDATE SKIP LOCKED), 0) AS o \gset
\if :o > 0
DELETE FROM new_order WHERE no_w_id = :w AND no_d_id = :d AND no_o_id = :o;
UPDATE orders SET o_carrier_id = 3 WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o RETURNING o_c_id AS c \gset
UPDATE order_line SET ol_delivery_d = now() WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o;
UPDATE customer SET c_balance = c_balance + (SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o)
  WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c;
\endif
COMMIT;
