SET GLOBAL max_connect_errors = 101, net_read_timeout = 31;
SELECT @@global.max_connect_errors, @@global.net_read_timeout, @@session.net_read_timeout;
SET GLOBAL max_connect_errors = 102, @a = 3, net_write_timeout = 61, SESSION net_read_timeout = 32, net_retry_count = 11;
SELECT @@global.max_connect_errors, @@global.net_write_timeout, @@session.net_read_timeout, @@session.net_retry_count, @@global.net_retry_count;
SET GLOBAL max_connect_errors = 103, @@max_connect_errors = 104;
SET SESSION net_read_timeout = 33, max_connect_errors = 104;
SET net_read_timeout = 33, max_connect_errors = 104;
SET GLOBAL max_connect_errors = DEFAULT, net_read_timeout = DEFAULT, net_write_timeout = DEFAULT;
SELECT @@global.max_connect_errors, @@global.net_read_timeout, @@global.net_write_timeout;
