//! The executor: operators over column batches, DML, DDL
