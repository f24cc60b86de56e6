-- Nine tables in the shape of TPC-C: warehouses with ten districts each, their customers, orders and stock.
-- Variables: seed, warehouses, items, customers (of a district; each has one order).
SELECT setseed(:seed) \g /dev/null

BEGIN;

CREATE TABLE warehouse WITH (fillfactor = 50) AS
  SELECT w AS w_id, 300000::numeric(12, 2) AS w_ytd, (random() * 0.2)::numeric(4, 4) AS w_tax, 'W' || w AS w_name
  FROM generate_series(1, :warehouses) w;
CREATE TABLE district WITH (fillfactor = 50) AS
  SELECT w AS d_w_id, d AS d_id, 30000::numeric(12, 2) AS d_ytd, (random() * 0.2)::numeric(4, 4) AS d_tax,
         :customers + 1 AS d_next_o_id
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d;
CREATE TABLE item AS
  SELECT i AS i_id, md5(i::text)::varchar(24) AS i_name, (1 + random() * 99)::numeric(5, 2) AS i_price,
         md5((i * 7)::text) AS i_data
  FROM generate_series(1, :items) i;
CREATE TABLE stock AS
  SELECT w AS s_w_id, i AS s_i_id, 10 + (random() * 90)::int AS s_quantity, 0::numeric(8, 2) AS s_ytd,
         0 AS s_order_cnt, left(md5(i::text), 24)::char(24) AS s_dist, repeat(md5((i + w)::text), 6) AS s_data
  FROM generate_series(1, :warehouses) w, generate_series(1, :items) i;
CREATE TABLE customer AS
  SELECT w AS c_w_id, d AS c_d_id, c AS c_id, (random() * 0.5)::numeric(4, 4) AS c_discount, 'GC'::char(2) AS c_credit,
         'NAME' || lpad((CASE WHEN c <= 1000 THEN c - 1 ELSE (random() * 999)::int END)::text, 3, '0') AS c_last,
         left(md5(c::text), 16) AS c_first, -10::numeric(12, 2) AS c_balance, 10::float AS c_ytd_payment,
         1 AS c_payment_cnt, repeat(md5((c + d + w)::text), 12) AS c_data
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, :customers) c;
CREATE TABLE history AS
  SELECT c_id AS h_c_id, c_d_id AS h_d_id, c_w_id AS h_w_id, now() AS h_date, 10::numeric(6, 2) AS h_amount,
         'init' AS h_data
  FROM customer;
CREATE TABLE orders AS
  SELECT w AS o_w_id, d AS o_d_id, o AS o_id, 1 + (o * 7919) % :customers AS o_c_id,
         CASE WHEN o <= :customers * 7 / 10 THEN 1 + (random() * 9)::int END AS o_carrier_id,
         5 + (random() * 10)::int AS o_ol_cnt, now() AS o_entry_d
  FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, :customers) o;
CREATE TABLE new_order AS
  SELECT o_w_id AS no_w_id, o_d_id AS no_d_id, o_id AS no_o_id FROM orders WHERE o_carrier_id IS NULL;
CREATE TABLE order_line AS
  SELECT o_w_id AS ol_w_id, o_d_id AS ol_d_id, o_id AS ol_o_id, n AS ol_number,
         1 + (random() * (:items - 1))::int AS ol_i_id, CASE WHEN o_carrier_id IS NOT NULL THEN o_entry_d END AS ol_delivery_d,
         (random() * 9999)::numeric(6, 2) AS ol_amount, o_w_id AS ol_supply_w_id, 5 AS ol_quantity,
         left(md5(n::text), 24)::char(24) AS ol_dist_info
  FROM orders, LATERAL generate_series(1, o_ol_cnt) n;

ALTER TABLE warehouse ADD PRIMARY KEY (w_id);
ALTER TABLE district ADD PRIMARY KEY (d_w_id, d_id);
ALTER TABLE item ADD PRIMARY KEY (i_id);
ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id);
ALTER TABLE customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);
ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);
ALTER TABLE new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);
ALTER TABLE order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);
CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first);
CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);

COMMIT;

VACUUM (ANALYZE);
