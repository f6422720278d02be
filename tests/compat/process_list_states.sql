# States of statements that show the process list; a query of its table gives the newest session first.
CREATE VIEW own_state AS SELECT command, state, info FROM information_schema.processlist WHERE id = CONNECTION_ID();
SELECT command, state, info FROM information_schema.processlist WHERE id = CONNECTION_ID();
SELECT * FROM own_state;
b: SELECT 'another session';
SELECT GROUP_CONCAT(id ORDER BY id DESC) = GROUP_CONCAT(id) FROM (SELECT id FROM information_schema.processlist LIMIT 100) newest;
