//! From the syntax tree to the logical plan: resolves names, infers types, inserts conversions.
//!
//! A statement is bound block by block. A [`scope::Scope`] holds the names that are visible in a
//! block. Scopes nest: a name found in an outer scope makes the block correlated, without extra
//! steps, because column numbers are unique in the statement.

mod access;
mod aggregate;
mod alias;
mod auto_is_null;
mod call;
mod common;
mod converted;
mod delete;
mod expr;
mod from;
mod fulltext;
mod given;
mod group;
mod handler;
mod having;
mod insert;
mod insert_query;
mod insert_target;
mod json_table;
mod literal;
mod output;
mod portion;
mod query;
mod read_again;
mod recursion;
mod recursion_rules;
mod resolved;
mod row_number;
mod scope;
mod select;
mod sequence;
mod shown;
mod subquery;
mod syntax;
mod system_time;
mod table;
mod unusable;
mod update;
mod view;
mod window;
mod window_spec;

use std::sync::Arc;

use selkie_catalog::{Namespace, TableInfo, TableKind};
use selkie_engine::{LockMode, LockWait, TableId};
use selkie_expr::{Expr, TypeContext};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{CollationId, Condition, Privileges, SqlError, SqlResult};

use access::{Guard, Wanted};
pub use auto_is_null::AUTO_IS_NULL_VALUE;
pub(crate) use common::Common;
pub use converted::{Converted, Warnings};
pub(crate) use delete::BoundDelete;
pub(crate) use from::changes_by_row;
pub use handler::{HandlerRead, HandlerSyntax};
pub(crate) use insert::BoundInsert;
pub(crate) use insert_target::BoundView;
pub(crate) use literal::{string_expr, temporal_literal};
pub(crate) use output::{Known, Named};
pub(crate) use portion::BoundPortion;
pub(crate) use recursion_rules::is_built_in_aggregate;
pub(crate) use select::position_of;
pub(crate) use update::{BoundTarget, BoundUpdate};
pub(crate) use view::{Meaning, resolve};

use crate::logical::{ColumnId, Columns, Logical, RelationId, SubqueryState};
use crate::safety::Used;
use crate::settings::{Environment, Listed, Settings};
use scope::Scope;

pub(crate) use scope::Clause;

/// A bound query: its plan and its visible columns.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Source of its rows.
    pub plan: Logical,
    /// Visible columns in order.
    pub columns: Vec<Named>,
}

impl Query {
    /// Numbers of its columns.
    pub(crate) fn ids(&self) -> Vec<ColumnId> {
        self.columns.iter().map(|c| c.id).collect()
    }
}

/// Sources for name lookup, beside the settings.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    /// Tables and views.
    pub tables: Namespace<'a>,
    /// Variables and stored functions.
    pub environment: &'a dyn Environment,
    /// Text of the statement; result columns without an alias are named by it.
    pub text: &'a [u8],
}

/// The text that the expression being bound comes from.
#[derive(Clone, Copy, Default)]
struct KeptText {
    /// Whether it is a stored one, in which a backslash escapes in every mode.
    is_stored: bool,
    /// Collation of its string literals, if not the connection's: that of a view or of PREPARE.
    collation: Option<CollationId>,
}

/// Binds one statement.
pub(crate) struct Binder<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) settings: &'a Settings<'a>,
    pub(crate) types: &'a TypeContext,
    pub(crate) columns: Columns,
    pub(crate) subqueries: Vec<SubqueryState>,
    pub(crate) common: Vec<Common>,
    pub(crate) slots: usize,
    pub(crate) parameters: usize,
    /// Tables and views on which the statement depends.
    pub(crate) tables: Vec<Arc<TableInfo>>,
    /// Sequences from which the statement takes numbers.
    pub(crate) takes_numbers: Vec<Arc<TableInfo>>,
    /// Things that the statement uses beside literals and rows.
    pub(crate) uses: Used,
    /// Columns whose defaults are currently bound, outermost first.
    pub(crate) defaulted: Vec<Box<str>>,
    /// Table instances with columns that the account may not use, or not in every way.
    guards: Vec<(RelationId, Arc<Guard>)>,
    scopes: Vec<Scope>,
    /// Visible common tables, innermost last: name and number.
    visible: Vec<(Box<str>, usize)>,
    /// Views that are currently expanded: schema and name.
    views: Vec<(Box<str>, Box<str>)>,
    /// Expanded views, kept if the statement may change rows through them.
    kept_views: Option<Vec<view::KeptView>>,
    /// Schema for unqualified names inside a view; `None` means the session's.
    schema: Option<Box<str>>,
    /// Texts that spans refer to, if not the statement's: those of the views being expanded.
    text: Vec<Vec<u8>>,
    /// User variables to which the expression being bound is assigned.
    assigning: Vec<Box<str>>,
    /// Collations of the user variables that the statement has assigned so far.
    pub(crate) assigned: Vec<(Box<str>, CollationId)>,
    /// Variables that the statement reads, each user variable once.
    pub(crate) variables: crate::physical::Variables,
    /// Locks and versions of the rows that are read.
    pub(crate) reading: Reading,
    /// Whether the statement has IGNORE.
    ignore: bool,
    /// Whether the statement may give the bounds of a row's system time.
    gives_bounds: bool,
    /// For `DEFAULT(column)` in a definition: the table being defined and the number of its first
    /// column.
    row_table: Option<(Arc<TableInfo>, ColumnId)>,
    kept_text: KeptText,
    /// Number of derived tables and views currently bound in a multi-table UPDATE; else `None`.
    derived_in_update: Option<usize>,
    /// In a multi-table DELETE, the tables read besides its targets; else `None`.
    read_again: Option<read_again::ReadAgain>,
    inserted: insert_target::InsertedRows,
    /// The query whose rows are inserted.
    inserted_query: Option<insert_query::Watched>,
    /// Number of blocks around the left operand of IN, ANY or ALL that is being bound.
    operand_in: Option<usize>,
    /// Error of an ON condition of the FROM being bound. Compat: those of USING come first.
    late_error: Option<SqlError>,
    pub(crate) warnings: Warnings,
    /// Whether the condition being bound selects the rows of a block.
    chooses_rows: bool,
    /// Notes about indexes that conditions cannot use, with their tables.
    unusable_keys: Vec<(Arc<TableInfo>, Condition)>,
    /// Account whose privileges are checked: the definer inside a view, else `None` for the
    /// session's.
    who: Option<Arc<str>>,
    /// Use of the tables being bound.
    wanted: Wanted,
    /// Use of the columns being bound.
    column_use: Privileges,
    /// Number of blocks with window functions.
    pub(crate) windowed_blocks: u64,
    /// Tables locked by LOCK TABLES that the statement names: id, position in the text, alias.
    used_locks: Vec<(TableId, ast::Span, Box<str>)>,
    /// LIMIT ROWS EXAMINED. It applies to the whole statement, wherever it is written.
    pub(crate) rows_examined: Option<Expr>,
}

/// Locks and versions of the rows that a statement reads.
#[derive(Default)]
pub(crate) struct Reading {
    /// Whether tables that are only read lock the rows they give.
    pub(crate) locks_all: bool,
    /// Row locks of the next SELECT, from its FOR UPDATE or LOCK IN SHARE MODE.
    locking: Option<(LockMode, LockWait)>,
    /// FOR SYSTEM_TIME of the view, derived or common table being bound.
    outer_time: Option<system_time::OuterTime>,
    /// Whether `system_versioning_asof` has an effect.
    pub(crate) as_of: bool,
    /// Whether the statement changes one table.
    changes_one: bool,
}

impl<'a> Binder<'a> {
    pub(crate) fn new(
        names: Names<'a>,
        settings: &'a Settings<'a>,
        types: &'a TypeContext,
        parameters: usize,
    ) -> Self {
        Self {
            names,
            settings,
            types,
            columns: Columns::default(),
            subqueries: Vec::new(),
            common: Vec::new(),
            slots: parameters,
            parameters,
            tables: Vec::new(),
            takes_numbers: Vec::new(),
            uses: Used::default(),
            defaulted: Vec::new(),
            guards: Vec::new(),
            scopes: Vec::new(),
            visible: Vec::new(),
            views: Vec::new(),
            kept_views: None,
            schema: None,
            text: Vec::new(),
            assigning: Vec::new(),
            assigned: Vec::new(),
            variables: Default::default(),
            reading: Reading { locks_all: settings.lock_reads, ..Reading::default() },
            ignore: false,
            gives_bounds: settings.variables.insert_history,
            row_table: None,
            kept_text: KeptText { is_stored: false, collation: settings.literals },
            derived_in_update: None,
            read_again: None,
            inserted: Default::default(),
            inserted_query: None,
            operand_in: None,
            late_error: None,
            warnings: Warnings::default(),
            chooses_rows: false,
            unusable_keys: Vec::new(),
            who: None,
            wanted: Wanted::all(Privileges::SELECT),
            column_use: Privileges::SELECT,
            windowed_blocks: 0,
            used_locks: Vec::new(),
            rows_examined: None,
        }
    }

    /// The text that spans refer to: the statement's, or that of the view being bound.
    fn source_text(&self) -> &[u8] {
        self.text.last().map_or(self.names.text, Vec::as_slice)
    }

    /// The text a span covers.
    fn span_text(&self, span: ast::Span) -> String {
        String::from_utf8_lossy(span.text(self.source_text())).into_owned()
    }

    /// Schema of a table name; the default if the name has none.
    fn schema_of(&self, schema: Option<&ast::Ident>) -> SqlResult<Box<str>> {
        match (schema, &self.schema, self.settings.schema) {
            (Some(schema), ..) => Ok(self.folded(&schema.value)),
            (None, Some(schema), _) => Ok(schema.clone()),
            (None, None, Some(schema)) => Ok(schema.into()),
            (None, None, None) => Err(SqlError::new(&ER_NO_DB_ERROR, &[])),
        }
    }

    fn folded(&self, name: &str) -> Box<str> {
        if self.settings.variables.lower_case_names {
            name.to_lowercase().into()
        } else {
            name.into()
        }
    }

    /// The table or view that a name refers to.
    fn find_table(&mut self, name: &ast::TableName) -> SqlResult<Arc<TableInfo>> {
        let schema = self.schema_of(name.schema.as_ref())?;
        let table = self.folded(&name.name.value);
        self.check_table(&schema, &table)?;
        let Some(info) = self.names.tables.table(&schema, &table) else {
            // Compat: these tables exist even in a schema that does not exist.
            if selkie_catalog::Series::from_name(&table).is_some() {
                return Ok(selkie_catalog::Series::table(&schema, &table));
            }
            return Err(self.missing_table(&schema, &name.name.value));
        };
        self.depend(info.clone());
        Ok(info.clone())
    }

    /// Whether names are checked: those in views are not.
    fn is_listed(&self) -> bool {
        self.settings.listed != Listed::Any && self.views.is_empty()
    }

    /// Checks LOCK TABLES for a table that the statement itself names, under the name used there.
    pub(crate) fn check_locked(
        &self,
        table: &TableInfo,
        name: &str,
        written: bool,
    ) -> SqlResult<()> {
        match self.is_listed() {
            true => self.names.environment.check_locked(table, name, written),
            false => Ok(()),
        }
    }

    /// Checks LOCK TABLES for a table that the statement names at `span`. Compat: a table locked
    /// once can be used at one place of a statement.
    fn use_locked(
        &mut self,
        table: &TableInfo,
        name: &str,
        span: ast::Span,
        written: bool,
    ) -> SqlResult<()> {
        // Compat: a table that is used up is told before one that may only be read.
        self.check_locked(table, name, false)?;
        let is_once = self.settings.listed == Listed::Once && self.views.is_empty();
        if is_once && matches!(table.kind, TableKind::Base) {
            let (id, alias) = (table.def.id, self.folded(name));
            let is_same = |(of, at, other): &(TableId, ast::Span, Box<str>)| {
                *of == id && *at != span && *other == alias
            };
            if self.used_locks.iter().any(is_same) {
                return Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name]));
            }
            self.used_locks.push((id, span, alias));
        }
        self.check_locked(table, name, written)
    }

    fn missing_table(&self, schema: &str, table: &str) -> SqlError {
        if self.names.tables.schema(schema).is_none()
            && schema.eq_ignore_ascii_case("information_schema")
        {
            return SqlError::unknown_database(schema);
        }
        if schema.eq_ignore_ascii_case("information_schema") {
            return SqlError::new(&ER_UNKNOWN_TABLE, &[&table, &schema]);
        }
        if self.is_listed() {
            return SqlError::new(&ER_TABLE_NOT_LOCKED, &[&table]);
        }
        SqlError::no_such_table(schema, table)
    }

    fn depend(&mut self, table: Arc<TableInfo>) {
        if !self.tables.iter().any(|t| Arc::ptr_eq(t, &table)) {
            self.tables.push(table);
        }
    }

    /// A list of expressions over no tables, as a query of one row.
    pub(crate) fn values_of(&mut self, exprs: &[ast::Expr]) -> SqlResult<Query> {
        self.values_in(&[exprs.to_vec()], scope::Clause::Do)
    }

    /// An expression over no tables.
    pub(crate) fn constant(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        self.push_scope();
        let bound = self.scalar(expr);
        self.pop_scope();
        bound
    }

    /// Splits a condition into its conjuncts.
    fn conjuncts(condition: Expr) -> Vec<Expr> {
        condition.into_conjuncts()
    }
}
