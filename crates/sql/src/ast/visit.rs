//! Walks over expressions: the operands of a node of any kind. Queries inside an expression are not
//! entered.

use selkie_types::stack;

use super::{
    ColumnRef, DynamicValue, Expr, ExprKind, FunctionCall, IsTest, Literal, OrderItem, TableName,
    UnaryOp,
};

/// Pushes the operands of an expression onto a list, as shared or mutable references.
macro_rules! operands {
    ($kind:expr, $out:ident, $iter:ident, $deref:ident, $whole:ident) => {
        match $kind {
            ExprKind::AssignUserVar { value: expr, .. }
            | ExprKind::Unary { expr, .. }
            | ExprKind::Is { expr, .. }
            | ExprKind::InSubquery { expr, .. }
            | ExprKind::Quantified { left: expr, .. }
            | ExprKind::Cast { expr, .. }
            | ExprKind::ConvertUsing { expr, .. }
            | ExprKind::Collate { expr, .. }
            | ExprKind::Extract { expr, .. }
            | ExprKind::GetFormat { name: expr, .. }
            | ExprKind::WeightString { expr, .. }
            | ExprKind::Match { query: expr, .. } => $out.push(expr),
            ExprKind::Binary { left: a, right: b, .. }
            | ExprKind::Regexp { expr: a, pattern: b, .. }
            | ExprKind::AddInterval { expr: a, amount: b, .. }
            | ExprKind::Position { needle: a, haystack: b }
            | ExprKind::TimestampAdd { amount: a, expr: b, .. }
            | ExprKind::TimestampDiff { from: a, to: b, .. } => {
                $out.push(a);
                $out.push(b);
            }
            ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Row(list) => {
                $out.extend(list.$iter());
            }
            ExprKind::ColumnAdd { columns, values } => {
                $out.extend(columns.$deref());
                for DynamicValue { name, value, .. } in values.$iter() {
                    $out.push(name);
                    $out.push(value);
                }
            }
            ExprKind::ColumnGet { columns, name, .. } => {
                $out.push(columns);
                $out.push(name);
            }
            ExprKind::Char { codes, .. } => $out.extend(codes.$iter()),
            ExprKind::Between { expr, low, high, .. } => {
                $out.push(expr);
                $out.push(low);
                $out.push(high);
            }
            ExprKind::InList { expr, list, .. } => {
                $out.push(expr);
                $out.extend(list.$iter());
            }
            ExprKind::Like { expr, pattern, escape, .. } => {
                $out.push(expr);
                $out.push(pattern);
                $out.extend(escape.$deref());
            }
            ExprKind::Trim { what, expr, .. } => {
                $out.extend(what.$deref());
                $out.push(expr);
            }
            ExprKind::Case { operand, branches, otherwise } => {
                $out.extend(operand.$deref());
                for (condition, result) in branches.$iter() {
                    $out.push(condition);
                    $out.push(result);
                }
                $out.extend(otherwise.$deref());
            }
            ExprKind::Call(call) => {
                let FunctionCall { args, named, order_by, .. } = call.$whole();
                $out.extend(args.$iter());
                for (_, expr) in named.$iter() {
                    $out.push(expr);
                }
                for OrderItem { expr, .. } in order_by.$iter() {
                    $out.push(expr);
                }
            }
            ExprKind::GroupConcat(call) => $out.extend(call.args.$iter()),
            ExprKind::Literal(_)
            | ExprKind::Param(_)
            | ExprKind::Column(_)
            | ExprKind::UserVar(_)
            | ExprKind::SystemVar(_)
            | ExprKind::Default(_)
            | ExprKind::Ignore
            | ExprKind::Values(_)
            | ExprKind::Subquery(_)
            | ExprKind::Exists(_)
            | ExprKind::NextValue(_)
            | ExprKind::PreviousValue(_)
            | ExprKind::SetValue { .. } => {}
        }
    };
}

impl Expr {
    /// A number behind any signs: whether these make it negative, and its literal.
    pub fn signed_number(&self) -> Option<(bool, &Self)> {
        stack::ensure();
        match &self.kind {
            ExprKind::Unary { op: UnaryOp::Neg, expr } => {
                expr.signed_number().map(|(negative, number)| (!negative, number))
            }
            ExprKind::Unary { op: UnaryOp::Plus, expr } => expr.signed_number(),
            ExprKind::Literal(Literal::Int(_) | Literal::Decimal(_) | Literal::Float { .. }) => {
                Some((false, self))
            }
            _ => None,
        }
    }

    /// The operands in the order of the text.
    pub fn operands(&self) -> Vec<&Self> {
        let mut out: Vec<&Self> = Vec::new();
        operands!(&self.kind, out, iter, as_deref, as_ref);
        out
    }

    /// The tested expression of `IS NULL`, `IS UNKNOWN` or `ISNULL()`.
    pub fn tested_null(&self) -> Option<&Self> {
        match &self.kind {
            ExprKind::Is { expr, test: IsTest::Null | IsTest::Unknown, negated: false } => {
                Some(expr)
            }
            ExprKind::Call(call) if call.schema.is_none() && call.name.is("isnull") => {
                call.args.first().filter(|_| call.args.len() == 1)
            }
            _ => None,
        }
    }

    /// The operands in the order of the text.
    pub fn operands_mut(&mut self) -> Vec<&mut Self> {
        let mut out: Vec<&mut Self> = Vec::new();
        operands!(&mut self.kind, out, iter_mut, as_deref_mut, as_mut);
        out
    }

    /// Calls `visit` with the expression and all parts of it, outermost first, until `visit` gives
    /// a value.
    pub fn find<'a, T>(&'a self, visit: &mut dyn FnMut(&'a Self) -> Option<T>) -> Option<T> {
        stack::ensure();
        visit(self).or_else(|| self.operands().into_iter().find_map(|e| e.find(visit)))
    }

    /// Whether the expression is or contains a subquery.
    pub fn has_subquery(&self) -> bool {
        let is_subquery = |e: &Self| {
            matches!(
                e.kind,
                ExprKind::Subquery(_)
                    | ExprKind::Exists(_)
                    | ExprKind::InSubquery { .. }
                    | ExprKind::Quantified { .. }
            )
        };
        self.find(&mut |e| is_subquery(e).then_some(())).is_some()
    }

    /// Calls `visit` with every sequence named in the expression.
    pub fn for_each_sequence_mut(&mut self, visit: &mut dyn FnMut(&mut TableName)) {
        stack::ensure();
        match &mut self.kind {
            ExprKind::NextValue(name) | ExprKind::PreviousValue(name) => visit(name),
            ExprKind::SetValue { sequence, .. } => visit(sequence),
            _ => {}
        }
        self.operands_mut().into_iter().for_each(|e| e.for_each_sequence_mut(visit));
    }

    /// Calls `visit` with every column named in the expression.
    pub fn for_each_column_mut(&mut self, visit: &mut dyn FnMut(&mut ColumnRef)) {
        stack::ensure();
        match &mut self.kind {
            ExprKind::Column(column) => visit(column),
            ExprKind::Default(Some(column)) | ExprKind::Values(column) => visit(column),
            ExprKind::Match { columns, .. } => columns.iter_mut().for_each(&mut *visit),
            _ => {}
        }
        self.operands_mut().into_iter().for_each(|e| e.for_each_column_mut(visit));
    }
}
