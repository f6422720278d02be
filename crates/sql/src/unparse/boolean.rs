//! Conditions. Compat: MariaDB pushes NOT down and compares bare columns with zero before it
//! prints.

use super::Writer;
use super::expr::operator_text;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

impl Writer<'_> {
    /// Operands of AND or OR.
    pub(super) fn conditions(&mut self, operands: &[Expr], word: &str, level: u8) {
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 {
                self.str(word);
            }
            self.condition(operand, level, word);
        }
    }

    /// A whole condition of WHERE, HAVING or ON.
    pub(super) fn whole_condition(&mut self, expr: &Expr) {
        self.condition(expr, 0, "");
    }

    fn condition(&mut self, expr: &Expr, level: u8, word: &str) {
        match &expr.kind {
            ExprKind::Column(_) => {
                self.expr(expr);
                self.str(" <> 0");
            }
            // A chain inside a chain of the same operator needs no parentheses.
            ExprKind::And(_) if word == " and " => self.expr(expr),
            ExprKind::Or(_) if word == " or " => self.expr(expr),
            _ => self.operand(expr, level),
        }
    }

    /// NOT of a condition.
    pub(super) fn negated(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::And(operands) => self.negated_list(operands, " or "),
            ExprKind::Or(operands) => self.negated_list(operands, " and "),
            ExprKind::Binary { op, left, right } if opposite(*op).is_some() => {
                self.operand(left, 5);
                self.display(format_args!(" {} ", opposite(*op).map_or("", operator_text)));
                self.operand(right, 6);
            }
            ExprKind::Binary { op: BinaryOp::Xor, left, right } => {
                // Compat: the operand whose opposite is shorter is negated.
                if is_boolean(&left.kind) || !is_boolean(&right.kind) {
                    self.negated_side(left);
                    self.str(" xor ");
                    self.operand(right, 3);
                } else {
                    self.operand(left, 3);
                    self.str(" xor ");
                    self.negated_side(right);
                }
            }
            ExprKind::Unary { op: UnaryOp::Not, expr } if is_boolean(&expr.kind) => {
                self.condition(expr, 5, "");
            }
            ExprKind::Unary { op: UnaryOp::Not, expr } => {
                self.operand(expr, 5);
                self.str(" <> 0");
            }
            ExprKind::Is { expr: inner, test, negated } => {
                let kind = ExprKind::Is { expr: inner.clone(), test: *test, negated: !negated };
                self.expr(&Expr { kind, span: expr.span });
            }
            ExprKind::Between { .. } | ExprKind::InList { .. } | ExprKind::Like { .. } => {
                self.expr(&flipped(expr));
            }
            ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Param(_) => {
                self.expr(expr);
                self.str(" = 0");
            }
            _ => {
                self.str("!");
                self.operand(expr, 16);
            }
        }
    }

    /// NOT of an operand of XOR.
    fn negated_side(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unary { op: UnaryOp::Not, expr } => self.operand(expr, 3),
            ExprKind::And(_) | ExprKind::Or(_) => {
                self.str("(");
                self.negated(expr);
                self.str(")");
            }
            _ => self.negated(expr),
        }
    }

    fn negated_list(&mut self, operands: &[Expr], word: &str) {
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 {
                self.str(word);
            }
            let parens = word == " and " && matches!(operand.kind, ExprKind::And(_));
            self.str(if parens { "(" } else { "" });
            self.negated(operand);
            self.str(if parens { ")" } else { "" });
        }
    }
}

/// Whether the value of an expression is always true, false or NULL.
fn is_boolean(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Binary { op, .. } => opposite(*op).is_some() || *op == BinaryOp::NullSafeEq,
        ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Is { .. } => true,
        ExprKind::Unary { op, .. } => *op == UnaryOp::Not,
        ExprKind::Between { .. } | ExprKind::InList { .. } | ExprKind::Like { .. } => true,
        ExprKind::Regexp { .. } | ExprKind::Exists(_) | ExprKind::InSubquery { .. } => true,
        _ => false,
    }
}

/// The comparison with the opposite result.
fn opposite(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        _ => return None,
    })
}

/// The predicate with its NOT added or removed.
fn flipped(expr: &Expr) -> Expr {
    let mut flipped = expr.clone();
    if let ExprKind::Between { negated, .. }
    | ExprKind::InList { negated, .. }
    | ExprKind::Like { negated, .. } = &mut flipped.kind
    {
        *negated = !*negated;
    }
    flipped
}
