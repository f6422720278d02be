-- CREATE OR REPLACE that fails by the type of a column keeps the old table; other mistakes do not.
create table r (x int);
create or replace table r (a date on update current_timestamp);
create or replace table r (a decimal(70,2));
create or replace table r (a decimal(5,6));
create or replace table r (a bit(65));
show columns from r;
create or replace table r (a int, key (b));
show columns from r;
