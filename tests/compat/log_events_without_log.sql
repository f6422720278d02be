-- Without a binary log there are no events, of whatever file.
show binlog events;
show binlog events limit 0,25;
show binlog events in 'file';
show binlog events in 'x' from 4 limit 3;
show relaylog events;
show relaylog events in 'y';
show binary logs;
