//! The MEMORY engine as statements see it.
//!
//! Compat: as MariaDB's engine of that name.

use selkie_engine::{
    ColumnLimits, DistinctKeys, KeyLimits, Maintenance, Personality, RowFormats, RowHabits, Shown,
    StatementLimits,
};

/// Properties of this engine's tables.
pub(crate) static PERSONALITY: Personality = Personality {
    name: "MEMORY",
    aliases: &["HEAP"],
    comment: "Hash based, stored in memory, useful for temporary tables",
    columns: ColumnLimits { generated: false, blobs: false, ..ColumnLimits::NONE },
    keys: KeyLimits { hashed: false, unordered: true, can_be_disabled: true, ..KeyLimits::NONE },
    statements: StatementLimits {
        handler: true,
        delayed: true,
        partitions: true,
        ..StatementLimits::NONE
    },
    rows: RowHabits {
        counted: true,
        insertion_order: true,
        snapshots: false,
        distinct: DistinctKeys::Guessed,
        ..RowHabits::NONE
    },
    maintenance: Maintenance { checks: false, analyzes: false, ..Maintenance::NONE },
    shown: Shown { row_formats: RowFormats::Fixed, ..Shown::NONE },
    ..Personality::NONE
};
