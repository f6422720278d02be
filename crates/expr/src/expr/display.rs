//! Expressions as text, in the style MariaDB prints them in `EXPLAIN EXTENDED` and error messages.
//!
//! Columns print as `#position`. The planner knows their names and substitutes them by
//! [`Expr::display_with`].

use std::fmt;

use selkie_types::{Value, stack};

use super::{Argument, Expr, ExprKind, SequenceAsk, StoredCall, SubqueryKind};

/// Gives the name of the column at a position.
pub type ColumnNames<'a> = &'a dyn Fn(usize) -> String;

/// An expression to print with column names.
pub struct ExprDisplay<'a> {
    expr: &'a Expr,
    names: ColumnNames<'a>,
}

impl Expr {
    /// The text with columns named by `names`.
    pub fn display_with<'a>(&'a self, names: ColumnNames<'a>) -> ExprDisplay<'a> {
        ExprDisplay { expr: self, names }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(f, self, &|_| String::new())
    }
}

impl fmt::Display for ExprDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(f, self.expr, self.names)
    }
}

/// A column by the name it is given; without one, by its name in the table.
fn write_column(f: &mut fmt::Formatter<'_>, e: &Expr, at: usize, name: &str) -> fmt::Result {
    match e.origin.names() {
        _ if !name.is_empty() => f.write_str(name),
        Some((schema, table, column)) => write!(f, "`{schema}`.`{table}`.`{column}`"),
        None => write!(f, "#{at}"),
    }
}

fn write_expr(f: &mut fmt::Formatter<'_>, e: &Expr, names: ColumnNames<'_>) -> fmt::Result {
    stack::ensure();
    match &e.kind {
        ExprKind::Literal(v) => write_literal(f, e, v),
        ExprKind::Column(at) => write_column(f, e, *at, &names(*at)),
        ExprKind::Parameter(_) => f.write_str("?"),
        ExprKind::Call(c) if c.function.is_implicit() => write_expr(f, &c.args[0], names),
        ExprKind::Call(c) => write_call(f, c.function.name(), &c.args, names),
        ExprKind::Compare(c) => {
            write_expr(f, &c.left, names)?;
            write!(f, " {} ", c.op.symbol())?;
            write_expr(f, &c.right, names)
        }
        ExprKind::And(v) => write_list(f, v, " and ", names),
        ExprKind::Or(v) => {
            f.write_str("(")?;
            write_list(f, v, " or ", names)?;
            f.write_str(")")
        }
        ExprKind::Not(e) => {
            f.write_str("!(")?;
            write_expr(f, e, names)?;
            f.write_str(")")
        }
        ExprKind::IsNull(e) => {
            write_expr(f, e, names)?;
            f.write_str(" is null")
        }
        ExprKind::InList(l) => {
            write_expr(f, &l.value, names)?;
            f.write_str(" in (")?;
            write_list(f, &l.items, ",", names)?;
            f.write_str(")")
        }
        ExprKind::Case(c) => write_case(f, c, names),
        ExprKind::Hold(hold) => write_hold(f, hold, names),
        ExprKind::Held(held) => write!(f, "value#{}", held.number),
        ExprKind::Coalesce(v) => write_call(f, "coalesce", v, names),
        ExprKind::Subquery(s) => match s.kind {
            SubqueryKind::Exists => write!(f, "exists(subquery#{})", s.id.0),
            _ => write!(f, "(subquery#{})", s.id.0),
        },
        ExprKind::Match(m) => f.write_str(&m.text),
        ExprKind::UserVariable(name, _) => write!(f, "@`{name}`"),
        ExprKind::AssignUserVariable(name, e) => {
            write!(f, "@`{name}`:=")?;
            write_expr(f, e, names)
        }
        ExprKind::SystemVariable(_, name) => write!(f, "@@{name}"),
        ExprKind::Stored(s) => {
            write!(f, "`{}`.", s.schema)?;
            write_call(f, &format!("`{}`", s.name), &arguments(s), names)
        }
        ExprKind::Sequence(s) => {
            let name = format!("`{}`.`{}`", s.schema, s.name);
            match s.ask {
                SequenceAsk::Next => write!(f, "nextval({name})"),
                SequenceAsk::Previous => write!(f, "lastval({name})"),
                SequenceAsk::Set { value, is_used, round } => {
                    write!(f, "setval({name},{value},{},{round})", u8::from(is_used))
                }
            }
        }
        ExprKind::Row(v) => {
            f.write_str("(")?;
            write_list(f, v, ",", names)?;
            f.write_str(")")
        }
    }
}

fn write_list(
    f: &mut fmt::Formatter<'_>,
    list: &[Expr],
    separator: &str,
    names: ColumnNames<'_>,
) -> fmt::Result {
    for (i, e) in list.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        write_expr(f, e, names)?;
    }
    Ok(())
}

/// The arguments of a stored function, its rows as such.
fn arguments(call: &StoredCall) -> Vec<Expr> {
    let whole = |argument| match argument {
        Argument::Value(e) => e,
        Argument::Row(fields) => Expr::row(fields),
    };
    call.arguments(call.args.iter().cloned()).into_iter().map(whole).collect()
}

fn write_call(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    args: &[Expr],
    names: ColumnNames<'_>,
) -> fmt::Result {
    let operator = !name.bytes().any(|b| b.is_ascii_alphabetic() || b == b'`');
    match (operator, args) {
        (true, [a]) => {
            f.write_str(name)?;
            write_expr(f, a, names)
        }
        (true, [a, b]) => {
            write_operand(f, a, names)?;
            write!(f, " {name} ")?;
            write_operand(f, b, names)
        }
        _ => {
            write!(f, "{}(", name.to_ascii_lowercase())?;
            write_list(f, args, ",", names)?;
            f.write_str(")")
        }
    }
}

/// An operand of a binary operator; in parentheses if it is such an operator itself.
fn write_operand(f: &mut fmt::Formatter<'_>, e: &Expr, names: ColumnNames<'_>) -> fmt::Result {
    let mut inner = e;
    while let ExprKind::Call(c) = &inner.kind
        && c.function.is_implicit()
    {
        inner = &c.args[0];
    }
    let nested = match &inner.kind {
        ExprKind::Call(c) => {
            c.args.len() == 2 && !c.function.name().bytes().any(|b| b.is_ascii_alphabetic())
        }
        ExprKind::Compare(_) | ExprKind::And(_) => true,
        _ => false,
    };
    if nested {
        f.write_str("(")?;
    }
    write_expr(f, inner, names)?;
    if nested {
        f.write_str(")")?;
    }
    Ok(())
}

/// The value, and the expression behind it, which shows where it is used.
fn write_hold(
    f: &mut fmt::Formatter<'_>,
    hold: &super::Hold,
    names: ColumnNames<'_>,
) -> fmt::Result {
    write_expr(f, &hold.value, names)?;
    f.write_str(" in ")?;
    write_expr(f, &hold.body, names)
}

fn write_case(f: &mut fmt::Formatter<'_>, c: &super::Case, names: ColumnNames<'_>) -> fmt::Result {
    f.write_str("case")?;
    for (when, then) in &c.whens {
        f.write_str(" when ")?;
        write_expr(f, when, names)?;
        f.write_str(" then ")?;
        write_expr(f, then, names)?;
    }
    if let Some(e) = &c.otherwise {
        f.write_str(" else ")?;
        write_expr(f, e, names)?;
    }
    f.write_str(" end")
}

fn write_literal(f: &mut fmt::Formatter<'_>, e: &Expr, value: &Value) -> fmt::Result {
    match value {
        Value::Null => f.write_str("NULL"),
        Value::Bytes(b) if e.is_hex() => {
            f.write_str("0x")?;
            b.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
        }
        Value::Bytes(b) => write!(f, "'{}'", String::from_utf8_lossy(b).replace('\'', "\\'")),
        Value::Date(_) => write!(f, "DATE'{}'", crate::text::display(value, &e.ty)),
        Value::Time(_) => write!(f, "TIME'{}'", crate::text::display(value, &e.ty)),
        Value::DateTime(_) => write!(f, "TIMESTAMP'{}'", crate::text::display(value, &e.ty)),
        _ => f.write_str(&crate::text::display(value, &e.ty)),
    }
}
