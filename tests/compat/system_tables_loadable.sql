-- FLUSH PRIVILEGES, INSTALL and UNINSTALL need tables of mysql with a primary key and enough columns.

rename table mysql.servers to mysql.servers_kept;

flush privileges;

create table mysql.servers like mysql.servers_kept;

flush privileges;

alter table mysql.servers drop column Owner;

flush privileges;

create server s foreign data wrapper mysql options (host 'h');

drop table mysql.servers;

create table mysql.servers like mysql.servers_kept;

alter table mysql.servers drop primary key;

flush privileges;

create server s foreign data wrapper mysql options (host 'h');

drop table mysql.servers;

create table mysql.servers like mysql.servers_kept;

alter table mysql.servers add column Options text;

create server s foreign data wrapper mysql options (host 'h', port 3307);

select * from mysql.servers;

alter server s options (user 'u');

select Server_name, Username, Options from mysql.servers;

flush privileges;

drop server s;

drop table mysql.servers;

create table mysql.servers like mysql.servers_kept;

alter table mysql.servers modify Host char(64) not null, modify Owner char(64) not null;

create server s foreign data wrapper mysql options (host 'h');

select * from mysql.servers;

flush privileges;

drop server s;

drop table mysql.servers;

rename table mysql.servers_kept to mysql.servers;

create table mysql.plugin_kept like mysql.plugin;

alter table mysql.plugin drop column dl;

install soname 'no_such_library';

uninstall soname 'no_such_library';

install plugin x soname 'y';

uninstall plugin x;

uninstall plugin if exists x;

drop table mysql.plugin;

create table mysql.plugin like mysql.plugin_kept;

alter table mysql.plugin drop primary key;

install soname 'no_such_library';

uninstall plugin x;

drop table mysql.plugin;

uninstall plugin x;

rename table mysql.plugin_kept to mysql.plugin;

uninstall plugin x;
