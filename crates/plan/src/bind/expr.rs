//! Expressions: one arm for each kind of syntax. Types and conversions are made by
//! [`selkie_expr::build`], not here.

use selkie_expr::build::{self, Arithmetic};
use selkie_expr::{Coercibility, CompareOp, Expr, ExprKind, VariableScope};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{
    Charset, CollationId, Date, DateTime, SqlError, SqlMode, SqlResult, SqlType, TypeKind, stack,
};

use super::Binder;
use super::literal::charset_collation;
use crate::define::charset::named_collation;
use crate::safety::Uses;

/// An error if an operand that must be a single value is a row.
pub(super) fn refuse_row(bound: &Expr) -> SqlResult<()> {
    match bound.kind {
        ExprKind::Row(_) => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1])),
        _ => Ok(()),
    }
}

/// The type of a text in a user variable.
fn longest_text(ty: SqlType) -> SqlType {
    let length = 16_777_215 / ty.collation.charset().max_len() as u32;
    SqlType { kind: TypeKind::MediumText, length, ..ty }
}

impl Binder<'_> {
    /// An expression that must be a single value.
    pub(super) fn scalar(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        let bound = self.expr(expr)?;
        refuse_row(&bound)?;
        Ok(bound)
    }

    /// An expression used as a condition.
    pub(super) fn condition(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        let bound = self.tested(expr, "bigint")?;
        self.warnings.converted.add(&bound, self.types);
        Ok(bound)
    }

    /// An expression compared with zero. `number` is the type of that zero in errors.
    fn tested(&mut self, expr: &ast::Expr, number: &str) -> SqlResult<Expr> {
        if self.chooses_rows
            && let Some(spread) = spread_not(expr)
        {
            return self.tested(&spread, number);
        }
        let mut bound = match self.zero_date_is_null(expr)? {
            Some(bound) => bound,
            None => self.scalar(expr)?,
        };
        build::refuse_condition("<>", &bound, number)?;
        keep_digits(expr, &mut bound);
        selkie_expr::cast::to_where_condition(&mut bound);
        if self.chooses_rows {
            self.warnings.add_constant(&bound, self.types);
        }
        self.fold(&mut bound);
        Ok(bound)
    }

    /// Compat: in conditions that select rows, `IS NULL` is true for the zero date of a NOT NULL
    /// column. This serves programs that do not know zero dates.
    fn zero_date_is_null(&mut self, expr: &ast::Expr) -> SqlResult<Option<Expr>> {
        if !self.chooses_rows {
            return Ok(None);
        }
        let is_column = |e: &&ast::Expr| matches!(e.kind, ast::ExprKind::Column(_));
        let Some(operand) = expr.tested_null().filter(is_column) else { return Ok(None) };
        let column = self.scalar(operand)?;
        let found = column.as_column().and_then(|id| self.columns.table_column(id));
        let Some(zero) =
            found.and_then(|(relation, at)| zero_date(relation.table.columns.get(at)?))
        else {
            return Ok(None);
        };
        let is_zero = build::comparison(CompareOp::Eq, column.clone(), zero, self.types)?;
        Ok(Some(match column.nullable {
            true => build::or(vec![is_zero, build::is_null(column)?])?,
            false => is_zero,
        }))
    }

    /// Computes the parts that are constant in every execution.
    pub(super) fn fold(&self, expr: &mut Expr) {
        crate::fold::fold(expr, self.types);
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        let mut bound = self.operand(expr)?;
        if bound.is_whole_number_text() {
            self.fold(&mut bound);
        }
        Ok(bound)
    }

    /// An operand of arithmetic or part of a document: a text keeps the expression that makes it.
    pub(super) fn operand(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        let mut bound = self.bind_expr(expr)?;
        if bound.ty.kind == TypeKind::Time {
            // As a date and time it would have the date of the statement.
            self.uses.add(Uses::PASSING);
        }
        // A result is not rounded to its type's digits before its context is known.
        // Texts are not compared before it is known whether a number is needed.
        let waits = build::wider_scale(&bound).is_some()
            || build::is_extreme_of_texts(&bound)
            || bound.is_whole_number_text();
        if matches!(bound.kind, ExprKind::Call(_)) && !waits {
            self.fold(&mut bound);
        }
        Ok(bound)
    }

    pub(super) fn many(&mut self, exprs: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    fn bind_expr(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        selkie_meter::spend(512)?;
        stack::check()?;
        use ast::ExprKind as Syntax;
        match &expr.kind {
            Syntax::Literal(literal) => self.literal(literal),
            Syntax::Param(number) => Ok(self.parameter(*number as usize)),
            Syntax::Column(name) => self.column(name),
            Syntax::UserVar(name) => Ok(self.user_variable(name)),
            Syntax::AssignUserVar { name, value } => {
                self.assigning.push(name.clone());
                let value = self.scalar(value);
                self.assigning.pop();
                let mut value = value?;
                // Compat: a variable keeps all digits of a result, even those not shown.
                build::unround(&mut value);
                // Compat: a variable holds a number or a text.
                let is_text = value.ty.is_string();
                if value.ty.fixed_binary().is_some() || value.ty.is_temporal() {
                    selkie_expr::cast::to_text(&mut value, self.types);
                }
                let collation = match is_text {
                    true => value.ty.collation,
                    false => CollationId::LATIN1_SWEDISH_CI,
                };
                self.assigned.push((name.clone(), collation));
                self.uses.add(Uses::ASSIGNMENT);
                Ok(Expr::assign(name, value))
            }
            Syntax::SystemVar(variable) => self.system_variable(variable),
            Syntax::Unary { op, expr } => self.unary(*op, expr),
            Syntax::Binary { op, left, right } => self.binary(*op, left, right),
            Syntax::And(parts) => build::and(self.conditions(parts)?),
            Syntax::Or(parts) => build::or(self.conditions(parts)?),
            Syntax::Is { expr, test, negated } => self.is_test(expr, *test, *negated),
            Syntax::Between { expr, negated, low, high } => {
                let mut operands = [self.expr(expr)?, self.expr(low)?, self.expr(high)?];
                self.time_transactions(&mut operands)?;
                let [value, low, high] = operands;
                build::between(value, low, high, *negated, self.types)
            }
            Syntax::InList { expr, negated, list } => {
                let (value, items) = (self.expr(expr)?, self.many(list)?);
                build::in_list(value, items, *negated, self.types)
            }
            Syntax::InSubquery { expr, negated, query } => self.in_subquery(expr, *negated, query),
            Syntax::Quantified { left, op, all, query } => {
                let Some(op) = comparison(*op) else {
                    return Err(SqlError::internal("a quantifier after no comparison"));
                };
                self.quantified(left, op, *all, query)
            }
            Syntax::Like { expr, negated, pattern, escape } => {
                self.like(expr, *negated, pattern, escape.as_deref())
            }
            Syntax::Regexp { expr, negated, pattern } => {
                let (value, pattern) = (self.scalar(expr)?, self.scalar(pattern)?);
                build::regexp(value, pattern, *negated, self.types)
            }
            Syntax::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref())
            }
            Syntax::Row(values) => Ok(Expr::row(self.many(values)?)),
            Syntax::Subquery(query) => self.scalar_subquery(query),
            Syntax::Exists(query) => self.exists(query),
            Syntax::Default(Some(column)) => self.default_of(column),
            Syntax::Values(column) => self.inserted_value(column),
            _ => self.special(expr),
        }
    }

    fn conditions(&mut self, parts: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        parts.iter().map(|e| self.tested(e, "int")).collect()
    }

    pub(super) fn parameter(&self, number: usize) -> Expr {
        if let Some(fields) = SqlType::row_fields(self.settings.parameters.iter(), number) {
            return Expr::row(fields.map(|at| self.parameter(at)).collect());
        }
        let ty = match self.settings.parameters.get(number) {
            Some(ty) => ty.clone(),
            None => SqlType::varchar(255, self.types.collation_connection),
        };
        let is_variable = self.settings.variables_of_program && ty.is_string();
        let mut parameter = Expr::parameter(number, ty);
        if is_variable {
            parameter.coercibility = Coercibility::Implicit;
        }
        parameter
    }

    /// Compat: a variable is read with the type it had before the statement, whatever the statement
    /// assigns. An unset one is a binary text, or has the collation of the value assigned so far.
    fn user_variable(&mut self, name: &str) -> Expr {
        let ty = self.names.environment.user_variable(name);
        if !self.variables.user.iter().any(|(known, _)| **known == *name) {
            self.variables.user.push((name.into(), ty.clone()));
        }
        let ty = match ty.filter(|ty| ty.kind != TypeKind::Null) {
            Some(ty) if ty.is_integer() && ty.unsigned => SqlType::bigint_unsigned(),
            Some(ty) if ty.is_integer() => SqlType::bigint(),
            // Compat: whatever is made of a text is as long as the longest text.
            Some(ty) if ty.is_string() && !self.assigns(name) => longest_text(ty),
            // The next text may show other decimals.
            Some(ty) if ty.is_string() && self.assigns(name) => {
                SqlType { decimals: selkie_types::NOT_FIXED_DECIMALS, ..ty }
            }
            Some(ty) => ty,
            None => {
                let same = |(n, _): &&(Box<str>, CollationId)| n.eq_ignore_ascii_case(name);
                let assigned = self.assigned.iter().rev().find(same);
                let collation = assigned.map_or(CollationId::BINARY, |(_, c)| *c);
                match self.assigns(name) {
                    true => SqlType::varchar(0, collation),
                    false => longest_text(SqlType::varchar(0, collation)),
                }
            }
        };
        Expr::user_variable(name, ty)
    }

    /// Whether the statement assigns to the variable.
    fn assigns(&self, name: &str) -> bool {
        self.assigning.iter().any(|n| n.eq_ignore_ascii_case(name))
    }

    /// A variable to which a product is assigned for each row gains decimals with each row.
    ///
    /// Compat: MariaDB shows the decimals of the current value; here every row has the maximum that
    /// is stored.
    ///
    /// A variable that the statement only reads has the maximum number of digits.
    fn widen_product(&self, op: build::Arithmetic, left: &mut Expr, right: &mut Expr) {
        const KEPT: u8 = 30;
        use build::Arithmetic::{Add, Divide, IntDivide, Modulo, Multiply, Subtract};
        if matches!(op, Add | Subtract | Multiply | Divide | IntDivide | Modulo) {
            for e in [&mut *left, &mut *right] {
                if matches!(&e.kind, ExprKind::UserVariable(name, _) if !self.assigns(name)) {
                    selkie_expr::cast::to_widest_variable(e);
                }
            }
        }
        let exact = |e: &Expr| e.ty.is_integer() || e.ty.kind == TypeKind::Decimal;
        let of_decimals = match op {
            build::Arithmetic::Divide => exact(left) && exact(right),
            build::Arithmetic::Multiply => {
                exact(left) && exact(right) && !(left.ty.is_integer() && right.ty.is_integer())
            }
            _ => false,
        };
        if !of_decimals {
            return;
        }
        for e in [left, right] {
            if let ExprKind::UserVariable(name, _) = &e.kind
                && self.assigns(name)
            {
                build::widen_variable(e, KEPT);
            }
        }
    }

    fn system_variable(&mut self, variable: &ast::SystemVar) -> SqlResult<Expr> {
        let mut name = variable.name.value.to_ascii_lowercase();
        if let Some(instance) = &variable.instance {
            name = format!("{}.{name}", instance.value);
        }
        let scope = match variable.scope {
            None => VariableScope::Default,
            Some(ast::VarScope::Global) => VariableScope::Global,
            Some(_) => VariableScope::Session,
        };
        let ty = self.names.environment.system_variable(scope, &name)?;
        self.uses.add(Uses::of_variable(&name, scope == VariableScope::Global));
        self.variables.system.push((scope, name.as_str().into(), ty.clone()));
        Ok(Expr::system_variable(scope, &name, ty))
    }

    fn unary(&mut self, op: ast::UnaryOp, written: &ast::Expr) -> SqlResult<Expr> {
        let mut operand = match op {
            ast::UnaryOp::Neg => self.operand(written)?,
            _ => self.expr(written)?,
        };
        match op {
            ast::UnaryOp::Neg => build::negate(operand, self.types),
            ast::UnaryOp::Plus => Ok(operand),
            ast::UnaryOp::BitNot => build::bit_not(operand, self.types),
            ast::UnaryOp::Not => {
                keep_digits(written, &mut operand);
                build::not(operand)
            }
            ast::UnaryOp::Binary => {
                let bytes = selkie_expr::cast::binary_length(&operand);
                let binary = selkie_types::CollationId::BINARY;
                let mut e = build::convert_using(operand, binary, self.types)?;
                if let Some(bytes) = bytes.filter(|_| !e.ty.is_text_or_blob()) {
                    e.ty.length = bytes;
                }
                Ok(e)
            }
        }
    }

    fn binary(
        &mut self,
        op: ast::BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> SqlResult<Expr> {
        let bind = if arithmetic(op).is_some() { Self::operand } else { Self::expr };
        let (mut left, mut right) = (bind(self, left)?, bind(self, right)?);
        if let Some(op) = comparison(op) {
            let mut operands = [left, right];
            self.time_transactions(&mut operands)?;
            let [left, right] = operands;
            return build::comparison(op, left, right, self.types);
        }
        if let Some(op) = arithmetic(op) {
            self.widen_product(op, &mut left, &mut right);
            return build::arithmetic(op, left, right, self.types);
        }
        match op {
            ast::BinaryOp::Xor => build::xor(left, right, self.types),
            ast::BinaryOp::Concat => build::function_call("CONCAT", vec![left, right], self.types),
            _ => {
                let sound = |e| build::function_call("SOUNDEX", vec![e], self.types);
                build::comparison(CompareOp::Eq, sound(left)?, sound(right)?, self.types)
            }
        }
    }

    fn is_test(
        &mut self,
        operand: &ast::Expr,
        test: ast::IsTest,
        negated: bool,
    ) -> SqlResult<Expr> {
        let of_rows = compares_rows(operand);
        let operand = self.expr(operand)?;
        let tested = match test {
            ast::IsTest::Null | ast::IsTest::Unknown if of_rows => Expr::boolean(false),
            ast::IsTest::Null | ast::IsTest::Unknown if negated => {
                return build::is_not_null(operand);
            }
            ast::IsTest::Null | ast::IsTest::Unknown => build::is_null(operand)?,
            ast::IsTest::True => build::is_truth(operand, true, self.types)?,
            ast::IsTest::False => build::is_truth(operand, false, self.types)?,
        };
        if negated { build::not(tested) } else { Ok(tested) }
    }

    fn like(
        &mut self,
        value: &ast::Expr,
        negated: bool,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
    ) -> SqlResult<Expr> {
        let (value, pattern) = (self.scalar(value)?, self.scalar(pattern)?);
        let Some(escape) = escape else {
            let escape = self.kept_text.is_stored.then_some("\\");
            return build::like(value, pattern, escape, negated, self.types);
        };
        // Compat: at this place ESCAPE is evaluated before tables are open.
        if self.derived_in_update > Some(0) && reads_tables(escape) {
            return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"ESCAPE"]));
        }
        let escape = self.scalar(escape)?;
        let Some(selkie_types::Value::Bytes(b)) = escape.as_literal() else {
            return build::like_escaped_by(value, pattern, escape, negated, self.types);
        };
        let (text, _) = escape.ty.collation.charset().convert(b, Charset::Utf8mb4);
        let escape = String::from_utf8_lossy(&text);
        // Compat: in this mode ESCAPE must not be empty.
        let plain = self.types.sql_mode.contains(SqlMode::NO_BACKSLASH_ESCAPES);
        if plain && escape.is_empty() && !self.kept_text.is_stored {
            return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"ESCAPE"]));
        }
        if self.kept_text.is_stored && escape.is_empty() {
            return build::like_stored_without_escape(value, pattern, negated, self.types);
        }
        build::like(value, pattern, Some(&escape), negated, self.types)
    }

    fn case(
        &mut self,
        operand: Option<&ast::Expr>,
        branches: &[(ast::Expr, ast::Expr)],
        otherwise: Option<&ast::Expr>,
    ) -> SqlResult<Expr> {
        let operand = operand.map(|e| self.expr(e)).transpose()?;
        let mut whens = Vec::with_capacity(branches.len());
        for (when, then) in branches {
            whens.push((self.expr(when)?, self.expr(then)?));
        }
        let otherwise = otherwise.map(|e| self.expr(e)).transpose()?;
        match operand {
            Some(operand) => build::case_simple(operand, whens, otherwise, self.types),
            None => build::case_searched(whens, otherwise, self.types),
        }
    }

    /// Functions with a special syntax.
    fn special(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        use ast::ExprKind as Syntax;
        let types = self.types;
        match &expr.kind {
            Syntax::Cast { expr, target } => self.cast(expr, target),
            Syntax::ConvertUsing { expr, charset } => {
                let collation = match charset {
                    Some(name) => charset_collation(name)?,
                    None => types.collation_connection,
                };
                build::convert_using(self.scalar(expr)?, collation, types)
            }
            Syntax::Collate { expr, collation } => {
                let operand = self.scalar(expr)?;
                let of = if operand.ty.is_string() {
                    operand.ty.collation
                } else {
                    types.collation_connection
                };
                let collation = match collation.eq_ignore_ascii_case("default") {
                    true => operand.ty.collation.charset().default_collation(),
                    false => named_collation(collation, of.charset())?,
                };
                build::collate(operand, collation, types)
            }
            Syntax::Call(call) => self.call(call),
            Syntax::GroupConcat(call) => self.group_concat(call),
            Syntax::Match { columns, query, mode } => self.match_against(columns, query, *mode),
            Syntax::Default(None) | Syntax::Ignore => {
                Err(SqlError::new(&ER_INVALID_DEFAULT_PARAM, &[]))
            }
            _ => self.own_syntax(expr),
        }
    }
}

/// The same condition with NOT moved towards the tests for NULL in it; `None` if it is there.
fn spread_not(expr: &ast::Expr) -> Option<ast::Expr> {
    use ast::{ExprKind as Syntax, IsTest, UnaryOp};
    let Syntax::Unary { op: UnaryOp::Not, expr: inner } = &expr.kind else { return None };
    let is_test = |e: &ast::Expr| {
        let of_null = matches!(e.kind, Syntax::Is { test: IsTest::Null | IsTest::Unknown, .. });
        (of_null || e.tested_null().is_some()).then_some(())
    };
    inner.find(&mut |e| is_test(e))?;
    let span = expr.span;
    let not = |part: &ast::Expr| {
        let kind = Syntax::Unary { op: UnaryOp::Not, expr: Box::new(part.clone()) };
        ast::Expr { kind, span: part.span }
    };
    let kind = match &inner.kind {
        Syntax::Unary { op: UnaryOp::Not, expr } => return Some((**expr).clone()),
        Syntax::And(parts) => Syntax::Or(parts.iter().map(not).collect()),
        Syntax::Or(parts) => Syntax::And(parts.iter().map(not).collect()),
        Syntax::Is { expr, test: test @ (IsTest::Null | IsTest::Unknown), negated: true } => {
            Syntax::Is { expr: expr.clone(), test: *test, negated: false }
        }
        _ => return None,
    };
    Some(ast::Expr { kind, span })
}

/// The zero date of a NOT NULL column.
fn zero_date(column: &selkie_catalog::ColumnInfo) -> Option<Expr> {
    match column.ty.kind {
        _ if column.nullable => None,
        TypeKind::Date => Some(Expr::date(Date::ZERO)),
        TypeKind::DateTime => Some(Expr::datetime(DateTime::ZERO, column.ty.decimals)),
        _ => None,
    }
}

fn comparison(op: ast::BinaryOp) -> Option<CompareOp> {
    Some(match op {
        ast::BinaryOp::Eq => CompareOp::Eq,
        ast::BinaryOp::NullSafeEq => CompareOp::NullSafeEq,
        ast::BinaryOp::Ne => CompareOp::Ne,
        ast::BinaryOp::Lt => CompareOp::Lt,
        ast::BinaryOp::Le => CompareOp::Le,
        ast::BinaryOp::Gt => CompareOp::Gt,
        ast::BinaryOp::Ge => CompareOp::Ge,
        _ => return None,
    })
}

fn arithmetic(op: ast::BinaryOp) -> Option<Arithmetic> {
    Some(match op {
        ast::BinaryOp::Add => Arithmetic::Add,
        ast::BinaryOp::Sub => Arithmetic::Subtract,
        ast::BinaryOp::Mul => Arithmetic::Multiply,
        ast::BinaryOp::Div => Arithmetic::Divide,
        ast::BinaryOp::IntDiv => Arithmetic::IntDivide,
        ast::BinaryOp::Mod => Arithmetic::Modulo,
        ast::BinaryOp::BitAnd => Arithmetic::BitAnd,
        ast::BinaryOp::BitOr => Arithmetic::BitOr,
        ast::BinaryOp::BitXor => Arithmetic::BitXor,
        ast::BinaryOp::ShiftLeft => Arithmetic::ShiftLeft,
        ast::BinaryOp::ShiftRight => Arithmetic::ShiftRight,
        _ => return None,
    })
}

/// Compat: `IS NULL` of a comparison of two rows is false, even if a value in them is NULL.
pub(super) fn compares_rows(expr: &ast::Expr) -> bool {
    use ast::BinaryOp::*;
    let is_row = |e: &ast::Expr| matches!(e.kind, ast::ExprKind::Row(_));
    match &expr.kind {
        ast::ExprKind::Binary { op: Eq | Ne | Lt | Le | Gt | Ge, left, right } => {
            is_row(left) && is_row(right)
        }
        ast::ExprKind::InList { expr, list, .. } => is_row(expr) && list.len() == 1,
        _ => false,
    }
}

/// Whether a subquery within an expression has a FROM clause.
fn reads_tables(expr: &ast::Expr) -> bool {
    let mut expr = expr.clone();
    let reads = expr.query_mut().is_some_and(
        |query| !matches!(&query.body, ast::QueryBody::Select(select) if select.from.is_empty()),
    );
    reads || expr.operands().into_iter().any(reads_tables)
}

/// Gives a value whose truth is tested all its digits. Compat: a column of a merged query is
/// compared with zero as it is shown.
fn keep_digits(written: &ast::Expr, bound: &mut Expr) {
    if !matches!(written.kind, ast::ExprKind::Column(_)) {
        build::unround(bound);
    }
}
