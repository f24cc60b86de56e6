-- Users who review items, rate each other's reviews and trust each other; a few are very active, a few items very known.
-- Variables: seed, users, items, reviews, trusts.
SELECT setseed(:seed) \g /dev/null

BEGIN;

CREATE TABLE users AS
  SELECT i AS u_id, 'User ' || i AS name, md5(i::text) || '@example.org' AS email, now() AS created_on
  FROM generate_series(1, :users) i;
CREATE TABLE items AS
  SELECT i AS i_id, 'Item ' || i || ' ' || md5(i::text) AS title, now() AS created_on FROM generate_series(1, :items) i;
CREATE TABLE reviews AS
  SELECT i AS a_id, (1 + floor(:users * power(random(), 1.8)))::int AS u_id,
         (1 + floor(:items * power(random(), 2.2)))::int AS i_id, (random() * 5)::int AS rating,
         (random() * 100)::int AS rank, repeat(md5(i::text), 4) AS comment
  FROM generate_series(1, :reviews) i;
CREATE TABLE review_ratings AS
  SELECT (1 + floor(:users * power(random(), 1.8)))::int AS u_id, a_id, (random() * 5)::int AS rating, now() AS created_on
  FROM reviews, generate_series(1, 2);
CREATE TABLE trust AS
  SELECT DISTINCT ON (source_u_id, target_u_id) source_u_id, target_u_id, trust, now() AS created_on
  FROM (
    SELECT (1 + floor(:users * power(random(), 1.5)))::int AS source_u_id,
           (1 + floor(:users * power(random(), 1.8)))::int AS target_u_id, (random())::int AS trust
    FROM generate_series(1, :trusts)
  ) made;

ALTER TABLE users ADD PRIMARY KEY (u_id);
ALTER TABLE items ADD PRIMARY KEY (i_id);
ALTER TABLE reviews ADD PRIMARY KEY (a_id);
ALTER TABLE trust ADD PRIMARY KEY (source_u_id, target_u_id);
CREATE INDEX reviews_user ON reviews (u_id);
CREATE INDEX reviews_item ON reviews (i_id);
CREATE INDEX review_ratings_review ON review_ratings (a_id);
CREATE INDEX review_ratings_user ON review_ratings (u_id);
CREATE INDEX trust_target ON trust (target_u_id);

COMMIT;

VACUUM (ANALYZE);
