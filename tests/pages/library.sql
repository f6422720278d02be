DROP DATABASE IF EXISTS library;
CREATE DATABASE library CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE library;
CREATE TABLE conf (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  k VARCHAR(191) NOT NULL DEFAULT '',
  v LONGTEXT NOT NULL,
  early VARCHAR(20) NOT NULL DEFAULT 'yes',
  UNIQUE KEY k (k),
  KEY early (early)
);
CREATE TABLE shelf (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(100) NOT NULL,
  room VARCHAR(40) NOT NULL
);
CREATE TABLE book (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  author BIGINT UNSIGNED NOT NULL DEFAULT 0,
  added DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',
  added_gmt DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',
  content LONGTEXT NOT NULL,
  title TEXT NOT NULL,
  excerpt TEXT NOT NULL,
  state VARCHAR(20) NOT NULL DEFAULT 'in',
  lending VARCHAR(20) NOT NULL DEFAULT 'open',
  reserving VARCHAR(20) NOT NULL DEFAULT 'open',
  code VARCHAR(255) NOT NULL DEFAULT '',
  slug VARCHAR(200) NOT NULL DEFAULT '',
  wanted TEXT NOT NULL,
  seen TEXT NOT NULL,
  changed DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',
  changed_gmt DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00',
  filtered LONGTEXT NOT NULL,
  parent BIGINT UNSIGNED NOT NULL DEFAULT 0,
  guid VARCHAR(255) NOT NULL DEFAULT '',
  place INT NOT NULL DEFAULT 0,
  kind VARCHAR(20) NOT NULL DEFAULT 'book',
  media VARCHAR(100) NOT NULL DEFAULT '',
  loans BIGINT NOT NULL DEFAULT 0,
  KEY slug (slug(191)),
  KEY kind_state_added (kind, state, added, id),
  KEY parent (parent),
  KEY author (author)
);
CREATE TABLE note (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  owner BIGINT UNSIGNED NOT NULL DEFAULT 0,
  k VARCHAR(255) DEFAULT NULL,
  v LONGTEXT,
  KEY owner (owner),
  KEY k (k(191))
);
CREATE TABLE tag (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(200) NOT NULL DEFAULT '',
  slug VARCHAR(200) NOT NULL DEFAULT '',
  KEY slug (slug(191)),
  KEY name (name(191))
);
CREATE TABLE tagging (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  tag_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  kind VARCHAR(32) NOT NULL DEFAULT '',
  about LONGTEXT NOT NULL,
  books BIGINT NOT NULL DEFAULT 0,
  UNIQUE KEY tag_kind (tag_id, kind),
  KEY kind (kind)
);
CREATE TABLE book_tag (
  book_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  tagging_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  place INT NOT NULL DEFAULT 0,
  PRIMARY KEY (book_id, tagging_id),
  KEY tagging_id (tagging_id)
);
CREATE TABLE loan (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  book_id BIGINT UNSIGNED NOT NULL,
  reader VARCHAR(60) NOT NULL,
  due DATETIME NOT NULL,
  approved VARCHAR(20) NOT NULL DEFAULT '1',
  parent BIGINT UNSIGNED NOT NULL DEFAULT 0,
  KEY book_id (book_id),
  KEY approved_due (approved, due),
  KEY parent (parent)
);
INSERT INTO conf (k, v, early)
  WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 150)
  SELECT CONCAT('key_', i), REPEAT('v', 1 + i % 60), IF(i <= 120, 'yes', 'no') FROM n;
INSERT INTO shelf (name, room)
  WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 20)
  SELECT CONCAT('shelf ', i), CONCAT('room ', i % 4) FROM n;
INSERT INTO book (author, added, added_gmt, content, title, excerpt, state, slug, wanted, seen, changed, changed_gmt, filtered, parent, guid, place, kind)
  WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200)
  SELECT 1 + i % 5, DATE_ADD('2026-01-01', INTERVAL i HOUR), DATE_ADD('2026-01-01', INTERVAL i HOUR),
    REPEAT(CONCAT('word', i, ' '), 40), CONCAT('title ', i), '', IF(i % 10 = 0, 'out', 'in'), CONCAT('slug-', i), '', '',
    DATE_ADD('2026-02-01', INTERVAL i HOUR), DATE_ADD('2026-02-01', INTERVAL i HOUR), '', i DIV 40,
    CONCAT('https://library.example/', i), i % 7, ELT(1 + (i % 25 = 0) + 2 * (i % 100 = 1), 'book', 'map', 'menu')
  FROM n;
INSERT INTO note (owner, k, v)
  WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 600)
  SELECT 100 + i DIV 6, CONCAT('field_', i % 6), CONCAT('value ', i) FROM n;
INSERT INTO tag (name, slug)
  WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  SELECT CONCAT('tag ', i), CONCAT('tag-', i) FROM n;
INSERT INTO tagging (tag_id, kind, about, books)
  SELECT id, ELT(1 + id % 4, 'genre', 'mood', 'format', 'theme'), '', id FROM tag;
INSERT INTO book_tag (book_id, tagging_id, place)
  SELECT book.id, tagging.id, 0 FROM book JOIN tagging ON tagging.id IN (1 + book.id % 40, 1 + (book.id * 7 + 3) % 40);
INSERT INTO loan (book_id, reader, due, approved, parent)
  WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300)
  SELECT 1 + i % 60, CONCAT('reader ', i % 17), DATE_ADD('2026-03-01', INTERVAL i MINUTE), IF(i % 3, '1', '0'), i DIV 8 FROM n;
