//! Function calls. Compat: MariaDB prints the name of its item, not the synonym that was written.
//! Some calls become operators or get constant arguments for the same reason.

use selkie_types::SqlMode;
use selkie_types::geometry::printed_name;

use super::Writer;
use crate::ast::{BinaryOp, Expr, ExprKind, FunctionCall, Ident, Literal};
use crate::parser::oracle::{has_own_meaning, written_name};

/// The name that MariaDB prints for a synonym.
fn canonical(name: &str) -> &str {
    match name {
        "substring" | "mid" => "substr",
        "length" | "lengthb" => "octet_length",
        "character_length" => "char_length",
        "upper" => "ucase",
        "lower" => "lcase",
        "day" => "dayofmonth",
        "ceil" => "ceiling",
        "power" => "pow",
        "schema" => "database",
        "now" => "current_timestamp",
        "session_user" | "system_user" => "user",
        "position" => "locate",
        "stddev" | "stddev_pop" => "std",
        "var_pop" => "variance",
        "sha1" => "sha",
        "atan2" => "atan",
        "nvl" => "ifnull",
        _ => printed_name(name).unwrap_or(name),
    }
}

/// Whether the function takes a number of fraction digits; the number 0 is not printed.
fn is_clock(name: &str) -> bool {
    let clocks = ["now", "current_timestamp", "curtime", "sysdate", "utc_time", "utc_timestamp"];
    clocks.contains(&name)
}

fn is_zero(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Literal(Literal::Int(0)))
}

impl Writer<'_> {
    pub(super) fn call(&mut self, call: &FunctionCall) {
        if call.name.value.starts_with('<') && !call.name.quoted {
            return self.shown_call(call);
        }
        let name = call.name.value.to_ascii_lowercase();
        if call.schema.is_none() && call.over.is_none() {
            match (name.as_str(), call.args.as_slice()) {
                ("trim_oracle", [e, what]) => return self.own_trim("both", what, e),
                ("ltrim_oracle", [e, what]) => return self.own_trim("leading", what, e),
                ("rtrim_oracle", [e, what]) => return self.own_trim("trailing", what, e),
                ("mod", [a, b]) => return self.infix(BinaryOp::Mod, a, b),
                ("date", [a]) => return self.plain_cast(a, "date"),
                // Compat: outside queries these lose the fraction. In queries they are printed as
                // casts only if the digits of the argument are known.
                ("time", [a]) if !self.of_query => return self.plain_cast(a, "time"),
                ("timestamp", [a]) if !self.of_query => return self.plain_cast(a, "datetime"),
                ("isnull", [a]) => {
                    self.operand(a, 5);
                    return self.str(" is null");
                }
                ("datediff", [a, b]) => return self.difference(a, b),
                ("instr", [text, what]) => return self.swapped("locate", what, text),
                ("bin", [a]) => return self.with_constants("conv", a, "10,2"),
                ("oct", [a]) => return self.with_constants("conv", a, "10,8"),
                ("round", [a]) => return self.with_constants("round", a, "0"),
                ("weekofyear", [a]) => return self.with_constants("week", a, "3"),
                (clock, [digits]) if is_clock(clock) && is_zero(digits) => {
                    self.str(canonical(clock));
                    return self.str("()");
                }
                ("yearweek", [a]) => return self.with_constants("yearweek", a, "0"),
                _ => {}
            }
        }
        match &call.schema {
            Some(schema) => {
                self.ident(schema);
                self.str(".");
                if let Some((package, member)) = call.name.value.split_once('.') {
                    self.ident(&Ident::new(package));
                    self.str(".");
                    self.ident(&Ident::new(member));
                } else {
                    self.ident(&call.name);
                }
            }
            None if self.of_query && call.name.quoted => self.ident(&call.name),
            // Compat: this one has no name of its own.
            None if !self.of_query && name != "regexp_replace_oracle" => {
                self.str(canonical(&name));
            }
            None => {
                self.dialect(&name);
                self.str(written_name(&name).unwrap_or_else(|| canonical(&name)));
            }
        }
        self.call_arguments(call);
    }

    /// A step of the execution that EXPLAIN shows as a call, over a query or over values.
    fn shown_call(&mut self, call: &FunctionCall) {
        self.str(&call.name.value);
        match &call.args[..] {
            [Expr { kind: ExprKind::Subquery(query), .. }] if &*call.name.value == "<exists>" => {
                self.str("(");
                self.query(query);
                self.str(")");
            }
            _ => self.call_arguments(call),
        }
    }

    /// The schema of a function that has another meaning in the mode of the text.
    pub(super) fn dialect(&mut self, name: &str) {
        let is_oracle = self.options.sql_mode.contains(SqlMode::ORACLE);
        if is_oracle && has_own_meaning(canonical(name)) {
            self.str("mariadb_schema.");
        } else if !is_oracle && written_name(name).is_some() {
            self.str("oracle_schema.");
        }
    }

    fn own_trim(&mut self, side: &str, what: &Expr, expr: &Expr) {
        if self.of_query {
            self.dialect("trim_oracle");
        }
        let name = if self.of_query { "trim" } else { "trim_oracle" };
        self.display(format_args!("{name}({side} "));
        self.expr(what);
        self.str(" from ");
        self.expr(expr);
        self.str(")");
    }

    fn difference(&mut self, a: &Expr, b: &Expr) {
        self.str("to_days(");
        self.expr(a);
        self.str(") - to_days(");
        self.expr(b);
        self.str(")");
    }

    fn swapped(&mut self, name: &str, first: &Expr, second: &Expr) {
        self.str(name);
        self.str("(");
        self.expr(first);
        self.str(",");
        self.expr(second);
        self.str(")");
    }

    fn with_constants(&mut self, name: &str, first: &Expr, constants: &str) {
        self.str(name);
        self.str("(");
        self.expr(first);
        self.display(format_args!(",{constants})"));
    }

    fn call_arguments(&mut self, call: &FunctionCall) {
        self.str("(");
        if call.distinct {
            self.str("distinct ");
        }
        if call.star {
            // Compat: MariaDB prints `COUNT(*)` as a count of a constant.
            self.str("0");
        }
        self.exprs(&call.args);
        let within_group = call.over.is_some() && !call.order_by.is_empty();
        if !within_group {
            self.order_of_values(&call.order_by);
        }
        self.limit(call.limit.as_deref());
        self.str(")");
        if within_group {
            self.str(" within group (");
            self.order_by(&call.order_by);
            self.str(")");
        }
        if let Some(over) = &call.over {
            self.str(" over ");
            self.over(over);
        }
    }
}
