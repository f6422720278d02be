SELECT COUNT(*) FROM information_schema.collations;
-- unordered
SELECT * FROM information_schema.collations WHERE collation_name LIKE '%uca1400%as_c_';
SHOW COLLATION LIKE '%uca1400_ai_ci';
SHOW COLLATION WHERE id IS NULL AND collation='uca1400_german2_as_ci';
SELECT COUNT(*) FROM information_schema.collation_character_set_applicability;
-- unordered
SELECT * FROM information_schema.collation_character_set_applicability WHERE collation_name='uca1400_ai_ci';
SELECT * FROM information_schema.collations WHERE collation_name LIKE 'latin1%';
SELECT plugin_name,plugin_description FROM information_schema.plugins WHERE plugin_name IN ('mysql_native_password','InnoDB','MyISAM','unix_socket','SEQUENCE') ORDER BY plugin_name;
SHOW RELAYLOG 'x' EVENTS;
CREATE TABLE n(id INT PRIMARY KEY, v BIGINT UNSIGNED);
INSERT INTO n VALUES(1,18446744073709551615),(2,3);
SELECT NTILE(18446744073709551615) OVER (ORDER BY id) FROM n;
SELECT NTILE(9223372036854775808) OVER (ORDER BY id) FROM n;
SELECT NTILE(9223372036854775807) OVER (ORDER BY id) FROM n;
SELECT NTILE(0) OVER (ORDER BY id) FROM n;
SELECT NTILE(v) OVER (ORDER BY id) FROM n WHERE id=1;
