//! The transactional engine: files, log, buffer pool, B+tree, transactions, recovery
