-- A zero has no sign, and digits that are not in the shortest text of a double are zeros.
create table t(f double, g double(30,4), h double(40,20));
insert into t values(-0.001,-0.00001,0.1),(-0.4,6901659091095025664,0.3),(-49,1000000000000000.25,123456.789),(0,0.1,-1e-21);
select round(f,2), round(f), truncate(f,0), ceil(f), floor(f/1000), round(f,-2), round(f,2)+0, concat(round(f,1)) from t;
select round(-0.001e0,2), truncate(-0.5e0,0), ceiling(-0.5e0), floor(-0e0), round(-0.1e0), round(-4e0,-1), -0e0, 0*-1e0, mod(-4e0,2e0);
select g, h, -g, g*0 from t;
select round(0.1e0,20), round(1e15+0.3e0,4), round(6901659091095025664e0,4), truncate(6901659091095025664e0,2), round(123456789012345678e0,2), round(1e22,2), round(-1e-7,5);
select std(x) from (select 9223372036854775807 x union all select 1 union all select -9223372036854775807) q;
select format(-0.001e0,2), format(6901659091095025664e0,2);
create table d2(a double(10,2));
insert into d2 select 0 from seq_1_to_999;
insert into d2 values(-0.01);
select avg(a), sum(a)/1000 from d2;
select -a, count(*) from d2 group by -a order by 1;
