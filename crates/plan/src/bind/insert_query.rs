//! The query of INSERT ... SELECT. ON DUPLICATE KEY UPDATE may read its tables, so their columns
//! are kept.

use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_types::SqlResult;

use super::scope::{Source, SourceColumns};
use super::{Binder, Query};
use crate::logical::{ColumnId, ColumnSet, Columns, Logical, SortItem};

/// A query whose tables are kept.
pub(super) struct Watched {
    /// The address of its only SELECT, to be known by.
    select: usize,
    /// The tables of that, once it is bound.
    sources: Vec<Source>,
}

impl Watched {
    fn is(&self, select: &ast::Select) -> bool {
        self.select == std::ptr::from_ref(select).addr()
    }
}

impl Binder<'_> {
    /// Binds the query of an INSERT; the tables it reads become visible.
    ///
    /// Compat: not those below a grouping or windows.
    pub(super) fn inserted_query(&mut self, query: &ast::Query) -> SqlResult<Query> {
        self.inserted_query = only_select(&query.body).map(|select| {
            let select = std::ptr::from_ref(select).addr();
            Watched { select, sources: Vec::new() }
        });
        let bound = self.query(query)?;
        let sources = match &mut self.inserted_query {
            Some(watched) => std::mem::take(&mut watched.sources),
            None => vec![listed("", &bound)],
        };
        self.scope().sources.extend(sources);
        Ok(bound)
    }

    /// Keeps the tables of the block being bound, if its rows are inserted. Rows of a grouping have
    /// no tables.
    pub(super) fn keep_sources(&mut self, select: &ast::Select, grouped: bool) {
        if grouped || !self.is_inserted(select) {
            return;
        }
        let sources = self.scope().sources.clone();
        if let Some(watched) = &mut self.inserted_query {
            watched.sources = sources;
        }
    }

    /// Whether rows of a SELECT are inserted.
    pub(super) fn is_inserted(&self, select: &ast::Select) -> bool {
        self.inserted_query.as_ref().is_some_and(|watched| watched.is(select))
    }

    /// Of distinct rows, the keys by which any row's values of the kept tables are carried along.
    pub(super) fn carried_keys(&self, select: &ast::Select) -> Vec<SortItem> {
        let Some(watched) = self.inserted_query.as_ref().filter(|w| w.is(select)) else {
            return Vec::new();
        };
        let columns = watched.sources.iter().flat_map(|s| {
            let columns = self.source_columns(s).into_iter();
            columns.map(|(_, id)| self.source_expr(s, id)).collect::<Vec<_>>()
        });
        columns.map(|expr| SortItem { expr, descending: false }).collect()
    }

    /// The kept tables have their columns in what became of these keys.
    pub(super) fn carried_as(&mut self, keys: &[SortItem]) {
        let Some(mut watched) = self.inserted_query.take() else { return };
        let mut ids = keys.iter().filter_map(|key| key.expr.as_column());
        for source in &mut watched.sources {
            let columns = self.source_columns(source);
            let names = columns.into_iter().map(|(name, _)| name);
            source.columns = SourceColumns::Listed(names.zip(ids.by_ref()).collect());
        }
        self.inserted_query = Some(watched);
    }

    /// The columns of the query's tables that `updates` read.
    pub(super) fn carried_columns<'e>(
        &mut self,
        updates: impl Iterator<Item = &'e Expr>,
    ) -> Vec<ColumnId> {
        if self.inserted_query.take().is_none() {
            return Vec::new();
        }
        let mut read = ColumnSet::default();
        updates.for_each(|e| self.add_columns(e, &mut read));
        let Some((_target, sources)) = self.scopes.last().and_then(|s| s.sources.split_last())
        else {
            return Vec::new();
        };
        let columns = sources.iter().flat_map(|s| self.source_columns(s));
        columns.map(|(_, id)| id).filter(|id| read.contains(*id)).collect()
    }
}

/// The columns of a finished query.
fn listed(name: &str, query: &Query) -> Source {
    let columns = query.columns.iter().map(|c| (c.name.as_str().into(), c.id)).collect();
    Source {
        schema: "".into(),
        name: name.into(),
        columns: SourceColumns::Listed(columns),
        nullable: false,
        merged: Vec::new(),
        view: None,
        guard: None,
    }
}

/// The SELECT that a query is, whatever the parentheses around it.
fn only_select(body: &ast::QueryBody) -> Option<&ast::Select> {
    match body {
        ast::QueryBody::Select(select) => Some(select),
        ast::QueryBody::Nested(nested) => only_select(&nested.body),
        _ => None,
    }
}

/// Lets columns of the tables below through the projection on top of a query.
pub(super) fn carry(plan: &mut Logical, columns: &Columns, carried: &[ColumnId]) {
    if let Logical::Project { columns: list, .. } = plan {
        let missing = carried.iter().filter(|id| list.iter().all(|(other, _)| other != *id));
        let missing: Vec<ColumnId> = missing.copied().collect();
        list.extend(missing.into_iter().map(|id| (id, columns.expr(id))));
    }
}
