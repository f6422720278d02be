SET foo=foo+1;
SET i='a'+j;
SET foo=(SELECT 1 FROM nope);
SET @x=nope+1, foo=1;
SET foo=1, @x=nope;
SET @x=nope;
SET @a=5, foo=1;
SELECT @a;
SET autocommit=1, foo=(SELECT 1 UNION SELECT 2);
