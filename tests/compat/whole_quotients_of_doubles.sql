-- DIV divides doubles as the decimals that they show.
CREATE TABLE b (i INT, d DOUBLE, f FLOAT, s VARCHAR(10));
INSERT INTO b VALUES (1,0.05,0.1,'0.1'),(5,-1e-5,-0.3,'0.3'),(-9,2.5,2.7,NULL);
SELECT 0.3e0 DIV 0.1e0, 0.7e0 DIV 0.1e0, 1.1e0 DIV 0.1e0, 1e0 DIV 0.2e0, 5 DIV 1e-5, 1 DIV -1e-5, -7.5e0 DIV 2, 7 DIV -2e0, 9e15 DIV 1e0;
SELECT i DIV d, 1 DIV d, d DIV 0.01, d DIV 0.01e0, i DIV f, 10 DIV f, f DIV 0.1, 1 DIV s, '0.3' DIV s, s DIV '0.1' FROM b;
SELECT 1 DIV 0e0, NULL DIV 0.1e0;
SELECT 1 DIV 1e-40;
SELECT 5 DIV 1e-30;
