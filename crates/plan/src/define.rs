//! From CREATE TABLE and ALTER TABLE to definitions.
//!
//! A pure function of the statement, the existing definitions and the session's settings, like the
//! rest of this crate: nothing is created here. Silent decisions of MariaDB (lengths, key names,
//! the order of keys) are made here in the same way. A definition that MariaDB rejects is rejected
//! with the same error.

mod algorithm;
mod alter;
pub(crate) mod charset;
mod columns;
mod constant;
mod create;
mod engine;
mod expressions;
mod forbidden;
mod foreign;
mod fulltext;
mod indexes;
mod instant;
mod mode_dependence;
mod options;
mod partition;
mod period;
mod qualify;
mod record;
mod system_time;
mod types;
mod view;

pub use alter::{AddedIndexes, AlterPlan, ColumnSource, define_alter};
pub use charset::{SchemaCharset, schema_options};
pub use create::{
    NewTable, define_like, define_selected, define_sequence, define_table, selected_column,
};

pub use partition::{
    Converted, PartitionChange, check_exchange, define_convert_in, define_convert_out,
    define_partition_change, is_partition_change,
};

pub use expressions::check_column_parts;
pub(crate) use types::column_type;
pub use types::{column_of_variable, variable_type};
pub use view::{ViewColumn, ViewSession, check_view_query, define_view};

pub(crate) use qualify::Qualifier;

use selkie_catalog::Namespace;
use selkie_engine::{Personality, TextRules};
use selkie_expr::EvalContext;
use selkie_sql::ast::AlterAlgorithm;
use selkie_types::{CollationId, Condition, SqlMode};

use crate::settings::Environment;

/// Inputs of a definition besides the statement.
pub struct DefineContext<'a> {
    /// Existing definitions.
    pub names: Namespace<'a>,
    /// Context to evaluate default values; its warnings are those of the statement.
    pub eval: &'a EvalContext<'a>,
    /// `enforce_storage_engine`, if set.
    pub enforced_engine: Option<&'a str>,
    /// `default_storage_engine`.
    pub default_engine: &'a str,
    /// Available engines.
    pub engines: &'a [&'static Personality],
    /// The current schema.
    pub schema: Option<&'a str>,
    /// The text of the statement.
    pub text: &'a [u8],
    /// Current time in seconds since 1970.
    pub now_seconds: u64,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// Adds a condition that is listed after the error with which the definition fails.
    pub after_error: &'a dyn Fn(Condition),
    /// Variables that expressions may read.
    pub environment: &'a dyn Environment,
    /// `alter_algorithm`.
    pub alter_algorithm: AlterAlgorithm,
    /// `system_versioning_alter_history` is KEEP.
    pub keeps_history: bool,
    /// Stopwords of new FULLTEXT indexes.
    pub stopwords: StopwordSettings,
}

/// Stopwords that a new FULLTEXT index gets.
#[derive(Clone, Debug, Default)]
pub struct StopwordSettings {
    /// `innodb_ft_enable_stopword`.
    pub enabled: bool,
    /// `innodb_ft_user_stopword_table`, else `innodb_ft_server_stopword_table`, if one is set.
    pub table: Option<Box<str>>,
    /// The rules of an index of an engine with the strict dialect.
    pub strict: TextRules,
    /// The rules of an index of one with the lenient dialect.
    pub lenient: TextRules,
}

impl DefineContext<'_> {
    fn sql_mode(&self) -> SqlMode {
        self.eval.types.sql_mode
    }

    /// The engine that `ENGINE=name` refers to.
    fn engine(&self, name: &str) -> Option<&'static Personality> {
        self.engines.iter().find(|engine| engine.is_called(name)).copied()
    }

    fn is_strict(&self) -> bool {
        self.sql_mode().is_strict()
    }

    /// Default collation of new tables of a schema.
    fn schema_collation(&self, schema: &str) -> CollationId {
        self.names.schema(schema).map_or(CollationId::UTF8MB4_GENERAL_CI, |s| s.collation)
    }
}
