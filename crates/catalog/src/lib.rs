//! Schemas, tables, users, statistics and information_schema
