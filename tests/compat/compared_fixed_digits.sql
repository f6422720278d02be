-- FLOAT(M,D) and DOUBLE(M,D) equal other numbers with fixed digits if they are equal up to their digits.
CREATE TABLE f (id INT PRIMARY KEY, f FLOAT(8,2), g FLOAT, d DOUBLE(10,2), h DOUBLE, n DECIMAL(10,2), i INT, KEY(f), KEY(d));
INSERT INTO f VALUES (1, 1.1, 1.1, 1.1, 1.1, 1.1, 1), (2, 2.345, 2.345, 2.345, 2.345, 2.345, 2), (3, 5, 5, 5, 5, 5, 5), (4, NULL, NULL, NULL, NULL, NULL, NULL), (5, 0.1, 0.1, 0.1, 0.1, 0.1, 0);
SELECT id, f = n, f = d, f = g, f = h, f = 1.1, 1.1 = f, f <=> n, f >= n, f > n, f < n, f <> n, d = n, g = n, h = n, f = i FROM f ORDER BY id;
SELECT id, f IN (1.1, 2.35), f IN (1.1), f BETWEEN 1.1 AND 1.1, NOT f = 1.1, f + 0 = n, f = n + 0, ROUND(f, 2) = n, f = CAST(1.1 AS DECIMAL(5,1)), f = 1.11, IFNULL(f, 0) = n, f = 2.34, f = 2.345, f = 2.35 FROM f ORDER BY id;
SELECT a.id, b.id FROM f a JOIN f b ON a.f = b.n ORDER BY 1, 2;
SELECT a.id, b.id FROM f a JOIN f b ON a.f = b.d ORDER BY 1, 2;
SELECT a.id, b.id FROM f a JOIN f b IGNORE INDEX (f) ON a.n = b.f ORDER BY 1, 2;
SELECT a.id, b.id FROM f a LEFT JOIN f b ON (a.f, a.id) = (b.n, b.id) ORDER BY 1, 2;
SELECT id FROM f WHERE f IN (SELECT n FROM f) ORDER BY id;
SELECT id FROM f WHERE f = n AND d = f ORDER BY id;
SELECT NULLIF(f, 1.1), NULLIF(f, n), NULLIF(n, f) FROM f ORDER BY id;
