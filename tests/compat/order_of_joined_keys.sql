# Keys of ORDER BY behind a key that identifies a row of one table still order the rows of the others.
CREATE TABLE p (id INT PRIMARY KEY, g INT, u INT NOT NULL, UNIQUE (u));
CREATE TABLE b (o INT PRIMARY KEY, g INT);
INSERT INTO p SELECT seq, seq, 100 - seq FROM seq_1_to_50;
INSERT INTO b VALUES (1,48),(2,49),(3,49),(4,50),(5,50),(6,50),(7,47);
SELECT a.id, b.o FROM p a JOIN b ON a.g = b.g ORDER BY a.id DESC, a.id DESC, b.o DESC LIMIT 2;
SELECT a.id, b.o FROM p a JOIN b ON a.g = b.g ORDER BY a.id DESC, a.g, b.o DESC LIMIT 2;
SELECT a.id, b.o FROM p a JOIN b ON a.g = b.g ORDER BY a.id, a.g, b.o DESC LIMIT 4;
SELECT a.id, b.o FROM p a JOIN b ON a.g = b.g ORDER BY a.id, a.id DESC, b.o DESC LIMIT 4;
SELECT a.id, b.o FROM p a JOIN b ON a.g = b.g ORDER BY a.u, a.id, b.o DESC LIMIT 4;
SELECT a.id, b.o FROM p a JOIN b ON a.g = b.g ORDER BY a.u, a.u, a.g, b.o DESC LIMIT 4;
SELECT a.id, b.o FROM p a LEFT JOIN b ON a.g = b.g ORDER BY a.id DESC, a.u, b.o DESC LIMIT 4;
SELECT a.id, b.o FROM p a LEFT JOIN b ON a.g = b.g WHERE a.id = 50 ORDER BY a.id, a.g, b.o DESC LIMIT 2;
SELECT b.o, a.id FROM b JOIN p a ON a.g = b.g ORDER BY b.o, b.g, a.id DESC LIMIT 3;
SELECT a.id, a.g FROM p a ORDER BY a.id DESC, a.g, a.u LIMIT 2;
SELECT a.id, COUNT(b.o) FROM p a JOIN b ON a.g = b.g GROUP BY a.id, a.g ORDER BY a.id DESC, a.g, COUNT(b.o) LIMIT 2;
