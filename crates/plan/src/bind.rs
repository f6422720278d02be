//! From the syntax tree to the logical plan: names are resolved, types inferred, conversions
//! inserted.
//!
//! A statement is bound block by block. A [`scope::Scope`] holds what a block's names can mean;
//! scopes nest, and a name found in an outer scope makes the block correlated without further ado,
//! because column numbers are unique in the statement.

mod access;
mod aggregate;
mod alias;
mod call;
mod common;
mod delete;
mod expr;
mod from;
mod group;
mod handler;
mod insert;
mod insert_query;
mod insert_target;
mod json_table;
mod literal;
mod output;
mod query;
mod read_again;
mod recursion;
mod recursion_rules;
mod scope;
mod select;
mod sequence;
mod shown;
mod subquery;
mod syntax;
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
use selkie_types::{CollationId, Condition, Privileges, SqlError, SqlResult, SqlType};

use access::{Guard, Wanted};
pub(crate) use common::Common;
pub(crate) use delete::BoundDelete;
pub use handler::{HandlerRead, HandlerSyntax};
pub(crate) use insert::BoundInsert;
pub(crate) use insert_target::BoundView;
pub(crate) use literal::{string_expr, temporal_literal};
pub(crate) use output::Named;
pub(crate) use select::position_of;
pub(crate) use update::{BoundTarget, BoundUpdate};
pub(crate) use view::resolve;

use crate::logical::{ColumnId, Columns, Logical, RelationId, SubqueryState};
use crate::settings::{Environment, Settings};
use scope::Scope;

pub(crate) use scope::Clause;

/// A bound query: its rows, and the columns that count.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Its rows.
    pub plan: Logical,
    /// Its columns in order.
    pub columns: Vec<Named>,
}

impl Query {
    /// Numbers of its columns.
    pub(crate) fn ids(&self) -> Vec<ColumnId> {
        self.columns.iter().map(|c| c.id).collect()
    }
}

/// Where names are looked up, beside the settings.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    /// Tables and views.
    pub tables: Namespace<'a>,
    /// Variables and stored functions.
    pub environment: &'a dyn Environment,
    /// The statement's text, which names result columns.
    pub text: &'a [u8],
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
    /// Tables and views the statement depends on.
    pub(crate) tables: Vec<Arc<TableInfo>>,
    /// Sequences the statement takes numbers of.
    pub(crate) takes_numbers: Vec<Arc<TableInfo>>,
    /// A stored function is called.
    pub(crate) calls_functions: bool,
    /// Columns whose defaults are being bound, outermost first.
    pub(crate) defaulted: Vec<Box<str>>,
    /// Table instances of which not every column may be used freely.
    guards: Vec<(RelationId, Arc<Guard>)>,
    scopes: Vec<Scope>,
    /// Common tables that can be named, innermost last: name and number.
    visible: Vec<(Box<str>, usize)>,
    /// Views being expanded.
    views: Vec<(Box<str>, Box<str>)>,
    /// Views that were expanded, if the statement may change rows through them.
    kept_views: Option<Vec<view::KeptView>>,
    /// Schema of unqualified names, if not the session's: inside a view.
    schema: Option<Box<str>>,
    /// Text result columns are named by: the statement's, or a view's.
    text: Vec<Vec<u8>>,
    /// User variables that what is being bound is assigned to.
    assigning: Vec<Box<str>>,
    /// Collations of user variables that the statement has assigned to so far.
    assigned: Vec<(Box<str>, CollationId)>,
    /// User variables the statement reads, with their types, each name once.
    pub(crate) user_variables: Vec<(Box<str>, Option<SqlType>)>,
    /// Tables that are only read lock what they give.
    pub(crate) lock_reads: bool,
    /// The row locks that the next SELECT takes, from its FOR UPDATE or LOCK IN SHARE MODE.
    locking: Option<(LockMode, LockWait)>,
    /// The statement says IGNORE.
    ignore: bool,
    /// The table whose definition is being bound, and the first of its columns, where an expression
    /// says `DEFAULT(column)`.
    row_table: Option<(Arc<TableInfo>, ColumnId)>,
    /// What is being bound is kept as text: a backslash escapes in it whatever the mode is.
    in_kept_text: bool,
    /// Derived tables and views being bound in an UPDATE of several tables; `None` elsewhere.
    derived_in_update: Option<usize>,
    /// Tables read beside those that a DELETE of several tables names; `None` elsewhere.
    read_again: Option<read_again::ReadAgain>,
    /// In ON DUPLICATE KEY UPDATE the first columns of the existing row, and of the row to be
    /// inserted, which `VALUES(c)` stands for.
    inserted: Option<(ColumnId, ColumnId)>,
    /// The query whose rows are being inserted.
    inserted_query: Option<insert_query::Watched>,
    /// Warnings about what the statement says.
    pub(crate) conditions: Vec<Condition>,
    /// The condition being bound chooses the rows of a block.
    chooses_rows: bool,
    /// Notes about keys that conditions cannot use, with their tables.
    unusable_keys: Vec<(Arc<TableInfo>, Condition)>,
    /// Whose privileges count: the definer's inside a view, else the session's.
    who: Option<Arc<str>>,
    /// What tables are used for.
    wanted: Wanted,
    /// What columns are used for.
    column_use: Privileges,
    /// Blocks with window functions.
    pub(crate) windowed_blocks: u64,
    /// Tables on the list of LOCK TABLES that the statement names, where and under which names.
    used_locks: Vec<(TableId, ast::Span, Box<str>)>,
    /// LIMIT ROWS EXAMINED, which is of the whole statement wherever it is said.
    pub(crate) rows_examined: Option<Expr>,
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
            calls_functions: false,
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
            user_variables: Vec::new(),
            lock_reads: settings.lock_reads,
            locking: None,
            ignore: false,
            row_table: None,
            in_kept_text: false,
            derived_in_update: None,
            read_again: None,
            inserted: None,
            inserted_query: None,
            conditions: Vec::new(),
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

    /// The text that spans are of: the statement's, or that of the view being bound.
    fn source_text(&self) -> &[u8] {
        self.text.last().map_or(self.names.text, Vec::as_slice)
    }

    /// The text a span covers.
    fn span_text(&self, span: ast::Span) -> String {
        String::from_utf8_lossy(span.text(self.source_text())).into_owned()
    }

    /// The schema of a name without one.
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

    /// The table or view a name stands for.
    fn find_table(&mut self, name: &ast::TableName) -> SqlResult<Arc<TableInfo>> {
        let schema = self.schema_of(name.schema.as_ref())?;
        let table = self.folded(&name.name.value);
        self.check_table(&schema, &table)?;
        let Some(info) = self.names.tables.table(&schema, &table) else {
            // Compat: even in a schema that does not exist.
            if selkie_catalog::Series::from_name(&table).is_some() {
                return Ok(selkie_catalog::Series::table(&schema, &table));
            }
            return Err(self.missing_table(&schema, &name.name.value));
        };
        self.depend(info.clone());
        Ok(info.clone())
    }

    /// Checks a table that the statement itself names, under the name it gives it.
    pub(crate) fn check_locked(
        &self,
        table: &TableInfo,
        name: &str,
        written: bool,
    ) -> SqlResult<()> {
        match self.settings.listed_only && self.views.is_empty() {
            true => self.names.environment.check_locked(table, name, written),
            false => Ok(()),
        }
    }

    /// Checks a table that the statement names at `span`. Compat: what LOCK TABLES locked once can
    /// be used at one place of a statement.
    fn use_locked(
        &mut self,
        table: &TableInfo,
        name: &str,
        span: ast::Span,
        written: bool,
    ) -> SqlResult<()> {
        self.check_locked(table, name, written)?;
        let is_listed = self.settings.listed_only && self.views.is_empty();
        if !is_listed || !matches!(table.kind, TableKind::Base) {
            return Ok(());
        }
        let (id, alias) = (table.def.id, self.folded(name));
        let is_same = |(of, at, other): &(TableId, ast::Span, Box<str>)| {
            *of == id && *at != span && *other == alias
        };
        if self.used_locks.iter().any(is_same) {
            return Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&name]));
        }
        self.used_locks.push((id, span, alias));
        Ok(())
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
        if self.settings.listed_only && self.views.is_empty() {
            return SqlError::new(&ER_TABLE_NOT_LOCKED, &[&table]);
        }
        SqlError::no_such_table(schema, table)
    }

    fn depend(&mut self, table: Arc<TableInfo>) {
        if !self.tables.iter().any(|t| Arc::ptr_eq(t, &table)) {
            self.tables.push(table);
        }
    }

    /// A list of expressions over no tables, as one row.
    pub(crate) fn values_of(&mut self, exprs: &[ast::Expr]) -> SqlResult<Query> {
        self.values(&[exprs.to_vec()])
    }

    /// An expression over no tables.
    pub(crate) fn constant(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        self.push_scope();
        let bound = self.scalar(expr);
        self.pop_scope();
        bound
    }

    /// The condition an expression stands for, as a list of conjuncts.
    fn conjuncts(condition: Expr) -> Vec<Expr> {
        condition.into_conjuncts()
    }
}
