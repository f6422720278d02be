//! DELETE from one or more tables. The source gives each target's row keys; subqueries of a
//! multi-table DELETE must not read its targets.

use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult};

use super::access::Wanted;
use super::portion::BoundPortion;
use super::view::{Meaning, open, resolve};
use super::{Binder, Named};
use crate::logical::{ColumnId, Logical, RelationId};

/// A bound DELETE.
pub(crate) struct BoundDelete {
    pub source: Logical,
    /// Tables and the columns of their row keys.
    pub targets: Vec<(RelationId, ColumnId)>,
    /// The portion of the only target.
    pub portion: Option<BoundPortion>,
    /// Whether rows of history are deleted: no key refers to them, and no trigger learns of them.
    pub history: bool,
    pub ignore: bool,
    /// Whether the statement names its targets separately from the tables it reads.
    pub multiple: bool,
    pub returning: Vec<(Named, Expr)>,
    pub returning_first: ColumnId,
    /// Whether no condition or limit restricts it.
    pub all_rows: bool,
}

/// Whether a statement is DELETE HISTORY.
fn is_of_history(delete: &ast::Delete) -> bool {
    let ast::DeleteTarget::Single(factor) = &delete.target else { return false };
    matches!(factor.system_time, Some(ast::SystemTime::Ended(_)))
}

impl Binder<'_> {
    pub(crate) fn delete(&mut self, delete: &ast::Delete) -> SqlResult<BoundDelete> {
        self.ignore = delete.ignore;
        self.push_scope();
        let bound = self.delete_in_scope(delete);
        self.pop_scope();
        bound
    }

    fn delete_in_scope(&mut self, delete: &ast::Delete) -> SqlResult<BoundDelete> {
        let (source, relations) = match &delete.target {
            ast::DeleteTarget::Single(factor) => {
                self.reading.changes_one = true;
                let reference = ast::TableRef::Table(factor.clone());
                let wanted = match is_of_history(delete) {
                    true => Wanted::all(Privileges::DELETE_HISTORY),
                    false => Wanted::all(Privileges::DELETE),
                };
                let from = std::slice::from_ref(&reference);
                let source = self.using_tables(wanted, |b| b.changed_from(from))?;
                let alias = factor.alias.as_ref().unwrap_or(&factor.name.name).clone();
                let name = ast::TableName { schema: None, name: alias };
                (source, vec![self.delete_target(&name)?])
            }
            ast::DeleteTarget::Multi { targets, from } => {
                self.watch_reads();
                let source = self.changed_from(from)?;
                let found: SqlResult<Vec<RelationId>> =
                    targets.iter().map(|t| self.delete_target(t)).collect();
                for target in targets {
                    let guard = self.guard_of(&target.name.value);
                    self.check_target_access(guard.as_deref(), Privileges::DELETE)?;
                }
                (source, found?)
            }
        };
        let mut source = self.chosen_rows(source, delete.where_clause.as_ref())?;
        let mut portion = None;
        if let Some(syntax) = &delete.portion {
            let sources = self.scope().sources.clone();
            self.check_portion_source(&sources)?;
            let (bound, filtered) = self.portion(syntax, relations[0], source)?;
            (portion, source) = (Some(bound), filtered);
        }
        self.refuse_targets_read(&relations)?;
        source = self.dml_tail(source, &delete.order_by, delete.limit.as_deref())?;
        let all_rows = matches!(source, Logical::Scan(_)) && delete.returning.is_empty();
        let targets: Vec<(RelationId, ColumnId)> =
            relations.into_iter().map(|r| (r, self.row_key(r))).collect();
        let sources = self.scope().sources.clone();
        if let ([(relation, _)], [source], true) =
            (&targets[..], &sources[..], delete.limit.is_some())
            && self.refuses_limit(source, *relation)
        {
            return Err(SqlError::new(&ER_NON_UPDATABLE_TABLE, &[&source.name, &"DELETE"]));
        }
        let changed: Vec<RelationId> = targets.iter().map(|(relation, _)| *relation).collect();
        let mut meaning = Meaning::new();
        open(&mut source, &changed, &self.columns, &mut meaning);
        let (returning, returning_first) =
            self.deleted_rows(changed[0], &meaning, &delete.returning)?;
        Ok(BoundDelete {
            source,
            targets,
            portion,
            history: is_of_history(delete),
            ignore: delete.ignore,
            multiple: matches!(delete.target, ast::DeleteTarget::Multi { .. }),
            returning,
            returning_first,
            all_rows,
        })
    }

    /// RETURNING over the columns of the only target.
    fn deleted_rows(
        &mut self,
        relation: RelationId,
        meaning: &Meaning,
        items: &[ast::SelectItem],
    ) -> SqlResult<(Vec<(Named, Expr)>, ColumnId)> {
        let table = self.columns.relations[relation].table.clone();
        let over = self.scope().sources.first().filter(|s| s.view.is_some()).cloned();
        let Some(source) = over.filter(|_| !items.is_empty()) else {
            return self.returning(&table, items);
        };
        let first = self.columns.relations[relation].first;
        let mut returned = self.returned_from(source, items)?;
        returned.iter_mut().for_each(|(_, e)| resolve(e, meaning));
        Ok((returned, first))
    }

    /// An error if subqueries of a multi-table DELETE read its targets.
    fn refuse_targets_read(&mut self, targets: &[RelationId]) -> SqlResult<()> {
        let sources = self.scope().sources.clone();
        for target in targets {
            if let Some(at) = self.source_over(&sources, *target) {
                self.refuse_read_again(&sources[at], *target)?;
            }
        }
        Ok(())
    }

    /// The table instance that a target of DELETE refers to.
    fn delete_target(&mut self, name: &ast::TableName) -> SqlResult<RelationId> {
        let names = self.table_names();
        let found = self.scope().sources.iter().find(|s| {
            let schema = name.schema.as_ref();
            names.is_same(&s.name, &name.name.value)
                && schema.is_none_or(|schema| names.is_same_schema(&s.schema, &schema.value))
        });
        let Some(source) = found.cloned() else {
            return Err(SqlError::new(&ER_UNKNOWN_TABLE, &[&name.name, &"MULTI DELETE"]));
        };
        let refused = || SqlError::new(&ER_NON_UPDATABLE_TABLE, &[&source.name, &"DELETE"]);
        if let Some(view) = self.kept_view(&source) {
            if !self.is_updatable(view) {
                return Err(refused());
            }
            if self.only_table(&source).is_none() {
                let (schema, name) = (view.info.schema(), view.info.name());
                return Err(SqlError::new(&ER_VIEW_DELETE_MERGE_VIEW, &[&schema, &name]));
            }
        }
        let relation = self.only_table(&source).ok_or_else(refused)?;
        self.check_written(&source, relation, Privileges::DELETE)?;
        let table = self.columns.relations[relation].table.clone();
        match source.view.is_none() && self.scope().sources.len() == 1 {
            true => self.check_only_target(&table, "DELETE")?,
            false => self.check_target(&table, "DELETE")?,
        }
        self.refuse_historical(relation)?;
        if source.view.is_none() {
            self.check_locked(&table, &self.columns.relations[relation].alias, true)?;
        }
        Ok(relation)
    }
}
