-- Replace this by your own tables and data; psql runs it, so \copy works: paths are relative to this folder.
-- Variables: seed (a number from 0 to 1 that differs between nodes) and scale (the workload's parameter).
SELECT setseed(:seed) \g /dev/null

CREATE TABLE species (name text PRIMARY KEY, weight_kg real NOT NULL);
\copy species FROM species.csv WITH (FORMAT csv, HEADER)

CREATE TABLE catches AS
  SELECT i AS catch_id, (ARRAY['albacore', 'bluefin', 'skipjack', 'yellowfin'])[1 + floor(random() * 4)::int] AS name,
         1 + (random() * 199)::int AS boat_id, date '2020-01-01' + (random() * 1800)::int AS caught_on,
         (random() * 20)::int AS fish
  FROM generate_series(1, (200000 * :scale)::int) i;
CREATE INDEX ON catches (boat_id);
CREATE INDEX ON catches (caught_on);

VACUUM (ANALYZE);
