-- EXPLAIN of UPDATE and DELETE of joined tables, which use no join buffer.

create table a(i int, j int);

create table b(i int, j int);

insert into a values(1,1),(2,2),(3,3);

insert into b values(1,1),(2,2),(3,3);

explain delete a from a, b where a.i=b.i;

explain delete b from a, b where a.i=b.i;

explain delete a, b from a, b;

explain delete x from a x join a y;

explain update a, b set a.i=1 where a.j=b.j;

explain update a, b set a.i=1, b.i=1;

explain update a left join b on a.i=b.i set a.j=1;

explain delete a from a left join b on a.i=b.i where b.j is null;

explain format=json delete a from a, b;

explain select * from a, b;

explain insert into a select b.* from b, b c;

explain replace into a select b.* from b, b c;

prepare p from 'explain delete a from a, b where a.j=b.j';

execute p;
