//! `FOR PORTION OF`: the limits of a portion, the condition for rows that have a part of it, and
//! which of their ends it cuts.
//!
//! The limits must be the same for all rows.

use selkie_catalog::Period;
use selkie_expr::{Expr, ExprKind};
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    ER_IT_IS_A_VIEW, ER_NOT_CONSTANT_EXPRESSION, ER_PERIOD_COLUMNS_UPDATED, ER_PERIOD_NOT_FOUND,
};
use selkie_types::{SqlError, SqlResult};

use super::Binder;
use super::scope::{Clause, Source, SourceColumns};
use super::update::BoundTarget;
use crate::logical::{Logical, RelationId};
use crate::physical::RowRules;

/// A bound portion. Expressions are over column numbers.
pub(crate) struct BoundPortion {
    /// The period.
    pub period: Period,
    pub from: Expr,
    pub to: Expr,
    /// Whether the row begins before the portion.
    pub cuts_start: Expr,
    /// Whether the row ends after the portion.
    pub cuts_end: Expr,
    /// Generated columns and checks of rows that are inserted.
    pub rules: RowRules,
    /// `IGNORE`.
    pub ignore: bool,
}

impl BoundPortion {
    /// All expressions.
    pub(crate) fn exprs_mut(&mut self) -> [&mut Expr; 4] {
        [&mut self.from, &mut self.to, &mut self.cuts_start, &mut self.cuts_end]
    }

    /// All expressions.
    pub(crate) fn exprs(&self) -> [&Expr; 4] {
        [&self.from, &self.to, &self.cuts_start, &self.cuts_end]
    }
}

impl Binder<'_> {
    /// Refuses a portion of anything but one table.
    pub(super) fn check_portion_source(&self, sources: &[Source]) -> SqlResult<()> {
        match sources {
            [source] if source.view.is_some() => {
                Err(SqlError::new(&ER_IT_IS_A_VIEW, &[&source.name]))
            }
            _ => Ok(()),
        }
    }

    /// A portion of the rows of a table, which `source` gives; rows without a part of it go.
    pub(super) fn portion(
        &mut self,
        portion: &ast::Portion,
        relation: RelationId,
        source: Logical,
    ) -> SqlResult<(BoundPortion, Logical)> {
        let table = self.columns.relations[relation].table.clone();
        let period = table.period.clone().filter(|period| portion.period.is(&period.name));
        let period =
            period.ok_or_else(|| SqlError::new(&ER_PERIOD_NOT_FOUND, &[&portion.period]))?;
        let from = self.limit_of_portion(&portion.from, relation)?;
        let to = self.limit_of_portion(&portion.to, relation)?;
        let expr = |kind| ast::Expr { kind, span: ast::Span::default() };
        let column = |at: usize| {
            let name = ast::ColumnRef::bare(ast::Ident::new(table.columns[at].name.clone()));
            expr(ast::ExprKind::Column(name))
        };
        let binary = |left: ast::Expr, op: ast::BinaryOp, right: &ast::Expr| {
            let (left, right) = (Box::new(left), Box::new(right.clone()));
            expr(ast::ExprKind::Binary { op, left, right })
        };
        let compare =
            |at: usize, op: ast::BinaryOp, limit: &ast::Expr| binary(column(at), op, limit);
        use ast::BinaryOp::{Gt, Lt};
        let (start, end) = (period.start, period.end);
        let has_part = [
            compare(end, Gt, &portion.from),
            compare(start, Lt, &portion.to),
            binary(portion.from.clone(), Lt, &portion.to),
        ];
        let mut source = source;
        for condition in &has_part {
            let bound = self.filter(condition)?;
            source = source.filter(Self::conjuncts(bound));
        }
        let mut cut = |condition: ast::Expr| {
            let mut bound = self.in_clause(Clause::Where, |b| b.scalar(&condition))?;
            selkie_expr::cast::to_whole_condition(&mut bound);
            Ok::<Expr, SqlError>(bound)
        };
        let cuts_start = cut(compare(start, Lt, &portion.from))?;
        let cuts_end = cut(compare(end, Gt, &portion.to))?;
        let rules = self.row_rules(&table, &|_| true)?;
        let ignore = self.ignore;
        Ok((BoundPortion { period, from, to, cuts_start, cuts_end, rules, ignore }, source))
    }

    /// The portion of an UPDATE, and its source with the rows that have a part of it.
    pub(super) fn portion_of_update(
        &mut self,
        update: &ast::Update,
        sources: &[Source],
        source: Logical,
    ) -> SqlResult<(Option<BoundPortion>, Logical)> {
        match (&update.portion, sources) {
            (Some(portion), [Source { columns: SourceColumns::Table(relation), .. }]) => {
                let (bound, source) = self.portion(portion, *relation, source)?;
                Ok((Some(bound), source))
            }
            _ => Ok((None, source)),
        }
    }

    /// Gives the only target its portion. An error if its period is assigned, or its table is read
    /// too.
    pub(super) fn set_portion(
        &self,
        portion: Option<BoundPortion>,
        targets: &mut [BoundTarget],
    ) -> SqlResult<()> {
        let (Some(portion), [target]) = (portion, targets) else { return Ok(()) };
        let table = &self.columns.relations[target.relation].table;
        let mut assigned = target.assignments.iter().map(|(at, _)| *at);
        if let Some(at) =
            assigned.find(|at| [portion.period.start, portion.period.end].contains(at))
        {
            let (column, period) = (&table.columns[at].name, &portion.period.name);
            return Err(SqlError::new(&ER_PERIOD_COLUMNS_UPDATED, &[column, period]));
        }
        let instances = self.columns.relations.iter();
        if instances.filter(|other| other.table.def.id == table.def.id).count() > 1 {
            let what = "updating and querying the same temporal periods table";
            return Err(SqlError::not_supported(what));
        }
        target.portion = Some(portion);
        Ok(())
    }

    fn limit_of_portion(&mut self, limit: &ast::Expr, relation: RelationId) -> SqlResult<Expr> {
        let bound = self.in_clause(Clause::Where, |b| b.scalar(limit))?;
        let info = &self.columns.relations[relation];
        let row = info.first..info.first + info.table.columns.len();
        let is_one = |e: &Expr| match &e.kind {
            ExprKind::Column(_) | ExprKind::AssignUserVariable(..) | ExprKind::Sequence(_) => false,
            ExprKind::Call(call) => call.function.is_deterministic(),
            ExprKind::Stored(call) => call.deterministic,
            ExprKind::Subquery(subquery) => {
                let mut reads_row = false;
                let plan = &self.subqueries[subquery.id.0 as usize].plan;
                plan.for_each_expr_deep(&mut |e| {
                    e.for_each_column(&mut |id| reads_row |= row.contains(&id));
                });
                !reads_row
            }
            _ => true,
        };
        match bound.any(&mut |e| !is_one(e)) {
            true => Err(SqlError::new(&ER_NOT_CONSTANT_EXPRESSION, &[&"FOR PORTION OF"])),
            false => Ok(bound),
        }
    }
}
