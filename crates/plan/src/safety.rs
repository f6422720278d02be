//! Reasons for which a statement may do something else where its text is repeated.
//!
//! A pure function of the plan. Must not decide what is logged: the session's settings and its
//! transaction count too.

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_engine::{IndexDef, IndexKind};
use selkie_types::error::catalogue::*;

use crate::physical::{Insert, InsertMode, Operator, Plan, PlanNode};

/// Things that a statement uses beside literals and rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses(u16);

/// The things that a statement uses, and its stored functions by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The things.
    pub things: Uses,
    /// Stored functions that the statement calls: schema and name.
    pub functions: Vec<(Box<str>, Box<str>)>,
}

impl Used {
    /// Whether all of `other` is used.
    pub fn has(&self, other: Uses) -> bool {
        self.things.has(other)
    }

    /// Adds what `other` uses.
    pub fn add(&mut self, other: Uses) {
        self.things.add(other);
    }

    /// Adds a stored function.
    pub(crate) fn call(&mut self, schema: &str, name: &str) {
        self.add(Uses::STORED_FUNCTION);
        if !self.functions.iter().any(|(s, n)| **s == *schema && **n == *name) {
            self.functions.push((schema.into(), name.into()));
        }
    }
}

impl Uses {
    /// A stored function.
    pub const STORED_FUNCTION: Self = Self(1);
    /// A function whose value another server cannot know.
    pub const SYSTEM_FUNCTION: Self = Self(1 << 1);
    /// A variable whose value another server cannot know.
    pub const SYSTEM_VARIABLE: Self = Self(1 << 2);
    /// LIMIT.
    pub const LIMIT: Self = Self(1 << 3);
    /// SKIP LOCKED.
    pub const SKIP_LOCKED: Self = Self(1 << 4);
    /// `RAND()`, whose values follow from the seeds if rows are visited in one order.
    pub const RANDOM: Self = Self(1 << 5);
    /// The value of `LAST_INSERT_ID()`.
    pub const LAST_INSERT_ID: Self = Self(1 << 6);
    /// Something whose value passes with the statement, or an effect: another execution may have
    /// another result though no row has changed.
    pub const PASSING: Self = Self(1 << 10);
    /// SQL_CACHE, in the query or in a view.
    pub const KEPT: Self = Self(1 << 11);
    /// `@name := value`, whose values depend on the order of rows.
    pub const ASSIGNMENT: Self = Self(1 << 7);
    /// `ROWNUM()`, whose values depend on the order of rows.
    pub const ROW_NUMBER: Self = Self(1 << 8);
    /// The value that a parameter or variable had at planning: the type of the result follows from
    /// it, so the plan is valid for this execution only.
    pub const VALUE_AT_PLANNING: Self = Self(1 << 12);
    /// `IS NULL` that is true for the last AUTO_INCREMENT value.
    pub const AUTO_IS_NULL: Self = Self(1 << 9);

    /// Whether all of `other` is used.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Adds what `other` uses.
    pub fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Uses of a call of a built-in function. `name` may have letters of any case.
    pub fn of_function(name: &str, arguments: usize) -> Self {
        let name = name.to_ascii_uppercase();
        let passing = match is_passing(&name, arguments) {
            true => Self::PASSING,
            false => Self::default(),
        };
        let logged = match &*name {
            "LOAD_FILE" | "UUID" | "UUID_SHORT" | "SYS_GUID" | "RANDOM_BYTES" | "USER"
            | "SESSION_USER" | "SYSTEM_USER" | "CURRENT_USER" | "CURRENT_ROLE" | "FOUND_ROWS"
            | "ROW_COUNT" | "SYSDATE" | "SLEEP" | "GET_LOCK" | "RELEASE_LOCK"
            | "RELEASE_ALL_LOCKS" | "IS_FREE_LOCK" | "IS_USED_LOCK" | "MASTER_POS_WAIT"
            | "MASTER_GTID_WAIT" | "VERSION" => Self::SYSTEM_FUNCTION,
            "RAND" if arguments == 0 => Self(Self::SYSTEM_FUNCTION.0 | Self::RANDOM.0),
            "RAND" => Self::SYSTEM_FUNCTION,
            "LAST_INSERT_ID" if arguments == 0 => Self::LAST_INSERT_ID,
            _ => Self::default(),
        };
        Self(logged.0 | passing.0)
    }

    /// Uses that come with SQL_CACHE (true) or SQL_NO_CACHE (false).
    pub(crate) fn of_cache_word(word: Option<bool>) -> Self {
        match word {
            Some(true) => Self::KEPT,
            Some(false) => Self::PASSING,
            None => Self::default(),
        }
    }

    /// Uses that come with a system variable. `name` has small letters.
    pub fn of_variable(name: &str, is_global: bool) -> Self {
        let logged = match name {
            _ if is_global => Self::SYSTEM_VARIABLE,
            "last_insert_id" | "identity" => Self::LAST_INSERT_ID,
            name if LOGGED_VARIABLES.contains(&name) => Self::default(),
            _ => Self::SYSTEM_VARIABLE,
        };
        Self(logged.0 | Self::PASSING.0)
    }
}

/// Whether a function has an effect, or a value that passes with the statement.
fn is_passing(name: &str, arguments: usize) -> bool {
    match name {
        "ENCRYPT" => arguments == 1,
        "UNIX_TIMESTAMP" => arguments == 0,
        "VERSION" | "FROM_UNIXTIME" | "CONVERT_TZ" | "EXTRACTVALUE" | "UPDATEXML"
        | "COLUMN_JSON" => false,
        "DATABASE" | "SCHEMA" | "DES_ENCRYPT" | "ROWNUM" => true,
        name => selkie_expr::function_named(name).is_some_and(|f| !f.is_pure()),
    }
}

/// Variables of the session that the log has the values of. Compat: `sql_mode` is not one of them
/// here, although the log has it.
const LOGGED_VARIABLES: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_server",
    "check_constraint_checks",
    "collation_connection",
    "collation_database",
    "collation_server",
    "explicit_defaults_for_timestamp",
    "foreign_key_checks",
    "lc_time_names",
    "pseudo_thread_id",
    "sql_auto_is_null",
    "time_zone",
    "timestamp",
    "unique_checks",
];

/// A reason, as a note tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// LIMIT.
    Limit,
    /// A table with what the server says of its own work.
    SystemTable,
    /// A trigger or function that generates values of an AUTO_INCREMENT column.
    AutoIncrementInside,
    /// A variable whose value another server cannot know.
    SystemVariable,
    /// A function whose value another server cannot know.
    SystemFunction,
    /// A table without rollback after a table with it.
    ImmediateAfterTransactional,
    /// Tables with and without rollback.
    Mixed,
    /// INSERT IGNORE ... SELECT.
    InsertIgnoreSelect,
    /// INSERT ... SELECT ... ON DUPLICATE KEY UPDATE.
    InsertSelectUpdate,
    /// Generated AUTO_INCREMENT values in the order of rows that another table gives.
    AutoIncrementSelect,
    /// REPLACE ... SELECT.
    ReplaceSelect,
    /// UPDATE IGNORE.
    UpdateIgnore,
    /// ON DUPLICATE KEY UPDATE of a table with two unique keys.
    TwoKeys,
    /// An AUTO_INCREMENT column behind others in its key.
    AutoIncrementNotFirst,
    /// SKIP LOCKED.
    SkipLocked,
}

impl Reason {
    /// All reasons, in the order in which they are told.
    const ALL: [Self; 15] = [
        Self::Limit,
        Self::SystemTable,
        Self::AutoIncrementInside,
        Self::SystemVariable,
        Self::SystemFunction,
        Self::ImmediateAfterTransactional,
        Self::Mixed,
        Self::InsertIgnoreSelect,
        Self::InsertSelectUpdate,
        Self::AutoIncrementSelect,
        Self::ReplaceSelect,
        Self::UpdateIgnore,
        Self::TwoKeys,
        Self::AutoIncrementNotFirst,
        Self::SkipLocked,
    ];

    /// The message that explains it.
    pub fn message(self) -> &'static ErrorDef {
        match self {
            Self::Limit => &ER_BINLOG_UNSAFE_LIMIT,
            Self::SystemTable => &ER_BINLOG_UNSAFE_SYSTEM_TABLE,
            Self::AutoIncrementInside => &ER_BINLOG_UNSAFE_AUTOINC_COLUMNS,
            Self::SystemVariable => &ER_BINLOG_UNSAFE_SYSTEM_VARIABLE,
            Self::SystemFunction => &ER_BINLOG_UNSAFE_SYSTEM_FUNCTION,
            Self::ImmediateAfterTransactional => &ER_BINLOG_UNSAFE_NONTRANS_AFTER_TRANS,
            Self::Mixed => &ER_BINLOG_UNSAFE_MIXED_STATEMENT,
            Self::InsertIgnoreSelect => &ER_BINLOG_UNSAFE_INSERT_IGNORE_SELECT,
            Self::InsertSelectUpdate => &ER_BINLOG_UNSAFE_INSERT_SELECT_UPDATE,
            Self::AutoIncrementSelect => &ER_BINLOG_UNSAFE_WRITE_AUTOINC_SELECT,
            Self::ReplaceSelect => &ER_BINLOG_UNSAFE_REPLACE_SELECT,
            Self::UpdateIgnore => &ER_BINLOG_UNSAFE_UPDATE_IGNORE,
            Self::TwoKeys => &ER_BINLOG_UNSAFE_INSERT_TWO_KEYS,
            Self::AutoIncrementNotFirst => &ER_BINLOG_UNSAFE_AUTOINC_NOT_FIRST,
            Self::SkipLocked => &ER_BINLOG_UNSAFE_SKIP_LOCKED,
        }
    }
}

/// A set of reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons(u16);

impl Reasons {
    /// Adds a reason.
    pub fn add(&mut self, reason: Reason) {
        self.0 |= 1 << reason as u16;
    }

    /// Adds the reasons of another set.
    pub fn add_all(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The reasons in the order in which they are told.
    pub fn iter(self) -> impl Iterator<Item = Reason> {
        Reason::ALL.into_iter().filter(move |reason| self.0 & 1 << *reason as u16 != 0)
    }

    fn of_uses(uses: Uses) -> Self {
        let of = [
            (Uses::LIMIT, Reason::Limit),
            (Uses::SYSTEM_VARIABLE, Reason::SystemVariable),
            (Uses::SYSTEM_FUNCTION, Reason::SystemFunction),
            (Uses::SKIP_LOCKED, Reason::SkipLocked),
        ];
        let mut found = Self::default();
        of.iter().filter(|(used, _)| uses.has(*used)).for_each(|(_, reason)| found.add(*reason));
        found
    }
}

/// The reasons for which the text of a statement with this plan is unsafe to repeat.
pub fn reasons(plan: &Plan) -> Reasons {
    let mut found = Reasons::of_uses(plan.uses.things);
    if plan.tables.iter().any(|table| is_log_of_server(table)) {
        found.add(Reason::SystemTable);
    }
    match &plan.root.operator {
        Operator::Insert(insert) => {
            let has_duplicates = insert.on_duplicate.is_some();
            let is_generated = insert.table.def.auto_increment.is_some();
            if insert.is_query {
                match insert.mode {
                    InsertMode::Ignore => found.add(Reason::InsertIgnoreSelect),
                    InsertMode::Replace => found.add(Reason::ReplaceSelect),
                    InsertMode::Insert => {}
                }
                if has_duplicates {
                    found.add(Reason::InsertSelectUpdate);
                }
            }
            if is_generated && (reads_others(plan, insert) || reads_tables(&insert.source)) {
                found.add(Reason::AutoIncrementSelect);
            }
            if has_duplicates && !insert.is_query && unique_keys(&insert.table) > 1 {
                found.add(Reason::TwoKeys);
            }
            if is_generated && !leads_a_key(&insert.table) {
                found.add(Reason::AutoIncrementNotFirst);
            }
        }
        Operator::Update(update) if update.ignore => found.add(Reason::UpdateIgnore),
        _ => {}
    }
    found
}

/// Whether an INSERT names another table than the one that gets the rows.
fn reads_others(plan: &Plan, insert: &Insert) -> bool {
    let is_target = |table: &Arc<TableInfo>| {
        table.def.id == insert.table.def.id || matches!(table.kind, TableKind::View(_))
    };
    !plan.tables.iter().all(is_target)
}

/// Whether rows come from any table.
fn reads_tables(source: &PlanNode) -> bool {
    let mut found = false;
    source.visit(&mut |node| {
        let makes_rows = matches!(
            node.operator,
            Operator::Values(_)
                | Operator::OneRow
                | Operator::Empty
                | Operator::Project { .. }
                | Operator::Filter { .. }
        );
        found |= !makes_rows;
    });
    found
}

/// Whether a statement needs its rows logged though no reason is told: the order in which it visits
/// rows decides what it assigns to a variable, or it reads what another server has not.
pub fn is_doubtful(plan: &Plan) -> bool {
    depends_on_order(plan) || plan.tables.iter().any(|table| is_of_server(table))
}

fn depends_on_order(plan: &Plan) -> bool {
    let visits = match &plan.root.operator {
        Operator::Insert(insert) => insert.is_query || insert.on_duplicate.is_some(),
        _ => true,
    };
    visits && (plan.uses.has(Uses::ASSIGNMENT) || plan.uses.has(Uses::ROW_NUMBER))
}

/// Whether a table is the server's own: another server has other rows in it.
fn is_of_server(table: &TableInfo) -> bool {
    let is_system = matches!(table.kind, TableKind::System) && !table.is_series();
    is_system || table.schema().eq_ignore_ascii_case("mysql")
}

/// Whether a table has what the server says of its own work.
fn is_log_of_server(table: &TableInfo) -> bool {
    let is_log = || matches!(table.name(), "general_log" | "slow_log");
    match table.schema() {
        "performance_schema" => true,
        "mysql" => is_log(),
        _ => false,
    }
}

fn unique_keys(table: &TableInfo) -> usize {
    let is_unique = |index: &&IndexDef| index.kind != IndexKind::Plain;
    table.def.indexes.iter().filter(is_unique).count()
}

/// Whether a key of the table begins with its AUTO_INCREMENT column.
fn leads_a_key(table: &TableInfo) -> bool {
    let Some(column) = table.def.auto_increment else { return true };
    let begins = |index: &IndexDef| index.parts.first().is_some_and(|p| p.column == column);
    table.def.indexes.iter().any(begins)
}
