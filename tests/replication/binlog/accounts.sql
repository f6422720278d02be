create user x1@h, x2@h; grant select on *.* to x1@h; create role q; grant q to x1@h; set default role q for x1@h; set password for x2@h = password('p'); revoke select on *.* from x1@h; drop role q; flush privileges;
create user if not exists x1@h, x2@h; drop user x1@h, nope@h; rename user x2@h to x3@h, nope@h to y@h; create user x3@h, x9@h; drop user x3@h, x9@h;
