-- A decimal in a user variable keeps its own digits where a text is chosen, and has all digits where a number is.
SET @u=1.5, @v=3, @w=2e0;
CREATE TABLE b (i INT, vc VARCHAR(10), vn VARCHAR(10) NOT NULL);
INSERT INTO b VALUES (1,'1.5','5'),(5,'5',''),(7,'abc','z'),(-9,NULL,'x');
SELECT IFNULL(@u,'x'), IFNULL(@u,vc), IF(i>2,@u,vc), CASE WHEN i=1 THEN @u ELSE 'x' END, CASE i WHEN 1 THEN @u WHEN 5 THEN 'five' ELSE vc END, COALESCE(NULL,@u,'x'), NVL2(1,@u,'x'), PASSWORD(@u) FROM b;
SELECT IFNULL(@u,1), COALESCE(@u,2.00), IF(1,@u,@v), CONCAT(IFNULL(@u,1)), NULLIF(@u,0), NULLIF(@v,0), 10/NULLIF(@u,0), CONCAT(NULLIF(@u,0)), NULLIF(@u,1.5);
SELECT IFNULL(@u,'x') UNION SELECT 'zz';
SELECT GROUP_CONCAT(IFNULL(@u,'x')) FROM b;
SELECT DISTINCT IFNULL(@u,'x') FROM b;
INSERT INTO b (vc,vn) VALUES (IFNULL(@u,'x'),IF(1,@u,'y')),(@u,@u);
UPDATE b SET vc=IF(i IS NULL,@u,vc), vn=IFNULL(@u,'q');
SELECT vc, vn FROM b;
SET @z=IFNULL(@u,'x');
SELECT @z;
CREATE TABLE c AS SELECT NULLIF(@u,0) a, NULLIF(@v,0) b, 10/NULLIF(@u,0) c;
SHOW CREATE TABLE c;
