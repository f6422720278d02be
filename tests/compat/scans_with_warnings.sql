-- Conditions that raise warnings over rows, with numbers drawn per row and texts that repeat.
CREATE TABLE w (id INT PRIMARY KEY, s VARCHAR(10), n INT);
INSERT INTO w SELECT seq, ELT(seq % 3 + 1, '1', '2x', 'y'), seq % 5 FROM seq_1_to_900;
SELECT COUNT(*), SUM(id) FROM w WHERE RAND(7) < 0.5 AND s + 0 > 0 AND id < 40;
SHOW WARNINGS LIMIT 3;
SELECT COUNT(*), SUM(id) FROM w WHERE n = 3 AND RAND(7) < 0.5;
SELECT COUNT(*) FROM w WHERE id < 10 AND s + 0 = 2;
SHOW WARNINGS;
SELECT COUNT(*) FROM w WHERE s = 'y' AND CAST(s AS SIGNED) = 0 AND id < 12;
SHOW WARNINGS;
SELECT COUNT(*) FROM w WHERE n > 0 AND 10 / (n - 1) > 3 AND id < 20;
SHOW WARNINGS;
SELECT COUNT(*) FROM w WHERE s IN ('1', 2) AND id < 10;
SHOW WARNINGS;
SELECT COUNT(*) FROM w WHERE s <=> NULL OR s LIKE '2%' AND LENGTH(s) = 2;
SELECT COUNT(*) FROM w WHERE (@c := s) = 'y' AND id < 30;
SELECT @c;
DROP TABLE w;
