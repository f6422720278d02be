//! The function of a partitioning: the columns it reads, and whether it is allowed. It must give
//! the same integer for a row in every session.

use hashbrown::HashSet;
use selkie_catalog::{ColumnInfo, MethodKind, PartitionMethod, TableInfo};
use selkie_sql::ParseOptions;
use selkie_sql::ast::{self, BinaryOp, Expr, ExprKind, Ident, UnaryOp};
use selkie_types::charset::in_one_case;
use selkie_types::error::catalogue::*;
use selkie_types::temporal::IntervalUnit;
use selkie_types::{SqlError, SqlResult, SqlType, TypeKind};

use super::{MOST_KEY_BYTES, history, kind_of, not_found};
use crate::bind::Clause;
use crate::define::{DefineContext, expressions};
use crate::partition::Sign;

/// The method of a clause, checked.
pub(super) fn method(
    context: &DefineContext<'_>,
    table: &TableInfo,
    given: &ast::PartitionMethod,
) -> SqlResult<PartitionMethod> {
    use ast::PartitionMethod as M;
    let kind = kind_of(given);
    let (linear, algorithm) = match given {
        M::Hash { linear, .. } => (*linear, None),
        M::Key { linear, algorithm, .. } => (*linear, algorithm.map(|number| number as u8)),
        _ => (false, None),
    };
    let out = PartitionMethod {
        kind,
        linear,
        algorithm,
        expression: String::new(),
        columns: Vec::new(),
        rotation: None,
    };
    match given {
        M::Hash { expr, .. } | M::Range(expr) | M::List(expr) => {
            let columns = of_expression(context, table, expr)?;
            Ok(PartitionMethod { expression: expressions::text(expr), columns, ..out })
        }
        M::Key { columns, .. } | M::RangeColumns(columns) | M::ListColumns(columns) => {
            let columns = columns.iter().map(|name| own_name(table, name)).collect();
            let out = PartitionMethod { columns, ..out };
            check_columns(table, &out)?;
            Ok(out)
        }
        M::SystemTime { .. } => history::method(context, table, given),
    }
}

/// A column's name as the table spells it.
fn own_name(table: &TableInfo, name: &Ident) -> String {
    let at = table.column_position(&name.value);
    at.map_or(&name.value, |at| &table.columns[at].name).to_string()
}

fn check_columns(table: &TableInfo, method: &PartitionMethod) -> SqlResult<()> {
    let mut seen = HashSet::new();
    if let Some(twice) = method.columns.iter().find(|name| !seen.insert(in_one_case(name))) {
        return Err(SqlError::new(&ER_SAME_NAME_PARTITION_FIELD, &[twice]));
    }
    let columns = method.columns_of(table).ok_or_else(not_found)?;
    for at in &columns {
        let column = &table.columns[*at];
        if column.ty.is_text_or_blob() {
            return Err(SqlError::new(&ER_BLOB_FIELD_IN_PART_FUNC_ERROR, &[]));
        }
        if method.kind != MethodKind::Key && !is_listable(&column.ty) {
            return Err(not_allowed_type(&column.name));
        }
    }
    let bytes: usize = columns.iter().map(|at| key_bytes(&table.columns[*at])).sum();
    match bytes > MOST_KEY_BYTES {
        true => Err(SqlError::new(&ER_PARTITION_FIELDS_TOO_LONG, &[])),
        false => Ok(()),
    }
}

fn not_allowed_type(name: &str) -> SqlError {
    SqlError::new(&ER_FIELD_TYPE_NOT_ALLOWED_AS_PARTITION_FIELD, &[&name])
}

/// Whether RANGE COLUMNS and LIST COLUMNS may read a column.
fn is_listable(ty: &SqlType) -> bool {
    let whole = ty.is_integer() && !matches!(ty.kind, TypeKind::Year | TypeKind::Bit);
    let moment = matches!(ty.kind, TypeKind::Date | TypeKind::DateTime | TypeKind::Time);
    whole || moment || ty.is_string() || ty.fixed_binary().is_some()
}

/// Bytes of a column in a key, with those of its length and of its null marker.
fn key_bytes(column: &ColumnInfo) -> usize {
    let ty = &column.ty;
    let length = if ty.kind == TypeKind::VarChar { 2 } else { 0 };
    let value = match ty.fixed_width() {
        Some(width) => width,
        None => ty.length as usize * ty.collation.charset().max_len(),
    };
    value + length + usize::from(column.nullable)
}

/// Checks an expression; returns the names of the columns it reads.
fn of_expression(
    context: &DefineContext<'_>,
    table: &TableInfo,
    expr: &Expr,
) -> SqlResult<Vec<String>> {
    if depends_on_session(expr) {
        return Err(varying(context, expr));
    }
    let of_rows =
        |e: &Expr| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::Values(_)).then_some(());
    let not_allowed = || SqlError::new(&ER_PARTITION_FUNCTION_IS_NOT_ALLOWED, &[]);
    if expr.find(&mut |e| of_rows(e)).is_some() {
        return Err(not_allowed());
    }
    let syntax = crate::parse::expression(expressions::text(expr).as_bytes(), context.sql_mode())?;
    let bound =
        expressions::with_binder(context, |b| b.row_syntax(table, &syntax, Clause::Partition));
    let bound = match bound {
        // Compat: a stored function is not looked for.
        Err(error) if error.is(&ER_SP_DOES_NOT_EXIST) => return Err(varying(context, expr)),
        Err(error) if error.is(&ER_INVALID_GROUP_FUNC_USE) => return Err(not_allowed()),
        bound => bound?,
    };
    let columns = bound.columns();
    if columns.iter().any(|at| table.columns[*at].ty.is_text_or_blob()) {
        return Err(SqlError::new(&ER_BLOB_FIELD_IN_PART_FUNC_ERROR, &[]));
    }
    Check { table }.expr(&syntax)?;
    if columns.is_empty() {
        return Err(wrong_expression());
    }
    if let Some(at) = bound.as_column() {
        let column = &table.columns[at];
        let decimal = column.ty.kind == TypeKind::Decimal && column.ty.decimals == 0;
        let number = matches!(column.ty.kind, TypeKind::Year | TypeKind::Bit);
        if !column.ty.is_integer() && !decimal && !number {
            return Err(not_allowed_type(&column.name));
        }
    } else if !bound.ty.is_integer() || has_null(&syntax) {
        return Err(SqlError::new(&ER_PARTITION_FUNC_NOT_ALLOWED_ERROR, &[&"PARTITION"]));
    }
    let mut names: Vec<String> = Vec::new();
    for at in columns {
        let name = &*table.columns[at].name;
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// The sign of an expression's values.
pub(super) fn sign(
    context: &DefineContext<'_>,
    table: &TableInfo,
    method: &PartitionMethod,
) -> SqlResult<Sign> {
    let syntax = crate::parse::expression(method.expression.as_bytes(), context.sql_mode())?;
    let bound =
        expressions::with_binder(context, |b| b.row_syntax(table, &syntax, Clause::Partition))?;
    Ok(Sign::of(&bound.ty))
}

/// Compat: NULL has no integer type.
fn has_null(expr: &Expr) -> bool {
    let null = |e: &Expr| matches!(e.kind, ExprKind::Literal(ast::Literal::Null)).then_some(());
    expr.find(&mut |e| null(e)).is_some()
}

fn wrong_expression() -> SqlError {
    SqlError::new(&ER_WRONG_EXPR_IN_PARTITION_FUNC_ERROR, &[])
}

/// Checks the operators and functions of an expression.
struct Check<'a> {
    table: &'a TableInfo,
}

impl Check<'_> {
    fn expr(&self, expr: &Expr) -> SqlResult<()> {
        selkie_types::stack::check()?;
        match &expr.kind {
            ExprKind::Literal(_) | ExprKind::Column(_) => Ok(()),
            ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr } => self.operand(expr),
            ExprKind::Binary { op, left, right } if is_allowed_operator(*op) => {
                self.operand(left)?;
                self.operand(right)
            }
            ExprKind::Extract { unit, expr } => self.extract(*unit, expr),
            ExprKind::Call(call) => self.call(call),
            ExprKind::Default(_) => Err(wrong_expression()),
            _ => Err(SqlError::new(&ER_PARTITION_FUNCTION_IS_NOT_ALLOWED, &[])),
        }
    }

    /// An expression that is read as a number. Compat: the number of a TIMESTAMP depends on the
    /// time zone.
    fn operand(&self, expr: &Expr) -> SqlResult<()> {
        match self.is_of(std::slice::from_ref(expr), &[TypeKind::Timestamp]) {
            true => Err(wrong_expression()),
            false => self.expr(expr),
        }
    }

    fn call(&self, call: &ast::FunctionCall) -> SqlResult<()> {
        let named = |names: &[&str]| names.iter().any(|name| call.name.is(name));
        if named(NUMBERS) {
            return call.args.iter().try_for_each(|arg| self.operand(arg));
        }
        let fits = match () {
            // Compat: it fits what is no date; its own type is refused later.
            () if named(&["from_days"]) => {
                !self.is_of(&call.args, DATES) && !self.is_of(&call.args, TIMES)
            }
            () if named(&["unix_timestamp"]) => self.is_of(&call.args, &[TypeKind::Timestamp]),
            () if named(&["datediff"]) => {
                call.args.iter().all(|arg| self.is_of(std::slice::from_ref(arg), DATES))
            }
            () if named(DATE_PARTS) => self.is_of(&call.args, DATES),
            () if named(TIME_PARTS) => self.is_of(&call.args, TIMES),
            () => return Err(SqlError::new(&ER_PARTITION_FUNCTION_IS_NOT_ALLOWED, &[])),
        };
        if fits { Ok(()) } else { Err(wrong_expression()) }
    }

    fn extract(&self, unit: IntervalUnit, expr: &Expr) -> SqlResult<()> {
        use IntervalUnit as U;
        self.expr(expr)?;
        let types: &[TypeKind] = match unit {
            U::Year | U::YearMonth | U::Quarter | U::Month | U::Day => DATES,
            U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond => &[TypeKind::DateTime],
            // Compat: weeks depend on a variable.
            U::Week => &[],
            _ => TIMES,
        };
        match self.is_of(std::slice::from_ref(expr), types) {
            true => Ok(()),
            false => Err(wrong_expression()),
        }
    }

    /// Whether the first argument is a column of one of these types.
    fn is_of(&self, args: &[Expr], types: &[TypeKind]) -> bool {
        let Some(ExprKind::Column(column)) = args.first().map(|arg| &arg.kind) else {
            return false;
        };
        let at = self.table.column_position(&column.name.value);
        at.is_some_and(|at| types.contains(&self.table.columns[at].ty.kind))
    }
}

/// Functions of dates whose value is a number.
const DATE_PARTS: &[&str] = &[
    "to_days",
    "to_seconds",
    "year",
    "month",
    "quarter",
    "day",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "weekday",
    "yearweek",
    "datediff",
];

/// Functions of times whose value is a number.
const TIME_PARTS: &[&str] = &["hour", "minute", "second", "microsecond", "time_to_sec"];

/// Functions between dates and numbers with rules of their own.
const CONVERSIONS: &[&str] = &["from_days", "unix_timestamp"];

const NUMBERS: &[&str] = &["abs", "ceiling", "ceil", "floor", "mod"];

/// Fails unless the constant of a partition has only operators and functions that the function of
/// a table may have.
pub(super) fn check_constant(expr: &Expr) -> SqlResult<()> {
    selkie_types::stack::check()?;
    match &expr.kind {
        ExprKind::Literal(_) => Ok(()),
        ExprKind::Unary { op: UnaryOp::Neg | UnaryOp::Plus, expr }
        | ExprKind::Extract { expr, .. } => check_constant(expr),
        ExprKind::Binary { op, left, right } if is_allowed_operator(*op) => {
            check_constant(left)?;
            check_constant(right)
        }
        ExprKind::Call(call)
            if [DATE_PARTS, TIME_PARTS, CONVERSIONS, NUMBERS]
                .iter()
                .any(|names| names.iter().any(|name| call.name.is(name))) =>
        {
            call.args.iter().try_for_each(check_constant)
        }
        _ => Err(SqlError::new(&ER_PARTITION_FUNCTION_IS_NOT_ALLOWED, &[])),
    }
}

/// The error of an expression whose value depends on more than a row. Compat: the parser finds it.
pub(super) fn varying(context: &DefineContext<'_>, expr: &Expr) -> SqlError {
    let options = ParseOptions { sql_mode: context.sql_mode() };
    let end = expr.span.end as usize;
    let rest = context.text.get(end..).unwrap_or_default();
    let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let wrong = &ER_WRONG_EXPR_IN_PARTITION_FUNC_ERROR;
    selkie_sql::error_at(wrong, context.text, end + blanks, &options)
}

/// Whether the value of an expression depends on the session or the time. Compat: the result of a
/// query with it is never cached.
pub(super) fn depends_on_session(expr: &Expr) -> bool {
    const NAMES: &[&str] = &[
        "now",
        "curdate",
        "curtime",
        "sysdate",
        "utc_date",
        "utc_time",
        "utc_timestamp",
        "rand",
        "random_bytes",
        "connection_id",
        "user",
        "current_user",
        "current_role",
        "database",
        "uuid",
        "uuid_short",
        "last_insert_id",
        "found_rows",
        "row_count",
        "sleep",
        "benchmark",
        "load_file",
        "get_lock",
        "release_lock",
        "is_free_lock",
        "is_used_lock",
    ];
    let depends = |e: &Expr| match &e.kind {
        ExprKind::UserVar(_) | ExprKind::SystemVar(_) => true,
        ExprKind::Call(call) => {
            let clock = call.args.is_empty() && call.name.is("unix_timestamp");
            clock || NAMES.iter().any(|name| call.name.is(name))
        }
        _ => false,
    };
    expr.find(&mut |e| depends(e).then_some(())).is_some()
}

const DATES: &[TypeKind] = &[TypeKind::Date, TypeKind::DateTime];
const TIMES: &[TypeKind] = &[TypeKind::Time, TypeKind::DateTime];

fn is_allowed_operator(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(op, B::Add | B::Sub | B::Mul | B::IntDiv | B::Mod)
}
