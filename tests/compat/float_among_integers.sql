# A FLOAT beside small integers stays one.
create or replace table ft(f float, ti tinyint, si smallint, mi mediumint, i int, b bigint, ub bigint unsigned, y year, bt bit(4), n decimal(5,2), d double, t1 tinyint(1));
insert into ft values (-0.1,1,1,1,1,1,1,2001,b'1',1.5,0.1,1);
create or replace table fr as select coalesce(f,ti) a, coalesce(f,si) b, coalesce(f,mi) c, coalesce(f,i) d, coalesce(f,b) e, coalesce(f,ub) g, coalesce(f,y) h, coalesce(f,bt) j, coalesce(f,n) k, coalesce(f,d) l, coalesce(f,null) m, coalesce(f,1) o, coalesce(f,1.5) s, coalesce(f,ti,si) t, coalesce(ti,f) u, coalesce(f,true) v, coalesce(f,t1) w, greatest(f,ti) x, coalesce(f,'a') aa, coalesce(ti,i,f) ab, coalesce(f,ti,d) ac from ft;
describe fr;
select * from fr;
create or replace table fr as select f from ft union select ti from ft;
describe fr;
create or replace table fr as select f from ft union select b from ft;
describe fr;
