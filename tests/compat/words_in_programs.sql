-- A word at the place of a statement could be a label, so the error is behind it.
CREATE PROCEDURE p() BEGIN foo; END;
CREATE PROCEDURE p() BEGIN `foo` x; END;
CREATE PROCEDURE p() BEGIN language x; END;
CREATE PROCEDURE p() BEGIN value x; END;
CREATE PROCEDURE p() BEGIN 5; END;
CREATE PROCEDURE p() BEGIN foo.bar; END;
CREATE PROCEDURE p() BEGIN SELECT 1; syntax error; END;
CREATE PROCEDURE p() IF 1 THEN foo bar; END IF;
CREATE PROCEDURE p() foo bar;
CREATE PROCEDURE p() action x;
CREATE PROCEDURE p() SELECT 1 FROM;
CREATE PROCEDURE p() BEGIN foo: SELECT 1; END;
foo bar;
