-- Types of user variables in functions and unions.
SET @v='abc', @i=1, @d=1.5, @f=1e0, @n=NULL, @u=CAST(5 AS UNSIGNED), @dt=CURRENT_DATE, @b=x'61';
CREATE TABLE q2 AS SELECT @v AS s, @i AS i, @d AS d, @f AS f, @n AS n, @u AS u, @dt AS dt, @b AS b;
SHOW CREATE TABLE q2;
CREATE TABLE q3 AS SELECT @v AS s, @i AS i, @d AS d, @f AS f, @n AS n, @u AS u, @dt AS dt, @b AS b UNION SELECT 1,2,3,4,5,6,7,8;
SHOW CREATE TABLE q3;
CREATE TABLE q4 AS SELECT @v AS s, @i AS i, @d AS d, @f AS f, @n AS n, @u AS u, @dt AS dt, @b AS b UNION ALL SELECT @v AS s, @i AS i, @d AS d, @f AS f, @n AS n, @u AS u, @dt AS dt, @b AS b;
SHOW CREATE TABLE q4;
CREATE TABLE q5 AS SELECT CONCAT(@v) AS s, @i+1 AS i, @d+1 AS d, @f+1 AS f, CONCAT(@n) AS n, CONCAT(@dt) AS dt, CONCAT(@b) AS b;
SHOW CREATE TABLE q5;
CREATE TABLE q6 AS SELECT CONCAT(@v) AS s, @i+1 AS i, @d+1 AS d, @f+1 AS f, CONCAT(@n) AS n, CONCAT(@dt) AS dt, CONCAT(@b) AS b UNION SELECT 1,2,3,4,5,6,7;
SHOW CREATE TABLE q6;
CREATE TABLE q7 AS SELECT IFNULL(@v,1) AS s, COALESCE(@i) AS i, IF(1,@d,1) AS d, -@f AS f, IFNULL(@n,'x') AS n, REPEAT(@v,2) AS u, UPPER(@v) AS dt;
SHOW CREATE TABLE q7;
CREATE TABLE q8 AS SELECT IFNULL(@v,1) AS s, COALESCE(@i) AS i, IF(1,@d,1) AS d, -@f AS f, IFNULL(@n,'x') AS n, REPEAT(@v,2) AS u, UPPER(@v) AS dt UNION ALL SELECT 1,2,3,4,5,6,7;
SHOW CREATE TABLE q8;
-- meta
SELECT @v AS s, @i AS i, @d AS d, @f AS f, @n AS n;
-- meta
SELECT @v AS s, @i AS i, @d AS d, @n AS n UNION SELECT 1,2,3,5;
-- meta
SELECT * FROM (SELECT @v AS s, @i AS i, @d AS d, @n AS n UNION SELECT 1,2,3,5) AS q;
SELECT @d UNION SELECT 1;
SELECT 1 UNION SELECT @d;
SELECT @d AS d UNION ALL SELECT 1 ORDER BY d;
SELECT @d UNION ALL SELECT @i;
