//! The InnoDB engine as statements see it.
//!
//! Compat: as MariaDB's engine of that name.

use selkie_engine::{
    FullText, KeptStatistics, KeyLimits, Maintenance, Optimizes, OptionValues, OwnOption,
    Personality, RowFormats, RowHabits, Shown, StatementLimits,
};

/// Properties of this engine's tables.
pub(super) static PERSONALITY: Personality = Personality {
    name: "InnoDB",
    comment: "Supports transactions, row-level locking, foreign keys and encryption for tables",
    transactional: true,
    keys: KeyLimits {
        reserved: Some("GEN_CLUST_INDEX"),
        clustered: true,
        shows_block_size: false,
        fulltext: FullText::Strict,
        ..KeyLimits::NONE
    },
    statements: StatementLimits {
        handler: true,
        foreign_keys: true,
        in_place: true,
        partitions: true,
        ..StatementLimits::NONE
    },
    rows: RowHabits { spares_equal: true, ..RowHabits::NONE },
    maintenance: Maintenance {
        optimizes: Optimizes::ByCopy,
        kept: Some(&KEPT_STATISTICS),
        ..Maintenance::NONE
    },
    shown: Shown {
        row_formats: RowFormats::Dynamic,
        tree_overhead: TREE_OVERHEAD,
        transactional: true,
        options: &[
            OwnOption { name: "PAGE_COMPRESSED", values: OptionValues::Boolean },
            OwnOption { name: "PAGE_COMPRESSION_LEVEL", values: OptionValues::Number(0, 9) },
            OwnOption { name: "ENCRYPTED", values: OptionValues::Word(&["DEFAULT", "YES", "NO"]) },
            OwnOption { name: "ENCRYPTION_KEY_ID", values: OptionValues::Number(1, 0xffff_ffff) },
        ],
        ..Shown::NONE
    },
    ..Personality::NONE
};

/// The tables with statistics of this engine.
static KEPT_STATISTICS: KeptStatistics = KeptStatistics {
    tables: "innodb_table_stats",
    indexes: "innodb_index_stats",
    row_index: "GEN_CLUST_INDEX",
    row_number: "DB_ROW_ID",
    page_bytes: 16_384,
};

/// Bytes of a table's file besides its tree; other engines keep these in a file of all tables.
const TREE_OVERHEAD: u64 = 2 * 16_384;
