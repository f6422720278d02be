//! What tests without a server take tables for: those of an engine with transactions.

use crate::{KeyLimits, Personality, RowHabits, StatementLimits};

/// The engine that has transactions and clustered rows, under the name it is shown with.
pub static TRANSACTIONAL: Personality = Personality {
    name: "InnoDB",
    transactional: true,
    keys: KeyLimits { clustered: true, shows_block_size: false, ..KeyLimits::NONE },
    statements: StatementLimits {
        handler: true,
        foreign_keys: true,
        in_place: true,
        ..StatementLimits::NONE
    },
    rows: RowHabits { spares_equal: true, ..RowHabits::NONE },
    ..Personality::NONE
};
