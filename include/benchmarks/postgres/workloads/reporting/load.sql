-- A shop with three years of growing sales: few customers and products make most of the revenue, orders lie in the order of
-- their dates, the lines in the order of the orders. Variables: seed, customers, products, orders.
\set ON_ERROR_STOP 1
SELECT setseed(:seed) \g /dev/null

BEGIN;

CREATE TABLE regions AS SELECT i AS region_id, 'Region ' || i AS region FROM generate_series(1, 6) i;
CREATE TABLE countries AS
  SELECT i AS country_id, 'Country ' || i AS country, 1 + (i * 5) % 6 AS region_id FROM generate_series(1, 40) i;
CREATE TABLE segments AS
  SELECT i AS segment_id, (ARRAY['consumer', 'small business', 'enterprise', 'public'])[i] AS segment
  FROM generate_series(1, 4) i;
CREATE TABLE channels AS
  SELECT i AS channel_id, (ARRAY['web', 'app', 'phone', 'partner'])[i] AS channel FROM generate_series(1, 4) i;
CREATE TABLE departments AS SELECT i AS department_id, 'Department ' || i AS department FROM generate_series(1, 8) i;
CREATE TABLE categories AS
  SELECT i AS category_id, 'Category ' || i AS category, 1 + (i * 3) % 8 AS department_id FROM generate_series(1, 40) i;
CREATE TABLE brands AS SELECT i AS brand_id, 'Brand ' || i AS brand FROM generate_series(1, 200) i;
CREATE TABLE account_managers AS
  SELECT i AS account_manager_id, 'Manager ' || i AS manager FROM generate_series(1, 60) i;

CREATE TABLE customers AS
  SELECT i AS customer_id, 'Customer ' || i AS customer,
         (1 + floor(40 * power(random(), 1.6)))::int AS country_id,
         (ARRAY[1, 1, 1, 1, 1, 2, 2, 2, 3, 4])[1 + floor(random() * 10)::int] AS segment_id,
         date '2021-01-01' + (random() * 1200)::int AS created_on,
         1 + (random() * 59)::int AS account_manager_id
  FROM generate_series(1, :customers) i;

CREATE TABLE products AS
  SELECT i AS product_id, 'Product ' || i AS product, 1 + (i * 7919) % 40 AS category_id,
         (1 + floor(200 * power(random(), 1.5)))::int AS brand_id,
         (2 + random() * 150)::numeric(8, 2) AS price
  FROM generate_series(1, :products) i;

CREATE TABLE orders AS
  SELECT row_number() OVER (ORDER BY ordered_at)::int AS order_id, customer_id, ordered_at,
         CASE WHEN ordered_at < '2024-06-01' THEN CASE WHEN random() < 0.96 THEN 'done' ELSE 'returned' END
              ELSE CASE WHEN random() < 0.6 THEN 'shipped' ELSE 'open' END END AS status,
         (ARRAY[1, 1, 1, 2, 2, 3, 4])[1 + floor(random() * 7)::int] AS channel_id
  FROM (
    SELECT (1 + floor(:customers * power(random(), 1.3)))::int AS customer_id,
           timestamp '2021-07-01' + (1095 * power(random(), 0.7)) * interval '1 day' AS ordered_at
    FROM generate_series(1, :orders)
  ) made;

CREATE TABLE order_lines AS
  SELECT o.order_id, n AS line_no,
         (1 + floor(:products * power(random(), 1.5)))::int AS product_id,
         (1 + floor(4 * power(random(), 2)))::int AS quantity,
         (2 + random() * 150)::numeric(8, 2) AS unit_price,
         (CASE WHEN random() < 0.2 THEN random() * 0.3 ELSE 0 END)::numeric(4, 2) AS discount
  FROM orders o, LATERAL generate_series(1, 1 + (o.order_id * 31) % 5) n;

CREATE TABLE invoices AS
  SELECT order_id, ordered_at::date AS issued_on, ordered_at::date + 30 AS due_on,
         CASE WHEN random() < CASE WHEN ordered_at > '2024-05-15' THEN 0.685 ELSE 0.985 END
              THEN ordered_at::date + (random() * 40)::int END AS paid_on
  FROM orders;

ALTER TABLE regions ADD PRIMARY KEY (region_id);
ALTER TABLE countries ADD PRIMARY KEY (country_id);
ALTER TABLE segments ADD PRIMARY KEY (segment_id);
ALTER TABLE channels ADD PRIMARY KEY (channel_id);
ALTER TABLE departments ADD PRIMARY KEY (department_id);
ALTER TABLE categories ADD PRIMARY KEY (category_id);
ALTER TABLE brands ADD PRIMARY KEY (brand_id);
ALTER TABLE account_managers ADD PRIMARY KEY (account_manager_id);
ALTER TABLE customers ADD PRIMARY KEY (customer_id);
ALTER TABLE products ADD PRIMARY KEY (product_id);
ALTER TABLE orders ADD PRIMARY KEY (order_id);
ALTER TABLE order_lines ADD PRIMARY KEY (order_id, line_no);
ALTER TABLE invoices ADD PRIMARY KEY (order_id);
CREATE INDEX ON customers (account_manager_id);
CREATE INDEX ON customers (country_id);
CREATE INDEX ON products (brand_id);
CREATE INDEX ON products (category_id);
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON orders (ordered_at);
CREATE INDEX ON order_lines (product_id);

-- What a reporting tool queries: everything joined, eleven tables, more than the planner reorders by default.
CREATE VIEW sales AS
  SELECT l.order_id, l.line_no, o.ordered_at, o.status, ch.channel, cu.customer_id, cu.customer, s.segment, co.country,
         r.region, p.product_id, p.product, b.brand, ca.category, d.department, l.quantity,
         l.quantity * l.unit_price * (1 - l.discount) AS amount
  FROM order_lines l
  JOIN orders o USING (order_id)
  JOIN channels ch USING (channel_id)
  JOIN customers cu USING (customer_id)
  JOIN segments s USING (segment_id)
  JOIN countries co USING (country_id)
  JOIN regions r USING (region_id)
  JOIN products p USING (product_id)
  JOIN categories ca USING (category_id)
  JOIN departments d USING (department_id)
  JOIN brands b USING (brand_id);

COMMIT;

VACUUM (ANALYZE);
