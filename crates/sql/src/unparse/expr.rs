//! Operators, with parentheses only where precedence asks for them.
//! The text must parse to the same tree, since stored views and defaults are read again from it.

use selkie_types::stack;

use super::Writer;
use crate::ast::{BinaryOp, ColumnRef, Expr, ExprKind, IsTest, UnaryOp};

/// Binding power of an expression; the numbers are those of the parser (`parser::expr::prec`).
pub(super) fn precedence(kind: &ExprKind) -> u8 {
    match kind {
        ExprKind::InSubquery { negated: true, .. } => 16,
        ExprKind::Regexp { negated: true, .. } => 16,
        ExprKind::Or(_) => 1,
        ExprKind::And(_) => 3,
        ExprKind::Is { .. } | ExprKind::Quantified { .. } => 5,
        ExprKind::Between { .. } => 6,
        ExprKind::Like { .. } | ExprKind::Regexp { .. } | ExprKind::InList { .. } => 7,
        ExprKind::InSubquery { .. } => 7,
        ExprKind::AddInterval { .. } | ExprKind::TimestampAdd { .. } => 11,
        ExprKind::Binary { op, .. } => operator(*op).1,
        ExprKind::Unary { op: UnaryOp::Not, .. } => 4,
        ExprKind::Unary { op: UnaryOp::Binary, .. } => 20,
        ExprKind::Unary { .. } => 16,
        ExprKind::Collate { .. } => 17,
        ExprKind::Call(call) if call.name.is("mod") && call.args.len() == 2 => 12,
        ExprKind::Call(call) if call.name.is("datediff") && call.args.len() == 2 => 11,
        ExprKind::Call(call) if call.name.is("isnull") && call.args.len() == 1 => 5,
        ExprKind::AssignUserVar { .. } => 0,
        _ => 20,
    }
}

/// An operator's text and precedence.
fn operator(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Xor => ("xor", 2),
        BinaryOp::Eq | BinaryOp::SoundsLike => ("=", 5),
        BinaryOp::NullSafeEq => ("<=>", 5),
        BinaryOp::Ne => ("<>", 5),
        BinaryOp::Lt => ("<", 5),
        BinaryOp::Le => ("<=", 5),
        BinaryOp::Gt => (">", 5),
        BinaryOp::Ge => (">=", 5),
        BinaryOp::BitOr => ("|", 8),
        BinaryOp::BitAnd => ("&", 9),
        BinaryOp::ShiftLeft => ("<<", 10),
        BinaryOp::ShiftRight => (">>", 10),
        BinaryOp::Add => ("+", 11),
        BinaryOp::Sub => ("-", 11),
        BinaryOp::Mul => ("*", 12),
        BinaryOp::Div => ("/", 12),
        BinaryOp::IntDiv => ("DIV", 12),
        BinaryOp::Mod => ("MOD", 12),
        BinaryOp::BitXor => ("^", 13),
        BinaryOp::Concat => ("concat", 20),
    }
}

/// Text of a comparison operator.
pub(super) fn operator_text(op: BinaryOp) -> &'static str {
    operator(op).0
}

impl Writer<'_> {
    /// An expression, in parentheses if its binding power is less than `min`.
    pub(super) fn operand(&mut self, expr: &Expr, min: u8) {
        if precedence(&expr.kind) < min {
            self.str("(");
            self.expr(expr);
            self.str(")");
        } else {
            self.expr(expr);
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        stack::ensure();
        match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Param(at) => match self.options.parameters.get(*at as usize) {
                Some(text) => self.str(text),
                None => self.str("?"),
            },
            ExprKind::Column(column) => self.column(column),
            ExprKind::And(operands) => self.conditions(operands, " and ", 4),
            ExprKind::Or(operands) => self.conditions(operands, " or ", 2),
            ExprKind::Unary { op, expr } => self.unary(*op, expr),
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right),
            ExprKind::Is { expr, test, negated } => {
                self.operand(expr, 5);
                self.str(if *negated { " is not " } else { " is " });
                self.str(match test {
                    IsTest::Null | IsTest::Unknown => "null",
                    IsTest::True => "true",
                    IsTest::False => "false",
                });
            }
            ExprKind::Between { expr, negated, low, high } => {
                self.operand(expr, 7);
                self.str(if *negated { " not between " } else { " between " });
                self.operand(low, 7);
                self.str(" and ");
                self.operand(high, 7);
            }
            ExprKind::InList { expr, negated, list } => self.in_list(expr, *negated, list),
            ExprKind::Like { expr, negated, pattern, escape } => {
                self.operand(expr, 7);
                // Compat: MariaDB prints two blanks before `not`.
                self.str(if *negated { "  not like " } else { " like " });
                self.operand(pattern, 8);
                if let Some(escape) = escape {
                    self.str(" escape ");
                    self.operand(escape, 8);
                }
            }
            ExprKind::Regexp { expr, negated, pattern } => {
                self.str(if *negated { "!(" } else { "" });
                self.operand(expr, 7);
                self.str(" regexp ");
                self.operand(pattern, 8);
                self.str(if *negated { ")" } else { "" });
            }
            _ => self.special(expr),
        }
    }

    pub(super) fn column(&mut self, column: &ColumnRef) {
        if let Some(schema) = &column.schema {
            self.schema(schema);
        }
        if let Some(table) = &column.table {
            self.ident(table);
            self.str(".");
        }
        self.ident(&column.name);
    }

    fn unary(&mut self, op: UnaryOp, expr: &Expr) {
        match op {
            UnaryOp::Neg => {
                // Compat: two signs before a number are none.
                let (negative, operand) = match expr.signed_number() {
                    Some((negative, number)) => (!negative, number),
                    None => (true, expr),
                };
                self.str(if negative { "-" } else { "" });
                self.operand(operand, 16);
            }
            // Compat: MariaDB does not print a plus sign.
            UnaryOp::Plus => self.operand(expr, 16),
            UnaryOp::BitNot => {
                self.str("~");
                self.operand(expr, 16);
            }
            UnaryOp::Not => self.negated(expr),
            UnaryOp::Binary => {
                self.str("cast(");
                self.expr(expr);
                self.str(" as char charset binary)");
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        match op {
            BinaryOp::Concat => self.call_text("concat", &[left, right]),
            BinaryOp::SoundsLike => {
                self.call_text("soundex", &[left]);
                self.str(" = ");
                self.call_text("soundex", &[right]);
            }
            _ => self.infix(op, left, right),
        }
    }

    /// `left op right` of a left-associative operator.
    pub(super) fn infix(&mut self, op: BinaryOp, left: &Expr, right: &Expr) {
        let (text, level) = operator(op);
        self.operand(left, level);
        self.display(format_args!(" {text} "));
        self.operand(right, level + 1);
    }

    /// Compat: IN with a list of one item is printed as a comparison.
    fn in_list(&mut self, expr: &Expr, negated: bool, list: &[Expr]) {
        if let [single] = list {
            let op = if negated { BinaryOp::Ne } else { BinaryOp::Eq };
            return self.infix(op, expr, single);
        }
        self.operand(expr, 7);
        self.str(if negated { " not in (" } else { " in (" });
        self.exprs(list);
        self.str(")");
    }

    /// `name(args)`.
    pub(super) fn call_text(&mut self, name: &str, args: &[&Expr]) {
        self.str(name);
        self.str("(");
        self.list(args, |w, arg| w.expr(arg));
        self.str(")");
    }
}
