# A member of an ENUM or SET is a text as the value of a subquery and of window functions that give a value.
create table u(id int, en enum('z','a','m'), st set('z','a'), g int);
insert into u values(1,'z','z',1),(2,'a','z,a',1),(3,'m','a',2);
create table c1 as select (select en from u where id=1) a, (select st from u where id=2) b;
show create table c1;
select id from u order by (select y.en from u y where y.id=u.id);
select id from u x where (select y.en from u y where y.id=x.id)=1;
select (select en from u where id=2)+0, concat((select en from u where id=2)), (select en from u where id=2) > 'b';
select id from u order by first_value(en) over (partition by id);
select id, lag(en) over (order by id)+0, first_value(en) over (order by id)+0 from u;
select x, x+0 from (select (select en from u y where y.id=u.id) x from u) z order by x;
select (select en from u where id=1) union select 'q' order by 1;
select if(1,en,en)+0, coalesce(en)+0, case when 1 then en end+0 from u order by if(1,en,en);
drop table u, c1;
