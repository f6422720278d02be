//! `ROWNUM()`: the numbers of the rows of a block that pass its WHERE.
//!
//! In a query they are a column of an operator above WHERE, which tests the conditions that read
//! it. Rows of VALUES have their numbers as constants.

use selkie_expr::{Expr, build};
use selkie_sql::ast;
use selkie_types::{SqlResult, SqlType, TypeKind, Value};

use super::Binder;
use crate::logical::{ColumnId, ColumnSet, Logical, RowNumberNode};
use crate::safety::Uses;

/// The meaning of `ROWNUM()` in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum RowNumbers {
    /// There are no rows to count: it is 0.
    #[default]
    None,
    /// The number among the rows that pass WHERE. The column of it is there once it is read.
    Accepted(Option<ColumnId>),
    /// This number: rows are listed.
    Fixed(u64),
    /// One more at each evaluation: each is for the next row.
    Counted,
}

impl RowNumbers {
    /// The meaning in the rows of an INSERT. LOAD DATA runs one listed row again and again.
    pub(super) fn of_values(insert: &ast::Insert) -> Self {
        if insert.origin == ast::InsertOrigin::Load { Self::Counted } else { Self::Fixed(0) }
    }
}

impl Binder<'_> {
    pub(super) fn row_number(&mut self) -> SqlResult<Expr> {
        let ty = SqlType { unsigned: true, ..SqlType::new(TypeKind::BigInt, 21, 0) };
        let number = |n| Expr::literal(Value::UInt(n), ty.clone());
        self.uses.add(Uses::ROW_NUMBER);
        Ok(match self.scope().rows.numbers {
            RowNumbers::None => number(0),
            RowNumbers::Fixed(n) => number(n),
            RowNumbers::Accepted(Some(id)) => self.columns.expr(id),
            RowNumbers::Accepted(None) => {
                let id = self.columns.add(ty, true);
                self.scope().rows.numbers = RowNumbers::Accepted(Some(id));
                self.columns.expr(id)
            }
            RowNumbers::Counted => build::function_call("ROWNUM", Vec::new(), self.types)?,
        })
    }

    /// The column of the block's row numbers, if it is read.
    fn number_column(&mut self) -> Option<ColumnId> {
        match self.scope().rows.numbers {
            RowNumbers::Accepted(column) => column,
            _ => None,
        }
    }

    /// Keeps the conditions that read row numbers for [`Self::numbered`], and returns the others.
    pub(super) fn without_numbers(&mut self, conditions: Vec<Expr>) -> Vec<Expr> {
        let Some(column) = self.number_column() else { return conditions };
        let reads = |condition: &Expr| {
            let mut read = ColumnSet::default();
            self.add_columns(condition, &mut read);
            read.contains(column)
        };
        let (numbered, others): (Vec<_>, Vec<_>) = conditions.into_iter().partition(reads);
        self.scope().rows.numbered.extend(numbered);
        others
    }

    /// Numbers the rows of `plan`, if their numbers are read, and adds the column to `visible`.
    pub(super) fn numbered(&mut self, plan: Logical, visible: &mut ColumnSet) -> Logical {
        let conditions = std::mem::take(&mut self.scope().rows.numbered);
        let Some(column) = self.number_column() else { return plan };
        visible.insert(column);
        Logical::RowNumbers(Box::new(RowNumberNode { input: plan, column, conditions }))
    }

    /// Whether a column is that of the block's row numbers.
    pub(super) fn is_row_number(&self, id: ColumnId) -> bool {
        let numbers = self.scopes.last().map(|scope| scope.rows.numbers);
        matches!(numbers, Some(RowNumbers::Accepted(Some(column))) if column == id)
    }

    /// The rows of an UPDATE or DELETE that WHERE chooses.
    pub(super) fn chosen_rows(
        &mut self,
        source: Logical,
        condition: Option<&ast::Expr>,
    ) -> SqlResult<Logical> {
        let Some(condition) = condition else { return Ok(source) };
        self.scope().rows.numbers = RowNumbers::Accepted(None);
        let bound = self.filter(condition)?;
        let plain = self.without_numbers(Self::conjuncts(bound));
        let source = self.numbered(source.filter(plain), &mut ColumnSet::default());
        self.scope().rows.numbers = RowNumbers::None;
        Ok(source)
    }
}
