//! Names and aggregates of subqueries that belong to a block around them, for the notes of EXPLAIN
//! EXTENDED. Must not change what is bound, and costs nothing in other statements.

use selkie_expr::Expr;
use selkie_expr::aggregate::Aggregate;
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;

use super::Binder;
use super::scope::{Clause, Source, SourceColumns};
use crate::logical::{Resolved, ResolvedName, Steps};

/// Place of a clause in the order in which MariaDB resolves names.
fn rank(clause: Clause) -> u32 {
    match clause {
        Clause::Where => 1,
        Clause::On => 2,
        Clause::Order => 3,
        Clause::Group => 4,
        Clause::Having => 5,
        Clause::Set => 6,
        _ => 0,
    }
}

impl Binder<'_> {
    /// Notes that a name was resolved in block `at`, if that is not the innermost one.
    pub(super) fn note_resolved(&mut self, at: usize, name: &ast::ColumnRef, found: &Expr) {
        if at + 1 == self.scopes.len() || !self.settings.variables.explains {
            return;
        }
        let text = self.resolved_text(at, name, found);
        self.add_resolved(at, ResolvedName::Column(text));
    }

    /// Notes that block `at` computes an aggregate, if that is not the innermost one.
    pub(super) fn note_aggregated(&mut self, at: usize, aggregate: &Aggregate) {
        if at + 1 == self.scopes.len() || !self.settings.variables.explains {
            return;
        }
        let distinct = if aggregate.distinct { "distinct " } else { "" };
        let text = format!("{}({distinct}", aggregate.kind.name());
        self.add_resolved(at, ResolvedName::Aggregate(text));
    }

    fn add_resolved(&mut self, at: usize, name: ResolvedName) {
        let steps: Steps = self.scopes.iter().map(|s| (rank(s.clause), s.within.serial)).collect();
        let resolved = Resolved { name, inside: self.columns.units.place(), steps, within: None };
        let within = self.scopes[at].within.place;
        self.columns.units.resolved.push(Resolved { within, ..resolved });
    }

    /// A name as the note shows it: with all its parts if it is a column of a table, as it is
    /// written if it is an entry of the select list. Compat: so is a column of a view. One of
    /// combined queries has its name only.
    fn resolved_text(&self, at: usize, name: &ast::ColumnRef, found: &Expr) -> String {
        let Some(id) = self.column_read(found) else { return name.to_string() };
        let named = |source: &&Source| {
            let own = self.name_in_source(source, id);
            own.is_some_and(|own| identifier_eq(&own, &name.name.value))
        };
        let Some(source) = self.scopes[at].sources.iter().find(named) else {
            return name.to_string();
        };
        let is_listed = matches!(source.columns, SourceColumns::Listed(_));
        let own = self.name_in_source(source, id).unwrap_or_default();
        match source.schema.is_empty() {
            true if source.name.is_empty() => own.to_string(),
            true => format!("{}.{own}", source.name),
            false if is_listed => name.to_string(),
            false => format!("{}.{}.{own}", source.schema, source.name),
        }
    }
}
