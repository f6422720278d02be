//! The options of opening a database. Settings that can change at runtime are methods of the parts
//! they belong to.

/// Sizes and switches of the storage layer.
#[derive(Clone, Debug)]
pub(crate) struct StorageOptions {
    /// Bytes of buffer pool: `innodb_buffer_pool_size`.
    pub(crate) pool_bytes: usize,
    /// Bytes of log buffer: `innodb_log_buffer_size`. A mini-transaction may use a quarter of it.
    pub(crate) log_buffer_bytes: usize,
    /// Bytes per log segment. Fixed when the database is created.
    pub(crate) segment_bytes: u64,
    /// Bound on the log to read after a crash; writers are slowed down before it is reached:
    /// `innodb_log_file_size`.
    pub(crate) log_budget_bytes: u64,
    /// Whether torn pages can be repaired: `innodb_doublewrite`. Off only on devices that write 16
    /// KiB atomically.
    pub(crate) doublewrite: bool,
    /// Whether threads flush, evict and checkpoint on their own. If not, the caller's thread does
    /// it when needed, so that runs with the same seed are equal.
    pub(crate) background: bool,
    /// `innodb_force_recovery`, see `docs/durability.md`; 0 is off.
    pub(crate) force_recovery: u8,
}

impl Default for StorageOptions {
    fn default() -> StorageOptions {
        StorageOptions {
            pool_bytes: 128 << 20,
            log_buffer_bytes: 16 << 20,
            segment_bytes: 64 << 20,
            log_budget_bytes: 1 << 30,
            doublewrite: true,
            background: true,
            force_recovery: 0,
        }
    }
}
