-- A trigger without a schema is in the current one, which must be that of its table.
create database other_of_triggers;
create table other_of_triggers.t (a int);
create trigger x1 after insert on other_of_triggers.t for each row set @a = 1;
create trigger other_of_triggers.x2 after insert on other_of_triggers.t for each row set @a = 2;
create trigger other_of_triggers.x3 after insert on t for each row set @a = 3;
create trigger x4 after insert on other_of_triggers.nosuch for each row set @a = 4;
drop trigger x1;
select trigger_name from information_schema.triggers where trigger_schema = 'other_of_triggers' order by 1;
use other_of_triggers;
create trigger x5 after insert on other_of_triggers.t for each row set @a = 5;
insert into t values (1);
select @a;
drop database other_of_triggers;
create trigger x6 after insert on other_of_triggers.t for each row set @a = 6;
