-- SHOW BINLOG EVENTS is empty without a binary log, for every file name.
show binlog events;
show binlog events limit 0,25;
show binlog events in 'file';
show binlog events in 'x' from 4 limit 3;
show relaylog events;
show relaylog events in 'y';
show binary logs;
