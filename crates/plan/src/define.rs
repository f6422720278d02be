//! From CREATE TABLE and ALTER TABLE to definitions.
//!
//! A pure function of the statement, the definitions that exist and the session's settings, as the
//! rest of this crate: nothing is created here. What MariaDB decides silently (lengths, key names,
//! the order of keys) is decided here in the same way; what it refuses is refused with its error.

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
mod indexes;
mod instant;
mod mode_dependence;
mod options;
mod qualify;
mod record;
mod types;
mod view;

pub use alter::{AlterPlan, ColumnSource, define_alter};
pub use charset::{SchemaCharset, schema_options};
pub use create::{
    NewTable, define_like, define_selected, define_sequence, define_table, selected_column,
};

pub(crate) use types::column_type;
pub use types::variable_type;
pub use view::{ViewColumn, ViewSession, check_view_query, define_view};

pub(crate) use qualify::Qualifier;

use selkie_catalog::Namespace;
use selkie_engine::Personality;
use selkie_expr::EvalContext;
use selkie_sql::ast::AlterAlgorithm;
use selkie_types::{CollationId, Condition, SqlMode};

use crate::settings::Environment;

/// What definitions depend on besides the statement.
pub struct DefineContext<'a> {
    /// What exists.
    pub names: Namespace<'a>,
    /// For evaluating default values; its warnings are the statement's.
    pub eval: &'a EvalContext<'a>,
    /// `enforce_storage_engine`, if set.
    pub enforced_engine: Option<&'a str>,
    /// `default_storage_engine`.
    pub default_engine: &'a str,
    /// The engines there are.
    pub engines: &'a [&'static Personality],
    /// The current schema.
    pub schema: Option<&'a str>,
    /// The text of the statement.
    pub text: &'a [u8],
    /// Seconds since 1970.
    pub now_seconds: u64,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// Keeps a condition to be listed after the error the definition fails with.
    pub after_error: &'a dyn Fn(Condition),
    /// Variables that expressions may read.
    pub environment: &'a dyn Environment,
    /// `alter_algorithm`.
    pub alter_algorithm: AlterAlgorithm,
}

impl DefineContext<'_> {
    fn sql_mode(&self) -> SqlMode {
        self.eval.types.sql_mode
    }

    /// The engine that `ENGINE=name` means.
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
