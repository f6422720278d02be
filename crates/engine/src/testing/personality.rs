//! The personality of tables in tests without a server: that of an engine with transactions.
//!
//! Tests of the planner, the executor and the memory engine use it.

use crate::{KeyLimits, Personality, RowHabits, StatementLimits};

/// An engine with transactions and clustered rows, under InnoDB's name.
pub static TRANSACTIONAL: Personality = Personality {
    name: "InnoDB",
    transactional: true,
    keys: KeyLimits { clustered: true, shows_block_size: false, ..KeyLimits::NONE },
    statements: StatementLimits {
        handler: true,
        foreign_keys: true,
        in_place: true,
        partitions: true,
        ..StatementLimits::NONE
    },
    rows: RowHabits { spares_equal: true, ..RowHabits::NONE },
    ..Personality::NONE
};
