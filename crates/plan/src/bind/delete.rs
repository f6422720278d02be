//! DELETE from one or more tables.

use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

use super::scope::{Clause, SourceColumns};
use super::{Binder, Named};
use crate::logical::{ColumnId, Logical, RelationId};

/// A bound DELETE.
pub(crate) struct BoundDelete {
    pub source: Logical,
    /// Tables and the columns of their row keys.
    pub targets: Vec<(RelationId, ColumnId)>,
    pub ignore: bool,
    pub returning: Vec<(Named, Expr)>,
    pub returning_first: ColumnId,
    /// Nothing restricts it.
    pub all_rows: bool,
}

impl Binder<'_> {
    pub(crate) fn delete(&mut self, delete: &ast::Delete) -> SqlResult<BoundDelete> {
        self.push_scope();
        let bound = self.delete_in_scope(delete);
        self.pop_scope();
        bound
    }

    fn delete_in_scope(&mut self, delete: &ast::Delete) -> SqlResult<BoundDelete> {
        let (source, relations) = match &delete.target {
            ast::DeleteTarget::Single(factor) => {
                let reference = ast::TableRef::Table(factor.clone());
                let source = self.from(std::slice::from_ref(&reference), false)?;
                let alias = factor.alias.as_ref().unwrap_or(&factor.name.name).clone();
                let name = ast::TableName { schema: None, name: alias };
                (source, vec![self.delete_target(&name)?])
            }
            ast::DeleteTarget::Multi { targets, from } => {
                let source = self.from(from, false)?;
                let found: SqlResult<Vec<RelationId>> =
                    targets.iter().map(|t| self.delete_target(t)).collect();
                (source, found?)
            }
            ast::DeleteTarget::History { .. } => {
                return Err(SqlError::not_supported("DELETE HISTORY"));
            }
        };
        let mut source = source;
        if let Some(condition) = &delete.where_clause {
            let bound = self.in_clause(Clause::Where, |b| b.condition(condition))?;
            source = source.filter(Self::conjuncts(bound));
        }
        source = self.dml_tail(source, &delete.order_by, delete.limit.as_deref())?;
        let all_rows = matches!(source, Logical::Scan(_)) && delete.returning.is_empty();
        let targets: Vec<(RelationId, ColumnId)> =
            relations.into_iter().map(|r| (r, self.row_key(r))).collect();
        let table = self.columns.relations[targets[0].0].table.clone();
        let (returning, returning_first) = self.returning(&table, &delete.returning)?;
        Ok(BoundDelete {
            source,
            targets,
            ignore: delete.ignore,
            returning,
            returning_first,
            all_rows,
        })
    }

    /// The table instance a target of DELETE names.
    fn delete_target(&mut self, name: &ast::TableName) -> SqlResult<RelationId> {
        let found = self.scope().sources.iter().find(|s| {
            let schema = name.schema.as_ref();
            identifier_eq(&s.name, &name.name.value)
                && schema.is_none_or(|schema| identifier_eq(&s.schema, &schema.value))
        });
        let relation = match found.map(|s| &s.columns) {
            Some(SourceColumns::Table(relation)) => *relation,
            Some(_) => {
                return Err(SqlError::new(&ER_NON_UPDATABLE_TABLE, &[&name.name, &"DELETE"]));
            }
            None => return Err(SqlError::new(&ER_UNKNOWN_TABLE, &[&name.name, &"MULTI DELETE"])),
        };
        let table = self.columns.relations[relation].table.clone();
        self.check_target(&table, "DELETE")?;
        Ok(relation)
    }
}
