//! Expressions with a syntax of their own.
//! Compat: MariaDB rewrites several of them before it prints; each such case says so.

use super::Writer;
use super::expr::operator_text;
use crate::ast::{
    BinaryOp, CastType, DynamicValue, Expr, ExprKind, GroupConcat, IntervalUnit, Limit, Literal,
    MatchMode, Query, QueryBody, Span, SystemVar, TemporalFormat, TrimSide, VarScope,
};

impl Writer<'_> {
    pub(super) fn special(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::UserVar(name) => self.user_var(name),
            ExprKind::AssignUserVar { name, value } => {
                self.assigned_var(name);
                self.str(":=");
                self.expr(value);
            }
            ExprKind::SystemVar(var) => self.system_var(var),
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref());
            }
            ExprKind::Cast { expr, target } => self.cast(expr, target),
            ExprKind::ConvertUsing { expr, charset } => {
                self.str("convert(");
                self.expr(expr);
                let charset = charset.as_deref().unwrap_or(self.options.charset).to_owned();
                self.display(format_args!(" using {})", full_charset(&charset)));
            }
            ExprKind::Collate { expr, collation } => {
                self.operand(expr, 17);
                self.display(format_args!(" collate {collation}"));
            }
            ExprKind::AddInterval { expr, negated, amount, unit } => {
                self.add_interval(expr, *negated, amount, *unit);
            }
            ExprKind::TimestampAdd { unit, amount, expr } => {
                self.add_interval(expr, false, amount, *unit)
            }
            ExprKind::Call(call) => self.call(call),
            ExprKind::GroupConcat(call) => self.group_concat(call),
            ExprKind::InSubquery { expr, negated, query } => {
                self.str(if *negated { "!(" } else { "" });
                self.compared(expr, " in (", query);
                self.str(if *negated { ")" } else { "" });
            }
            // Compat: `= ANY` is printed as IN.
            ExprKind::Quantified { left, op: BinaryOp::Eq, all: false, query } => {
                self.compared(left, " in (", query);
            }
            ExprKind::Quantified { left, op, all, query } => {
                let word = if *all { "all" } else { "any" };
                self.compared(left, &format!(" {} {word} (", operator_text(*op)), query);
            }
            ExprKind::Row(items) => {
                self.str("(");
                self.exprs(items);
                self.str(")");
            }
            ExprKind::Subquery(query) => {
                self.str("(");
                self.query(query);
                self.str(")");
            }
            ExprKind::Exists(query) => {
                self.str("exists(");
                self.query(&with_one_row(query));
                self.str(")");
            }
            _ => self.special_call(expr),
        }
    }

    /// Calls whose arguments are no plain list.
    fn special_call(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Extract { unit, expr } => {
                self.display(format_args!("extract({} from ", unit.name().to_ascii_lowercase()));
                self.expr(expr);
                self.str(")");
            }
            ExprKind::Trim { side, what, expr } => self.trim(*side, what.as_deref(), expr),
            ExprKind::Position { needle, haystack } => {
                self.call_text("locate", &[needle, haystack])
            }
            ExprKind::TimestampDiff { unit, from, to } => {
                self.display(format_args!("timestampdiff({},", unit.name()));
                self.list(&[from, to], |w, e| w.expr(e));
                self.str(")");
            }
            ExprKind::GetFormat { kind, name } => {
                self.str(match kind {
                    TemporalFormat::Date => "get_format(DATE, ",
                    TemporalFormat::Time => "get_format(TIME, ",
                    TemporalFormat::DateTime => "get_format(DATETIME, ",
                });
                self.expr(name);
                self.str(")");
            }
            ExprKind::Char { codes, charset } => {
                self.str("char(");
                self.exprs(codes);
                if let Some(charset) = charset {
                    self.display(format_args!(" using {}", full_charset(charset)));
                }
                self.str(")");
            }
            ExprKind::WeightString { .. } => self.weight_string(expr),
            ExprKind::ColumnAdd { columns, values } => {
                self.column_add(columns.as_deref(), values);
            }
            ExprKind::ColumnGet { columns, name, target } => {
                self.str("column_get(");
                self.list(&[columns, name], |w, e| w.expr(e));
                self.str(" as ");
                self.cast_type(target);
                self.str(")");
            }
            ExprKind::Match { columns, query, mode } => {
                self.str("(match ");
                self.list(columns, Self::column);
                self.str(" against (");
                self.expr(query);
                self.str(match mode {
                    MatchMode::NaturalLanguage => "))",
                    MatchMode::QueryExpansion => " with query expansion))",
                    MatchMode::Boolean => " in boolean mode))",
                });
            }
            _ => self.column_call(expr),
        }
    }

    /// Calls whose argument is the name of a column.
    fn column_call(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Default(None) => self.str("default"),
            ExprKind::Ignore => self.str("ignore"),
            ExprKind::Default(Some(column)) => {
                self.str("default(");
                self.column(column);
                self.str(")");
            }
            ExprKind::Values(column) => {
                self.str("value(");
                self.column(column);
                self.str(")");
            }
            ExprKind::NextValue(name) => {
                self.str("nextval(");
                self.table_name(name);
                self.str(")");
            }
            ExprKind::PreviousValue(name) => {
                self.str("lastval(");
                self.table_name(name);
                self.str(")");
            }
            ExprKind::SetValue { sequence, value, is_used, round } => {
                self.str("setval(");
                self.table_name(sequence);
                self.display(format_args!(",{value},{},{round})", u8::from(*is_used)));
            }
            // The callers have handled all other kinds.
            _ => {}
        }
    }

    /// Compat: levels and directions are printed as one number.
    fn weight_string(&mut self, expr: &Expr) {
        let ExprKind::WeightString { expr, length, binary, levels, descending, reversed } =
            &expr.kind
        else {
            return;
        };
        self.str("weight_string(");
        match length.filter(|_| *binary) {
            Some(length) => self.cast(expr, &CastType::Binary(Some(length))),
            None => self.expr(expr),
        }
        let padded = if length.is_some() { 64 } else { 0 };
        // Compat: without levels it prints level 1, and a text with a length has level 1 only.
        let levels = if *levels == 0 || length.is_some() { 1 } else { *levels };
        let directions = u32::from(*descending) << 8 | u32::from(*reversed) << 16;
        let flags = u32::from(levels) | padded | directions;
        self.display(format_args!(",0,{},{flags})", length.unwrap_or(0)));
    }

    fn column_add(&mut self, columns: Option<&Expr>, values: &[DynamicValue]) {
        match columns {
            Some(columns) => {
                self.str("column_add(");
                self.expr(columns);
                self.str(",");
            }
            None => self.str("column_create("),
        }
        self.list(values, |w, value| {
            w.expr(&value.name);
            w.str(",");
            w.expr(&value.value);
            if let Some(target) = &value.target {
                w.str(" AS ");
                w.dynamic_type(target);
            }
        });
        self.str(")");
    }

    fn compared(&mut self, left: &Expr, with: &str, query: &crate::ast::Query) {
        self.operand(left, 5);
        self.str(with);
        self.query(query);
        self.str(")");
    }

    fn user_var(&mut self, name: &str) {
        self.str("@");
        self.name(name);
    }

    /// Compat: the name is not quoted in an assignment, unless it needs quotes to be parsed.
    fn assigned_var(&mut self, name: &str) {
        match name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            true => self.display(format_args!("@{name}")),
            false => self.user_var(name),
        }
    }

    fn system_var(&mut self, var: &SystemVar) {
        self.str(match var.scope {
            Some(VarScope::Global) => "@@global.",
            Some(VarScope::Session) => "@@session.",
            None => "@@",
        });
        if let Some(instance) = &var.instance {
            self.display(format_args!("{instance}."));
        }
        self.display(&var.name);
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
    ) {
        self.str("case ");
        if let Some(operand) = operand {
            self.expr(operand);
            self.str(" ");
        }
        for (when, then) in branches {
            self.str("when ");
            self.expr(when);
            self.str(" then ");
            self.expr(then);
            self.str(" ");
        }
        if let Some(otherwise) = otherwise {
            self.str("else ");
            self.expr(otherwise);
            self.str(" ");
        }
        self.str("end");
    }

    fn add_interval(&mut self, expr: &Expr, negated: bool, amount: &Expr, unit: IntervalUnit) {
        self.operand(expr, 11);
        self.str(if negated { " - interval " } else { " + interval " });
        match is_ambiguous_amount(amount) {
            true => self.operand(amount, u8::MAX),
            false => self.expr(amount),
        }
        self.str(" ");
        self.str(&unit.name().to_ascii_lowercase());
    }

    /// Compat: trimming blanks from one end is printed as LTRIM or RTRIM.
    fn trim(&mut self, side: TrimSide, what: Option<&Expr>, expr: &Expr) {
        self.dialect(match (side, what) {
            (TrimSide::Leading, None) => "ltrim",
            (TrimSide::Trailing, None) => "rtrim",
            _ => "trim",
        });
        let words = match (side, what) {
            (TrimSide::Both, None) => return self.call_text("trim", &[expr]),
            (TrimSide::Leading, None) => return self.call_text("ltrim", &[expr]),
            (TrimSide::Trailing, None) => return self.call_text("rtrim", &[expr]),
            (TrimSide::Both, _) => "trim(both ",
            (TrimSide::Leading, _) => "trim(leading ",
            (TrimSide::Trailing, _) => "trim(trailing ",
        };
        self.str(words);
        if let Some(what) = what {
            self.expr(what);
        }
        self.str(" from ");
        self.expr(expr);
        self.str(")");
    }

    fn group_concat(&mut self, call: &GroupConcat) {
        self.str(if call.distinct { "group_concat(distinct " } else { "group_concat(" });
        self.exprs(&call.args);
        self.order_of_values(&call.order_by);
        self.str(" separator ");
        match &call.separator {
            Some(separator) => self.string(separator),
            None => self.str("','"),
        }
        self.limit(call.limit.as_deref());
        self.str(")");
    }
}

/// Compat: `utf8` is printed as `utf8mb3`.
pub(super) fn full_charset(name: &str) -> &str {
    if name.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { name }
}

/// Compat: MariaDB reads at most one row for EXISTS and prints that as LIMIT 1, except for VALUES.
fn with_one_row(query: &Query) -> Query {
    let mut query = query.clone();
    if matches!(query.body, QueryBody::Values(_)) && query.limit.is_none() {
        return query;
    }
    let none = Limit { count: None, offset: None, with_ties: false, rows_examined: None };
    let limit = query.limit.get_or_insert_with(|| none.into());
    let is_zero = |count: &Expr| count.kind == ExprKind::Literal(Literal::Int(0));
    if !limit.count.as_ref().is_some_and(is_zero) {
        let kind = ExprKind::Literal(Literal::Int(1));
        limit.count = Some(Expr { kind, span: Span::default() });
    }
    query
}

/// Whether the text of an amount might be read otherwise behind INTERVAL. One that begins with a
/// row would be the function of that name, and COLLATE is not read behind a parenthesis there.
fn is_ambiguous_amount(amount: &Expr) -> bool {
    match &amount.kind {
        ExprKind::Binary { left, .. } => is_ambiguous_amount(left),
        ExprKind::Row(_)
        | ExprKind::Collate { .. }
        | ExprKind::InList { .. }
        | ExprKind::InSubquery { .. }
        | ExprKind::Quantified { .. }
        | ExprKind::Between { .. }
        | ExprKind::Like { .. } => true,
        _ => false,
    }
}
