-- Eight tables in the shape of TPC-H: parts, who supplies them, who orders them; dates of seven years.
-- Variables: seed, suppliers, parts, customers, orders.
SELECT setseed(:seed) \g /dev/null

BEGIN;

CREATE TABLE region AS
  SELECT i AS r_regionkey, (ARRAY['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'])[i + 1] AS r_name
  FROM generate_series(0, 4) i;
CREATE TABLE nation AS
  SELECT i AS n_nationkey, 'NATION ' || i AS n_name, i % 5 AS n_regionkey FROM generate_series(0, 24) i;
CREATE TABLE supplier AS
  SELECT i AS s_suppkey, 'Supplier ' || i AS s_name, (random() * 24)::int AS s_nationkey,
         (random() * 11000 - 1000)::numeric(12, 2) AS s_acctbal, md5(i::text) AS s_comment
  FROM generate_series(1, :suppliers) i;
CREATE TABLE part AS
  SELECT i AS p_partkey, 'part ' || md5(i::text) AS p_name, 'Brand ' || (1 + random() * 24)::int AS p_brand,
         (ARRAY['STANDARD', 'SMALL', 'MEDIUM', 'LARGE', 'ECONOMY', 'PROMO'])[1 + floor(random() * 6)::int] || ' '
           || (ARRAY['TIN', 'NICKEL', 'BRASS', 'STEEL', 'COPPER'])[1 + floor(random() * 5)::int] AS p_type,
         1 + (random() * 49)::int AS p_size,
         (ARRAY['SM CASE', 'MED BOX', 'LG DRUM', 'JUMBO PKG', 'WRAP BAG'])[1 + floor(random() * 5)::int] AS p_container,
         (900 + i % 1000)::numeric(12, 2) AS p_retailprice
  FROM generate_series(1, :parts) i;
CREATE TABLE partsupp AS
  SELECT p AS ps_partkey, 1 + (p * 7 + n * 31) % :suppliers AS ps_suppkey, (random() * 9999)::int AS ps_availqty,
         (1 + random() * 999)::numeric(12, 2) AS ps_supplycost
  FROM generate_series(1, :parts) p, generate_series(0, 3) n;
CREATE TABLE customer AS
  SELECT i AS c_custkey, 'Customer ' || i AS c_name, (random() * 24)::int AS c_nationkey,
         (random() * 11000 - 1000)::numeric(12, 2) AS c_acctbal,
         (ARRAY['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'])[1 + floor(random() * 5)::int]
           AS c_mktsegment
  FROM generate_series(1, :customers) i;
CREATE TABLE orders AS
  SELECT i AS o_orderkey, 1 + (random() * (:customers - 1))::int / 3 * 3 % :customers AS o_custkey,
         date '1992-01-01' + (random() * 2405)::int AS o_orderdate,
         (ARRAY['1-URGENT', '2-HIGH', '3-MEDIUM', '4-LOW', '5-NONE'])[1 + floor(random() * 5)::int] AS o_orderpriority,
         CASE WHEN random() < 0.5 THEN 'F' ELSE 'O' END AS o_orderstatus
  FROM generate_series(1, :orders) i;
CREATE TABLE lineitem AS
  SELECT o_orderkey AS l_orderkey, n AS l_linenumber, 1 + (random() * (:parts - 1))::int AS l_partkey,
         1 + (random() * (:suppliers - 1))::int AS l_suppkey, (1 + random() * 49)::int AS l_quantity,
         (900 + random() * 100000)::numeric(12, 2) AS l_extendedprice, (random() * 0.1)::numeric(4, 2) AS l_discount,
         (random() * 0.08)::numeric(4, 2) AS l_tax,
         CASE WHEN o_orderdate > '1995-06-17' THEN 'N' WHEN random() < 0.5 THEN 'R' ELSE 'A' END AS l_returnflag,
         CASE WHEN o_orderdate > '1995-06-17' THEN 'O' ELSE 'F' END AS l_linestatus,
         o_orderdate + 1 + (random() * 120)::int AS l_shipdate, o_orderdate + 30 + (random() * 60)::int AS l_commitdate,
         o_orderdate + 10 + (random() * 130)::int AS l_receiptdate,
         (ARRAY['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'])[1 + floor(random() * 7)::int] AS l_shipmode
  FROM orders, LATERAL generate_series(1, 1 + o_orderkey % 7) n;

ALTER TABLE region ADD PRIMARY KEY (r_regionkey);
ALTER TABLE nation ADD PRIMARY KEY (n_nationkey);
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);
ALTER TABLE part ADD PRIMARY KEY (p_partkey);
ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);
ALTER TABLE orders ADD PRIMARY KEY (o_orderkey);
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber);
CREATE INDEX orders_customer ON orders (o_custkey);
CREATE INDEX orders_date ON orders (o_orderdate);
CREATE INDEX lineitem_part ON lineitem (l_partkey, l_suppkey);
CREATE INDEX lineitem_shipped ON lineitem (l_shipdate);

COMMIT;

VACUUM (ANALYZE);
