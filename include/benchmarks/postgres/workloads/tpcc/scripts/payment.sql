-- Take a payment; six of ten customers are found by their name.
\set w random(1, :warehouses)
\set d random(1, 10)
\set c random(1, :customers)
\set h random(1, 5000)
\set l random_gaussian(0, 999, 2.5)
\set by_name random(1, 100)
BEGIN;
UPDATE warehouse SET w_ytd = w_ytd + :h WHERE w_id = :w;
UPDATE district SET d_ytd = d_ytd + :h WHERE d_w_id = :w AND d_id = :d;
\if :by_name <= 60
SELECT coalesce((SELECT c_id FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_last = 'NAME' || lpad(:l::text, 3, '0') ORDER BY c_first LIMIT 1), :c) AS c \gset
\endif
UPDATE customer SET c_balance = c_balance - :h, c_ytd_payment = c_ytd_payment + :h, c_payment_cnt = c_payment_cnt + 1
  WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c;
INSERT INTO history VALUES (:c, :d, :w, now(), :h, 'paid');
COMMIT;
