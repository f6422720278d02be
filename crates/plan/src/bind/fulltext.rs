//! `MATCH ... AGAINST`. It becomes the rank of a row, found by the row's clustered key in a search
//! that the statement makes once.
//!
//! A query that is merged into the outer one lets the keys of its tables through, as more columns
//! of its projection.

use selkie_catalog::TableKind;
use selkie_engine::FullText;
use selkie_expr::{Expr, ExprKind, Match, SearchId, build};
use selkie_sql::ast::{self, MatchMode};
use selkie_types::error::catalogue::{
    ER_FT_MATCHING_KEY_NOT_FOUND, ER_TABLE_CANT_HANDLE_FT, ER_WRONG_ARGUMENTS,
};
use selkie_types::{CollationId, SqlError, SqlResult, SqlType};

use super::{Binder, Clause};
use crate::logical::{ColumnId, Logical, RelationId, TextColumn};
use crate::physical::Search;

impl Binder<'_> {
    /// The rank of a row.
    pub(super) fn match_against(
        &mut self,
        columns: &[ast::ColumnRef],
        query: &ast::Expr,
        mode: MatchMode,
    ) -> SqlResult<Expr> {
        let refused = |what: &str| SqlError::new(&ER_WRONG_ARGUMENTS, &[&what]);
        let bound = self.scalar(query)?;
        if !bound.columns().is_empty() || bound.has_correlated_subquery() {
            return Err(refused("AGAINST"));
        }
        let mut places = Vec::new();
        let mut found: Option<(RelationId, ColumnId)> = None;
        for name in columns {
            let column = self.column(name)?;
            let id = column.as_column().ok_or_else(|| refused("MATCH"))?;
            let Some((relation, at, key)) = self.text_column(id) else {
                if mode == MatchMode::Boolean && self.sorts_combined() {
                    let rank = ExprKind::Literal(selkie_types::Value::Double(0.0));
                    return Ok(Expr::new(rank, SqlType::double(), false));
                }
                return Err(SqlError::new(&ER_FT_MATCHING_KEY_NOT_FOUND, &[]));
            };
            let one = *found.get_or_insert((relation, key));
            if one.0 != relation {
                return Err(refused("MATCH"));
            }
            places.push(at);
        }
        let Some((relation, key)) = found else { return Err(refused("MATCH")) };
        let table = self.columns.relations[relation].table.clone();
        let index = table.text_index_over(&places);
        let lenient = table.engine.keys.fulltext == FullText::Lenient;
        if table.engine.keys.fulltext == FullText::Never {
            return Err(SqlError::new(&ER_TABLE_CANT_HANDLE_FT, &[&table.engine.name]));
        }
        if index.is_none() && !(lenient && mode == MatchMode::Boolean) {
            return Err(SqlError::new(&ER_FT_MATCHING_KEY_NOT_FOUND, &[]));
        }
        if let Some(index) = index {
            places = table.fulltext[index].def.parts.iter().map(|part| part.column).collect();
        }
        let collation = table.columns[places[0]].ty.collation;
        let mut query = build::convert_using(bound, collation, self.types)?;
        self.fold(&mut query);
        let search = Search { relation, table, columns: places, index, query, mode };
        let id = self.columns.searches.iter().position(|other| other.is_same(&search));
        let id = id.unwrap_or_else(|| {
            self.columns.searches.push(search);
            self.columns.searches.len() - 1
        });
        let names: Vec<String> = columns.iter().map(|column| column.name.to_string()).collect();
        let text = format!("match {} against (...)", names.join(","));
        let key = self.columns.expr(key);
        let found = Match { search: SearchId(id as u32), key, text: text.into() };
        Ok(Expr::new(ExprKind::Match(Box::new(found)), SqlType::double(), true))
    }

    /// Whether a key of combined queries is bound.
    ///
    /// Compat: all their rows have rank 0 there.
    fn sorts_combined(&mut self) -> bool {
        let scope = self.scope();
        let nameless = scope.sources.first().is_some_and(|source| source.name.is_empty());
        scope.clause == Clause::Order && nameless
    }

    /// The table instance and position of a column, and the column with the keys of its rows.
    fn text_column(&mut self, id: ColumnId) -> Option<(RelationId, usize, ColumnId)> {
        if let Some(known) = self.columns.texts.iter().find(|known| known.id == id) {
            return Some((known.of.0, known.of.1, known.key));
        }
        let (relation, at) = self.columns.get(id).origin?;
        let info = &self.columns.relations[relation];
        let stored = matches!(info.table.kind, TableKind::Base | TableKind::Temporary);
        if !stored || info.first + at != id {
            return None;
        }
        Some((relation, at, self.text_key(relation)))
    }

    /// The column with the keys of a table instance.
    fn text_key(&mut self, relation: RelationId) -> ColumnId {
        if let Some(id) = self.columns.relations[relation].row_key {
            return id;
        }
        let key = SqlType::varchar(3_072, CollationId::BINARY);
        let id = self.columns.add(key, true);
        self.columns.relations[relation].row_key = Some(id);
        id
    }

    /// Lets the keys of tables with FULLTEXT indexes through a query that is merged into the outer
    /// one.
    pub(super) fn let_keys_through(&mut self, query: &mut super::Query) {
        if !query.plan.is_plain_select() {
            return;
        }
        let mut texts = Vec::new();
        for (id, expr) in query.plan.projected() {
            let Some(inner) = expr.as_column() else { continue };
            let known = self.columns.texts.iter().any(|known| known.id == inner);
            let of_table = |(relation, _): (&crate::logical::RelationInfo, usize)| {
                !relation.table.fulltext.is_empty()
            };
            if known || self.columns.table_column(inner).is_some_and(of_table) {
                texts.push((*id, inner));
            }
        }
        for (id, inner) in texts {
            let Some((relation, at, key)) = self.text_column(inner) else { continue };
            let through = self.columns.add(self.columns.get(key).ty.clone(), true);
            let Some(columns) = projection(&mut query.plan) else { return };
            columns.push((through, self.columns.expr(key)));
            self.columns.texts.push(TextColumn { id, of: (relation, at), key: through });
        }
    }
}

/// The columns of the projection of a plain query.
fn projection(plan: &mut Logical) -> Option<&mut Vec<(ColumnId, Expr)>> {
    selkie_types::stack::ensure();
    match plan {
        Logical::Project { columns, .. } => Some(columns),
        Logical::Filter { input, .. } | Logical::Sort { input, .. } => projection(input),
        _ => None,
    }
}
