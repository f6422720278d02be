//! The engines of a server by name: two real ones (transactional, memory), and MariaDB's other
//! engines.
//!
//! Compat: the other engines accept, refuse and report the same as MariaDB's engines of these
//! names, but store their rows in transactional storage.

use std::sync::Arc;

use selkie_catalog::{PERFORMANCE_ENGINE, SERIES_ENGINE};
use selkie_engine::{
    ColumnLimits, DistinctKeys, Engine, FullText, KeyLimits, Maintenance, NamedEngine, Optimizes,
    Personality, RowFormats, RowHabits, Shown, StatementLimits,
};
use selkie_exec::Engines;
use selkie_memory::MemoryEngine;

static MYISAM: Personality = Personality {
    name: "MyISAM",
    comment: "Non-transactional engine with good performance and small data footprint",
    keys: KeyLimits {
        bytes: 1000,
        counts_in_groups: true,
        can_be_disabled: true,
        fulltext: FullText::Lenient,
        ..KeyLimits::NONE
    },
    statements: StatementLimits {
        handler: true,
        delayed: true,
        partitions: true,
        ..StatementLimits::NONE
    },
    rows: RowHabits { counted: true, distinct: DistinctKeys::PerKey, ..RowHabits::NONE },
    maintenance: Maintenance { assigns_keys: true, ..FULL_MAINTENANCE },
    shown: Shown { row_formats: RowFormats::ByColumnsOrAsked, ..Shown::NONE },
    ..Personality::NONE
};

static ARIA: Personality = Personality {
    name: "Aria",
    aliases: &["Maria"],
    comment: "Crash-safe tables with MyISAM heritage. \
              Used for internal temporary tables and privilege tables",
    outlasts_rollback: true,
    keys: KeyLimits {
        bytes: 2300,
        hashed: false,
        counts_in_groups: true,
        can_be_disabled: true,
        fulltext: FullText::Lenient,
        ..KeyLimits::NONE
    },
    statements: StatementLimits { handler: true, partitions: true, ..StatementLimits::NONE },
    rows: RowHabits {
        counted: true,
        keeps_counter: true,
        distinct: DistinctKeys::PerKey,
        ..RowHabits::NONE
    },
    maintenance: FULL_MAINTENANCE,
    shown: Shown {
        row_formats: RowFormats::Pages,
        page_checksum: true,
        transactional: true,
        ..Shown::NONE
    },
    ..Personality::NONE
};

static CSV: Personality = Personality {
    name: "CSV",
    comment: "Stores tables as CSV files",
    columns: ColumnLimits {
        generated: false,
        auto_increment: false,
        nulls: false,
        ..ColumnLimits::NONE
    },
    keys: KeyLimits { count: 0, bytes: 0, hashed: false, ..KeyLimits::NONE },
    maintenance: Maintenance { analyzes: false, repairs: true, ..Maintenance::NONE },
    ..Personality::NONE
};

const FULL_MAINTENANCE: Maintenance = Maintenance {
    checks: true,
    analyzes: true,
    repairs: true,
    optimizes: Optimizes::Itself,
    remembers: true,
    keeps_checksum: true,
    assigns_keys: false,
    preloads_keys: true,
    kept: None,
};

/// All engines, based on the transactional one and the one in memory.
pub(super) fn engines(native: &Arc<dyn Engine>) -> Engines {
    let memory = MemoryEngine::new();
    let in_memory = memory.personality();
    let mut engines = Engines::default();
    engines.add(Arc::clone(native));
    engines.add(Arc::new(memory));
    for personality in [&MYISAM, &ARIA, &CSV] {
        engines.add(Arc::new(NamedEngine::new(personality, Arc::clone(native))));
    }
    // Compat: the order of SHOW ENGINES in MariaDB.
    engines.show([
        &CSV,
        in_memory,
        &ARIA,
        &MYISAM,
        &SERIES_ENGINE,
        native.personality(),
        &PERFORMANCE_ENGINE,
    ]);
    engines
}
