-- GET DIAGNOSTICS: the origin of conditions, and conditions that do not exist.

create table t(id int primary key, v varchar(5));

insert into t values(5,"a");

select * from nosuch;

get diagnostics condition 1 @a=class_origin,@b=subclass_origin,@c=constraint_catalog,@d=constraint_schema,@e=constraint_name,@f=catalog_name,@g=schema_name,@h=table_name,@i=column_name,@j=cursor_name;

select @a,@b,@c,@d,@e,@f,@g,@h,@i,@j;

insert into t values(5,'x'),(5,'y');

get diagnostics condition 1 @a=class_origin,@b=subclass_origin,@c=constraint_catalog,@d=constraint_schema,@e=constraint_name,@f=catalog_name,@g=schema_name,@h=table_name,@i=column_name,@j=cursor_name;

select @a,@b,@c,@d,@e,@f,@g,@h,@i,@j;

signal sqlstate '45000';

get diagnostics condition 1 @a=class_origin,@b=subclass_origin;

select @a,@b;

signal sqlstate '01000';

get diagnostics condition 1 @a=class_origin,@b=subclass_origin;

select @a,@b;

signal sqlstate '45000' set class_origin='me';

get diagnostics condition 1 @a=class_origin;

select @a;

select cast('x' as signed);

get diagnostics condition 1 @a=class_origin,@b=subclass_origin, @s=returned_sqlstate;

select @a,@b,@s;

selec;

get diagnostics condition 1 @a=class_origin,@s=returned_sqlstate,@m=message_text;

select @a,@s,@m;

get diagnostics condition 5 @a=class_origin;

get diagnostics @n=number, @r=row_count;

select @n,@r;

get current diagnostics condition 1 @m=message_text;

select @m;

