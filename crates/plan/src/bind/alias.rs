//! Lookup of names in the select list, for the clauses that may read its entries. [`AliasUse`] says
//! whether the select list or the tables are searched first.

use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, SqlError, SqlMode, SqlResult};

use super::Binder;
use super::having::varies;
use super::scope::{Clause, Pending, Scope, TableNames};
use super::select::Item;

/// An entry of the select list, as name lookup needs it.
#[derive(Clone, Debug)]
pub(super) struct Alias {
    /// Its name.
    pub name: Box<str>,
    /// Expression of the entry.
    pub expr: Expr,
    /// The column, if the entry is a plain column.
    pub column: Option<AliasColumn>,
}

/// A table column in the select list.
#[derive(Clone, Debug)]
pub(super) struct AliasColumn {
    schema: Box<str>,
    table: Box<str>,
    name: Box<str>,
}

/// Order in which the select list and the tables are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AliasUse {
    /// Select list before the tables: a key of ORDER BY.
    First,
    /// Select list after the tables: part of a key of ORDER BY or GROUP BY, or of an aggregate's
    /// argument. An entry that reads an aggregate is error 1247.
    Last,
    /// Select list after the tables: a key of a window.
    Key,
    /// Select list after the tables, but only for subqueries: in the select list itself.
    Inner,
    /// Select list instead of the tables: HAVING, which also sees the columns of GROUP BY.
    Only,
}

impl Alias {
    pub(super) fn new(item: &Item) -> Self {
        let column = (!item.column.is_empty()).then(|| AliasColumn {
            schema: item.schema.clone(),
            table: item.table.clone(),
            name: item.column.clone(),
        });
        Self { name: item.name.as_str().into(), expr: item.expr.clone(), column }
    }
}

impl AliasColumn {
    fn is_named(&self, names: TableNames, name: &ast::ColumnRef) -> bool {
        identifier_eq(&self.name, &name.name.value)
            && name.table.as_ref().is_none_or(|t| names.is_same(&self.table, &t.value))
            && name.schema.as_ref().is_none_or(|s| names.is_same_schema(&self.schema, &s.value))
    }
}

/// The entry that a name refers to. A name without table refers to an alias, or to a column with
/// another alias; a qualified name refers to a column, whatever its alias is. `Err` if several
/// entries match.
fn find<'a>(
    aliases: &'a [Alias],
    names: TableNames,
    name: &ast::ColumnRef,
) -> Result<Option<&'a Alias>, ()> {
    let (mut found, mut behind): (Option<&Alias>, Option<&Alias>) = (None, None);
    let mut behind_several = false;
    for alias in aliases {
        let by_name = name.table.is_none() && identifier_eq(&alias.name, &name.name.value);
        let is_column = alias.column.as_ref().is_some_and(|c| c.is_named(names, name));
        if by_name && alias.column.is_none() {
            found = Some(alias);
            break;
        }
        if by_name {
            if found.is_some_and(|other| other.expr != alias.expr) {
                return Err(());
            }
            found = Some(alias);
        } else if is_column {
            behind_several |= behind.is_some_and(|other| other.expr != alias.expr);
            behind = Some(alias);
        }
    }
    match (found, behind_several) {
        (None, true) => Err(()),
        _ => Ok(found.or(behind)),
    }
}

impl Binder<'_> {
    /// The entry in the select list of block `at` that a name refers to.
    pub(super) fn in_select_list(
        &mut self,
        at: usize,
        name: &ast::ColumnRef,
        clause: Clause,
        rule: AliasUse,
    ) -> SqlResult<Option<Expr>> {
        let names = self.table_names();
        let scope = &self.scopes[at];
        let ambiguous = |()| SqlError::ambiguous_column(name, clause.name());
        if let Some(alias) = find(&scope.aliases, names, name).map_err(ambiguous)? {
            let mut expr = alias.expr.clone();
            let own = at + 1 == self.scopes.len();
            self.check_alias(at, name, &expr, rule)?;
            if !own {
                self.read_alias(&expr);
            } else if self.scope().in_aggregate {
                // Below the grouping it reads other columns than above.
                self.copy_subqueries(&mut expr);
            }
            return Ok(Some(expr));
        }
        let is_of = |table: &Option<Box<str>>| match (&name.table, table) {
            (None, _) => true,
            (Some(wanted), Some(table)) => names.is_same(table, &wanted.value),
            (Some(_), None) => false,
        };
        let later = |pending: &Pending| {
            let by_name = name.table.is_none() && identifier_eq(&pending.name, &name.name.value);
            let by_column = pending.column.as_ref().is_some_and(|(table, column)| {
                is_of(table) && identifier_eq(column, &name.name.value)
            });
            by_name || by_column
        };
        match scope.pending.iter().any(later) {
            true => Err(illegal_reference(name, "forward reference in item list")),
            false => Ok(None),
        }
    }

    /// An error for an entry with aggregates or window functions in a place where these are not
    /// computed yet.
    fn check_alias(
        &self,
        at: usize,
        name: &ast::ColumnRef,
        expr: &Expr,
        rule: AliasUse,
    ) -> SqlResult<()> {
        let scope = &self.scopes[at];
        let own = at + 1 == self.scopes.len();
        let windowed = scope.windows.contains(expr);
        if windowed && own && scope.in_aggregate {
            return Err(SqlError::new(&ER_SUM_FUNC_WITH_WINDOW_FUNC_AS_ARG, &[]));
        }
        if windowed && own && rule == AliasUse::Only {
            return Err(SqlError::new(&ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]));
        }
        let grouped = scope.aggregates.contains(expr) || windowed && !own;
        // HAVING of a subquery in HAVING reads the groups that are there already.
        let of_groups = |scope: &Scope| scope.clause == Clause::Having;
        let is_computed = rule == AliasUse::Only && self.scopes.last().is_some_and(of_groups);
        let is_part = !own && !is_computed || scope.in_aggregate || rule == AliasUse::Last;
        match grouped && is_part {
            true => Err(illegal_reference(name, "reference to group function")),
            false => Ok(()),
        }
    }

    /// The entry of the select list or column of GROUP BY that a name in HAVING refers to.
    pub(super) fn in_having(
        &mut self,
        at: usize,
        name: &ast::ColumnRef,
        clause: Clause,
    ) -> SqlResult<Option<Expr>> {
        let selected = self.in_select_list(at, name, clause, AliasUse::Only)?;
        let grouped = self.in_group(at, name, clause)?;
        self.scopes[at].rows.entries_vary |= selected.as_ref().is_some_and(varies);
        match (selected, grouped) {
            (Some(selected), Some(grouped)) if selected != grouped => {
                self.warn_ambiguous(name, clause);
                Ok(Some(grouped))
            }
            (Some(selected), None) => {
                let full = self.types.sql_mode.contains(SqlMode::ONLY_FULL_GROUP_BY)
                    && !self.scopes[at].grouped;
                let is_column = self.column_read(&selected).is_some();
                let by_alias = |a: &Alias| {
                    a.expr == selected
                        && a.column.as_ref().is_none_or(|c| !identifier_eq(&c.name, &a.name))
                };
                let aliased = self.scopes[at].aliases.iter().any(by_alias);
                match full && is_column && !aliased {
                    true => {
                        Err(SqlError::new(&ER_NON_GROUPING_FIELD_USED, &[&name.name, &"HAVING"]))
                    }
                    false => Ok(Some(selected)),
                }
            }
            (selected, grouped) => Ok(selected.or(grouped)),
        }
    }

    /// The column of GROUP BY that a name refers to.
    fn in_group(
        &self,
        at: usize,
        name: &ast::ColumnRef,
        clause: Clause,
    ) -> SqlResult<Option<Expr>> {
        let names = self.table_names();
        let scope = &self.scopes[at];
        let columns = scope.sources.iter().filter(|s| names.is_of(s, name)).filter_map(|source| {
            let (_, id) = self.source_column(source, &name.name.value)?;
            Some(self.source_expr(source, id))
        });
        let mut grouped = columns.filter(|column| scope.group_columns.contains(column));
        match (grouped.next(), grouped.next()) {
            (Some(_), Some(_)) => Err(SqlError::ambiguous_column(name, clause.name())),
            (found, _) => Ok(found),
        }
    }

    /// A GROUP BY key that is a name: a column of the tables has priority over an alias.
    pub(super) fn group_name(&mut self, name: &ast::ColumnRef) -> SqlResult<Option<Expr>> {
        let at = self.scopes.len() - 1;
        let Some(selected) = self.in_select_list(at, name, Clause::Group, AliasUse::Key)? else {
            return Ok(None);
        };
        match self.in_tables(at, name, Clause::Group) {
            Ok(Some(column)) if column != selected => {
                self.warn_ambiguous(name, Clause::Group);
                Ok(Some(column))
            }
            _ => Ok(Some(selected)),
        }
    }

    fn warn_ambiguous(&mut self, name: &ast::ColumnRef, clause: Clause) {
        let warning = Condition::warning(&ER_NON_UNIQ_ERROR, &[&name.name, &clause.name()]);
        self.warnings.conditions.push(Condition { soft: true, ..warning });
    }
}

fn illegal_reference(name: &ast::ColumnRef, why: &str) -> SqlError {
    SqlError::new(&ER_ILLEGAL_REFERENCE, &[&name.name, &why])
}
