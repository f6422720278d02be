# Statements of programs and prepared ones count as what they are, in addition to the statement that runs them.
CREATE TABLE counted (a INT);
CREATE PROCEDURE counts() BEGIN DECLARE i INT DEFAULT 0; INSERT INTO counted VALUES (1); WHILE i < 3 DO SET i = i + 1; SELECT i; END WHILE; UPDATE counted SET a = a; END;
PREPARE d FROM 'DO 1';
FLUSH STATUS;
CALL counts();
EXECUTE d;
EXECUTE IMMEDIATE 'DELETE FROM counted WHERE a = 5';
PREPARE s FROM 'SELECT 1';
DEALLOCATE PREPARE s;
EXPLAIN UPDATE counted SET a = 1;
SET STATEMENT max_statement_time = 5 FOR INSERT INTO counted VALUES (2);
SHOW STATUS WHERE Variable_name IN ('Com_call_procedure', 'Com_dealloc_sql', 'Com_delete', 'Com_do', 'Com_execute_immediate', 'Com_execute_sql', 'Com_insert', 'Com_prepare_sql', 'Com_select', 'Com_set_option', 'Com_stmt_execute', 'Com_stmt_prepare', 'Com_update');
# Refused statements count.
CREATE USER refused@localhost;
SELECT * FROM nowhere.nothing;
SHOW STATUS LIKE 'Access_denied_errors';
DROP USER refused@localhost;
# The time of statements is counted.
FLUSH STATUS;
SHOW SESSION STATUS WHERE Variable_name = 'Query_time' AND Value >= 0.2;
DO SLEEP(0.2);
SHOW SESSION STATUS WHERE Variable_name = 'Query_time' AND Value < 0.2;
