CREATE TABLE t (a INT, b TINYINT, c SMALLINT UNSIGNED, d MEDIUMINT, e BIGINT UNSIGNED, f INT UNSIGNED, g INT(3), h BOOLEAN);
INSERT INTO t VALUES (1,1,1,1,1,1,1,1),(-2,-2,2,-2,2,2,-2,0);
-- meta
SELECT @a:=a, @b:=b, @c:=c, @d:=d, @e:=e, @f:=f, @g:=g, @h:=h, @i:=1, @j:=a+1, @k:=12345678901 FROM t;
SELECT @a, @b, @c, @d, @e, @f, @g, @h, @i, @j, @k;
CREATE TABLE u AS SELECT @a:=a a, @b:=b b, @c:=c c, @d:=d d, @e:=e e, @f:=f f, @g:=g g, @h:=h h, @i:=1 i FROM t;
SHOW CREATE TABLE u;
SELECT * FROM u;
SET @n=0;
-- meta
SELECT @n:=@n+1 AS n, a FROM t;
-- meta
SELECT MAX(@a:=a), (@c:=c)+1, -(@f:=f) FROM t;
