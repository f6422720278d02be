# A pattern of instruments that is the name of a consumer.
select name, enabled from performance_schema.setup_consumers where name in ('statements_digest', 'events_statements_history_long');
