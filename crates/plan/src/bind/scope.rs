//! Scopes: name lookup in a query block. Lookup goes from the innermost block outwards. A query
//! that cannot see outer names, as a derived table, is bound without their blocks.

use std::sync::Arc;

use selkie_engine::{LockMode, LockWait};
use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::ER_UNKNOWN_TABLE;
use selkie_types::{SqlError, SqlResult};

use super::Binder;
use super::access::Guard;
use super::aggregate::Aggregates;
use super::alias::{Alias, AliasUse};
use super::row_number::RowNumbers;
use super::window::Windows;
use crate::logical::{ColumnId, ColumnSet, Place, RelationId, UnitId};
use crate::star::StarOrder;

/// The clause of a name, as in error messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Clause {
    #[default]
    Fields,
    /// Left operand of IN, ANY or ALL with a subquery.
    Operand,
    /// DO.
    Do,
    From,
    Where,
    On,
    Group,
    Having,
    Order,
    Values,
    Into,
    Set,
    Duplicate,
    Returning,
    JsonTable,
    /// Values that HANDLER compares with a key.
    HandlerKey,
    /// CHECK in a table's definition.
    Check,
    /// DEFAULT in a table's definition.
    Default,
    /// Generated column in a table's definition.
    Generated,
    /// PARTITION BY in a table's definition.
    Partition,
}

impl Clause {
    /// Name in error messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fields => "SELECT",
            Self::Operand => "IN/ALL/ANY",
            Self::Do => "DO",
            Self::From => "FROM",
            Self::Where => "WHERE",
            Self::On => "ON",
            Self::Group => "GROUP BY",
            Self::Having => "HAVING",
            Self::Order => "ORDER BY",
            Self::Values => "VALUES",
            Self::Into => "INSERT INTO",
            Self::Set => "SET",
            Self::Duplicate => "UPDATE",
            Self::Returning => "RETURNING",
            Self::JsonTable => "JSON_TABLE",
            Self::HandlerKey => "HANDLER ... READ",
            Self::Check => "CHECK",
            Self::Default => "DEFAULT",
            Self::Generated => "GENERATED ALWAYS AS",
            Self::Partition => "PARTITION BY",
        }
    }
}

/// One table of FROM.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Its schema; empty for derived tables.
    pub schema: Box<str>,
    /// Its alias or name.
    pub name: Box<str>,
    /// Its columns.
    pub columns: SourceColumns,
    /// Whether it is on the inner side of an outer join.
    pub nullable: bool,
    /// Columns that USING has merged with those of another table.
    pub merged: Vec<usize>,
    /// Its view, as a position among the kept views.
    pub view: Option<usize>,
    /// Privileges to check on its columns.
    pub guard: Option<Arc<Guard>>,
}

/// Columns of a source.
#[derive(Clone, Debug)]
pub(super) enum SourceColumns {
    /// The columns of a table instance.
    Table(RelationId),
    /// Names and numbers.
    Listed(Vec<(Box<str>, ColumnId)>),
}

/// Names of an entry of the select list that is not bound yet.
#[derive(Clone, Default)]
pub(super) struct Pending {
    /// Its name in the result; empty if it cannot be referred to.
    pub name: Box<str>,
    /// The column that it is, with its table if that is written.
    pub column: Option<(Option<Box<str>>, Box<str>)>,
}

/// Names visible in a block.
#[derive(Default)]
pub(super) struct Scope {
    /// Tables of FROM in order.
    pub sources: Vec<Source>,
    /// The order of `*`.
    pub star: StarOrder,
    /// Entries of the select list that are already bound.
    pub aliases: Vec<Alias>,
    /// The entries that are not bound yet.
    pub pending: Vec<Pending>,
    /// Whether aliases are visible, and in which order with the tables.
    pub use_aliases: Option<AliasUse>,
    /// Columns of GROUP BY, which HAVING may read.
    pub group_columns: Vec<Expr>,
    /// Whether there is a GROUP BY.
    pub grouped: bool,
    /// The clause being bound.
    pub clause: Clause,
    /// Aggregates found so far; `None` where they are not allowed.
    pub aggregates: Aggregates,
    /// Whether aggregates are allowed.
    pub allow_aggregates: bool,
    /// Whether the arguments of an aggregate are being bound.
    pub in_aggregate: bool,
    /// Columns of outer blocks that the arguments read through aliases.
    pub aliased: ColumnSet,
    /// Window functions found so far.
    pub windows: Windows,
    /// Locks, numbers and kept values of its rows.
    pub rows: RowUse,
    /// Its place in the statement.
    pub within: Within,
}

/// The place of a block in the statement.
#[derive(Default)]
pub(super) struct Within {
    /// Place of its SELECT, if it is one.
    pub place: Option<Place>,
    /// Its unit.
    pub unit: UnitId,
    /// Number of blocks that were bound before it.
    pub serial: u32,
}

/// Locks, numbers and kept values of the rows of a block.
#[derive(Default)]
pub(super) struct RowUse {
    /// Row locks on its tables, if its query has a locking clause.
    pub locking: Option<(LockMode, LockWait)>,
    /// The meaning of `ROWNUM()`.
    pub numbers: RowNumbers,
    /// Conditions of FROM and WHERE that read row numbers.
    pub numbered: Vec<Expr>,
    /// Whether HAVING reads an entry of the select list whose value varies.
    pub entries_vary: bool,
}

impl Binder<'_> {
    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Binds in the given clause.
    pub(super) fn in_clause<T>(
        &mut self,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = std::mem::replace(&mut self.scope().clause, clause);
        let bound = bind(self);
        self.scope().clause = before;
        bound
    }

    /// The columns of a source: name and number.
    pub(super) fn source_columns(&self, source: &Source) -> Vec<(Box<str>, ColumnId)> {
        match &source.columns {
            SourceColumns::Listed(columns) => columns.clone(),
            SourceColumns::Table(relation) => {
                let info = &self.columns.relations[*relation];
                let columns = info.table.columns.iter().enumerate();
                columns.map(|(at, c)| (c.name.clone(), info.first + at)).collect()
            }
        }
    }

    /// Number of columns of a source.
    pub(super) fn source_width(&self, source: &Source) -> usize {
        match &source.columns {
            SourceColumns::Listed(columns) => columns.len(),
            SourceColumns::Table(relation) => self.columns.relations[*relation].table.columns.len(),
        }
    }

    /// Name of column `id` in a source; `None` if the source does not have it.
    pub(super) fn name_in_source(&self, source: &Source, id: ColumnId) -> Option<Box<str>> {
        match &source.columns {
            SourceColumns::Listed(columns) => {
                columns.iter().find(|(_, column)| *column == id).map(|(name, _)| name.clone())
            }
            SourceColumns::Table(relation) => {
                let info = &self.columns.relations[*relation];
                let column = info.table.columns.get(id.checked_sub(info.first)?);
                column.map(|c| c.name.clone())
            }
        }
    }

    /// Position and number of the column `name` in a source.
    pub(super) fn source_column(&self, source: &Source, name: &str) -> Option<(usize, ColumnId)> {
        match &source.columns {
            SourceColumns::Listed(columns) => {
                let at = columns.iter().position(|(n, _)| identifier_eq(n, name))?;
                Some((at, columns[at].1))
            }
            SourceColumns::Table(relation) => {
                let info = &self.columns.relations[*relation];
                info.table.column_position(name).map(|at| (at, info.first + at))
            }
        }
    }

    /// The expression that reads a column of a source.
    pub(super) fn source_expr(&self, source: &Source, id: ColumnId) -> Expr {
        if let Some(value) = self.inserted.computed.get(&id) {
            return value.clone();
        }
        let mut expr = self.columns.expr(id);
        expr.nullable |= source.nullable;
        if let Some(shown) = &self.columns.get(id).shown {
            selkie_expr::cast::to_shown(&mut expr, shown);
        }
        expr
    }

    /// Resolves a column name, from the innermost block outwards.
    pub(super) fn column(&mut self, name: &ast::ColumnRef) -> SqlResult<Expr> {
        let clause = match self.operand_in == Some(self.scopes.len()) {
            true => Clause::Operand,
            false => self.scopes.last().map(|s| s.clause).unwrap_or_default(),
        };
        for at in (0..self.scopes.len()).rev() {
            if let Some(found) = self.in_scope(at, name, clause)? {
                self.note_resolved(at, name, &found);
                return Ok(found);
            }
        }
        // Compat: if there is no table at all, the error is about the table.
        if let Some(table) = &name.table
            && self.scopes.iter().all(|scope| scope.sources.is_empty())
        {
            let named = match &name.schema {
                Some(schema) => format!("{schema}.{table}"),
                None => table.to_string(),
            };
            return Err(SqlError::new(&ER_UNKNOWN_TABLE, &[&named, &clause.name()]));
        }
        Err(self.missing_column(name, self.unknown(name, clause)))
    }

    /// Compat: the error shows the full name of an outer column that is hidden by a grouping.
    fn unknown(&self, name: &ast::ColumnRef, clause: Clause) -> SqlError {
        let outer = self.scopes.iter().rev().skip(1).flat_map(|scope| &scope.sources);
        let names = self.table_names();
        let hidden = outer.filter(|s| names.is_of(s, name)).find(|source| {
            !source.schema.is_empty() && self.source_column(source, &name.name.value).is_some()
        });
        match hidden {
            Some(source) if name.schema.is_none() && clause != Clause::Having => {
                let full = format!("{}.{}.{}", source.schema, source.name, name.name.value);
                SqlError::unknown_column(full, clause.name())
            }
            _ => SqlError::unknown_column(name, clause.name()),
        }
    }

    /// The expression that a name refers to in block `at`.
    fn in_scope(
        &mut self,
        at: usize,
        name: &ast::ColumnRef,
        clause: Clause,
    ) -> SqlResult<Option<Expr>> {
        let own = at + 1 == self.scopes.len();
        let in_aggregate = self.scopes.last().is_some_and(|s| s.in_aggregate);
        let rule = match self.scopes[at].use_aliases {
            // An aggregate's arguments are computed below the grouping.
            Some(AliasUse::Only) if in_aggregate => Some(AliasUse::Last),
            Some(AliasUse::Inner) if own => None,
            // Compat: HAVING of a subquery searches the select lists around it before the tables.
            Some(AliasUse::Inner | AliasUse::First | AliasUse::Last)
                if !own && !in_aggregate && self.reads_in_having() =>
            {
                Some(AliasUse::First)
            }
            Some(AliasUse::First) if !own => Some(AliasUse::Last),
            rule => rule,
        };
        match rule {
            None => self.in_tables(at, name, clause),
            // Compat: without GROUP BY, a subquery in HAVING can read any column of the tables.
            Some(AliasUse::Only) if !own && !self.scopes[at].grouped => {
                match self.in_having(at, name, clause)? {
                    Some(expr) => Ok(Some(expr)),
                    None => self.in_tables(at, name, clause),
                }
            }
            Some(AliasUse::Only) => self.in_having(at, name, clause),
            Some(AliasUse::First) => {
                match self.in_select_list(at, name, clause, AliasUse::First)? {
                    Some(expr) => Ok(Some(expr)),
                    None => self.in_tables(at, name, clause),
                }
            }
            Some(rule) => match self.in_tables(at, name, clause)? {
                Some(expr) => Ok(Some(expr)),
                None => self.in_select_list(at, name, clause, rule),
            },
        }
    }

    /// Whether the innermost block is binding its HAVING.
    fn reads_in_having(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.clause == Clause::Having)
    }

    /// The column of block `at`'s tables that a name refers to.
    pub(super) fn in_tables(
        &self,
        at: usize,
        name: &ast::ColumnRef,
        clause: Clause,
    ) -> SqlResult<Option<Expr>> {
        let names = self.table_names();
        let mut found: Option<Expr> = None;
        for source in &self.scopes[at].sources {
            if !names.is_of(source, name) {
                continue;
            }
            let Some((position, id)) = self.source_column(source, &name.name.value) else {
                continue;
            };
            if name.table.is_none() && source.merged.contains(&position) {
                continue;
            }
            if found.is_some() {
                return Err(SqlError::ambiguous_column(name, clause.name()));
            }
            self.check_column(source.guard.as_deref(), &name.name.value, self.column_use)?;
            found = Some(self.source_expr(source, id));
        }
        match found {
            None if name.name.value.eq_ignore_ascii_case("_rowid") => self.row_id(at, name),
            found => Ok(found),
        }
    }

    /// The column that `_rowid` stands for in block `at`. Its table is named or the only one.
    fn row_id(&self, at: usize, name: &ast::ColumnRef) -> SqlResult<Option<Expr>> {
        let names = self.table_names();
        let sources = &self.scopes[at].sources;
        let mut named = sources.iter().filter(|s| names.is_of(s, name));
        let Some(source) = named.next().filter(|_| name.table.is_some() || sources.len() == 1)
        else {
            return Ok(None);
        };
        let (table, first) = match (&source.columns, &self.row_table) {
            (SourceColumns::Table(relation), _) => {
                let info = &self.columns.relations[*relation];
                (&info.table, info.first)
            }
            (SourceColumns::Listed(_), Some((table, first)))
                if source.view.is_none() && !source.schema.is_empty() =>
            {
                (table, *first)
            }
            _ => return Ok(None),
        };
        let Some(column) = table.row_id_column() else { return Ok(None) };
        let written = &table.columns[column].name;
        self.check_column(source.guard.as_deref(), written, self.column_use)?;
        Ok(Some(self.source_expr(source, first + column)))
    }
}

/// Comparison of table names, aliases and schema names. Compat: it is case-sensitive unless
/// `lower_case_table_names` is set, so that `t` and `T` are two aliases.
#[derive(Clone, Copy)]
pub(super) struct TableNames {
    pub any_case: bool,
}

impl TableNames {
    pub(super) fn is_same(self, a: &str, b: &str) -> bool {
        if self.any_case { identifier_eq(a, b) } else { a == b }
    }

    pub(super) fn is_same_schema(self, a: &str, b: &str) -> bool {
        self.is_same(a, b) || a.eq_ignore_ascii_case("information_schema") && identifier_eq(a, b)
    }

    /// Whether a name can refer to a column of `source`.
    pub(super) fn is_of(self, source: &Source, name: &ast::ColumnRef) -> bool {
        name.table.as_ref().is_none_or(|t| self.is_same(&source.name, &t.value))
            && name.schema.as_ref().is_none_or(|s| self.is_same_schema(&source.schema, &s.value))
    }
}

impl Binder<'_> {
    /// The comparison that the server's `lower_case_table_names` requires.
    pub(super) fn table_names(&self) -> TableNames {
        TableNames { any_case: self.settings.variables.lower_case_names }
    }
}
