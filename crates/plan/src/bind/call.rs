//! Function calls: aggregates, window functions, functions with their own binding, registered
//! functions, stored functions; and CAST. Types are inferred by `selkie_expr::build`.

use selkie_expr::aggregate::{Aggregate, AggregateKind};
use selkie_expr::{Coercibility, EvalContext, Expr, ExprKind, NamedVariable, StoredCall, build};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{
    CollationId, Condition, FixedBinary, Level, SqlError, SqlResult, SqlType, TypeKind, Value,
    stack,
};

use super::Binder;
use super::expr::refuse_row;
use super::literal::charset_collation;
use crate::define::charset::named_collation;
use crate::safety::Uses;

/// Maximum precision of DECIMAL.
const DECIMAL_DIGITS: u32 = 65;

impl Binder<'_> {
    pub(super) fn call(&mut self, call: &ast::FunctionCall) -> SqlResult<Expr> {
        if let Some(over) = &call.over {
            return self.window_call(call, over);
        }
        if call.schema.is_none() {
            if let Some(kind) = AggregateKind::from_name(&call.name.value)
                && (kind != AggregateKind::AnyValue)
            {
                return self.aggregate(kind, call);
            }
            if call.name.is("rownum") && call.args.is_empty() {
                return self.row_number();
            }
            if let Some(bound) = self.own_binding(call)? {
                return Ok(bound);
            }
            if let Some(target) = self.time_of_parameter(call) {
                return self.cast(&call.args[0], &target);
            }
            let is_found = selkie_expr::takes(&call.name.value, call.args.len());
            if is_found {
                let mut args = self.args(call)?;
                self.hide_foreign_set(&call.name.value, &mut args);
                self.fix_digits(&call.name.value, &mut args);
                let named = self.named(call)?;
                self.note_computed(&call.name.value, &args);
                let made = build::function_call_naming(&call.name.value, args, named, self.types);
                self.note_deprecated(&call.name.value);
                self.uses.add(Uses::of_function(&call.name.value, call.args.len()));
                return made;
            }
        }
        self.stored_function(call)
    }

    /// Turns the second argument of FIND_IN_SET into a text if it is a SET that is not a table's
    /// column.
    fn hide_foreign_set(&self, name: &str, args: &mut [Expr]) {
        let [_, set] = args else { return };
        if !name.eq_ignore_ascii_case("find_in_set") || set.ty.kind != TypeKind::Set {
            return;
        }
        let own = |id| self.columns.table_column(id).is_some_and(|(r, at)| r.first + at == id);
        if !set.as_column().is_some_and(own) {
            selkie_expr::cast::to_text(set, self.types);
        }
    }

    /// Replaces a number of digits that only parameters and variables decide by its value, since
    /// the type of the result follows from it. A variable that the statement assigns has no value
    /// yet.
    fn fix_digits(&mut self, name: &str, args: &mut [Expr]) {
        let [_, digits] = args else { return };
        let rounds = ["round", "truncate"].iter().any(|n| name.eq_ignore_ascii_case(n));
        if !rounds || !self.is_of_this_execution(digits) {
            return;
        }
        if let Some(value) = self.names.environment.value_at_planning(digits) {
            *digits = Expr::literal(value, digits.ty.clone());
            self.uses.add(Uses::VALUE_AT_PLANNING);
        }
    }

    /// Whether the value of an expression follows from parameters and from variables that are not
    /// assigned.
    fn is_of_this_execution(&self, e: &Expr) -> bool {
        let is_variable = |e: &Expr| matches!(e.kind, ExprKind::UserVariable(..));
        let varies = |e: &Expr| match &e.kind {
            ExprKind::Parameter(at) => *at >= self.parameters,
            ExprKind::UserVariable(..) | ExprKind::Literal(_) => false,
            ExprKind::Call(_) => e.children().is_empty() || !e.is_constant_over_constants(),
            _ => true,
        };
        let has_variable = e.any(&mut |e| is_variable(e));
        let is_given = has_variable || e.any(&mut |e| matches!(e.kind, ExprKind::Parameter(_)));
        // Assignments further on in the text are not bound yet.
        let may_assign = || self.names.text.windows(2).any(|two| two == b":=");
        is_given && !e.any(&mut |e| varies(e)) && !(has_variable && may_assign())
    }

    fn args(&mut self, call: &ast::FunctionCall) -> SqlResult<Vec<Expr>> {
        let makes_document =
            call.name.value.get(..5).is_some_and(|n| n.eq_ignore_ascii_case("json_"));
        let bind = if makes_document { Self::operand } else { Self::expr };
        call.args.iter().map(|e| bind(self, e)).collect()
    }

    /// Compat: constants that determine a result's length or form are computed when the statement
    /// is bound and again at execution, so their warnings come twice.
    fn note_computed(&mut self, function: &str, args: &[Expr]) {
        let places: &[usize] = match &*function.to_ascii_uppercase() {
            "SPACE" => &[0],
            "LEFT" | "RIGHT" | "LPAD" | "RPAD" | "REPEAT" => &[1],
            "FORMAT" | "STR_TO_DATE" | "ROUND" => &[1],
            "TRUNCATE" if !args.first().is_some_and(|e| e.ty.is_integer()) => &[1],
            "SUBSTR" | "SUBSTRING" | "MID" => &[1, 2],
            _ => return,
        };
        let eval = EvalContext::detached(self.types);
        let number = !function.eq_ignore_ascii_case("STR_TO_DATE");
        let computed = places.iter().filter_map(|at| args.get(*at));
        for arg in computed.filter(|arg| !is_integer_literal(arg) && arg.is_foldable()) {
            let converted = match number {
                true => build::cast(arg.clone(), &SqlType::bigint(), self.types),
                false => Ok(arg.clone()),
            };
            // An error of the computation is raised at execution.
            let _ = converted.and_then(|arg| arg.eval_value(&eval));
        }
        self.warnings.conditions.extend_from_slice(eval.conditions.borrow().list());
    }

    /// Note 1287 for each call of a deprecated cipher.
    fn note_deprecated(&mut self, function: &str) {
        let name = function.to_ascii_lowercase();
        if matches!(&*name, "des_encrypt" | "des_decrypt") {
            let text = format!("'{name}' is deprecated and will be removed in a future release");
            let code = ER_WARN_DEPRECATED_SYNTAX.code;
            self.warnings.conditions.push(Condition::raw(Level::Note, code, text));
        }
    }

    /// Values for the names in the text of an argument.
    fn named(&mut self, call: &ast::FunctionCall) -> SqlResult<Vec<(Box<str>, Expr)>> {
        let bound = call.named.iter().map(|(name, e)| Ok((name.value.clone(), self.scalar(e)?)));
        bound.collect()
    }

    /// The type to which TIME or TIMESTAMP converts a parameter.
    ///
    /// Compat: it has no digits of a second, because none are known when a statement is prepared.
    fn time_of_parameter(&self, call: &ast::FunctionCall) -> Option<ast::CastType> {
        let [ast::Expr { kind: ast::ExprKind::Param(_), .. }] = &call.args[..] else { return None };
        let given = !self.settings.variables_of_program && call.named.is_empty();
        match call.name.value.to_ascii_uppercase().as_str() {
            "TIME" if given => Some(ast::CastType::Time(None)),
            "TIMESTAMP" if given => Some(ast::CastType::DateTime(None)),
            _ => None,
        }
    }

    /// Functions that are expression kinds of their own.
    fn own_binding(&mut self, call: &ast::FunctionCall) -> SqlResult<Option<Expr>> {
        let name = call.name.value.to_ascii_uppercase();
        let counts: (usize, usize) = match name.as_str() {
            "IF" => (3, 3),
            "IFNULL" | "NVL" | "NULLIF" => (2, 2),
            "NVL2" => (3, 3),
            "COALESCE" => (1, usize::MAX),
            "DECODE_ORACLE" => (3, usize::MAX),
            "ISNULL" => (1, 1),
            "NAME_CONST" => (2, 2),
            _ => return Ok(None),
        };
        let mut args = self.args(call)?;
        if args.len() < counts.0 || args.len() > counts.1 {
            // The function of a mode is shown as it was written.
            let span = call.name.span;
            let is_written = (span.end - span.start) as usize == call.name.value.len();
            let own = selkie_sql::written_function_name(&call.name.value);
            let name = own.filter(|_| !is_written).unwrap_or(&call.name.value);
            return Err(SqlError::new(&ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&name]));
        }
        let types = self.types;
        Ok(Some(match name.as_str() {
            "IF" => {
                let (no, yes) = (args.remove(2), args.remove(1));
                build::if_else(args.remove(0), yes, no, types)?
            }
            "NVL2" => {
                let (no, yes) = (args.remove(2), args.remove(1));
                build::nvl2(args.remove(0), yes, no, types)?
            }
            "NULLIF" => {
                let b = args.remove(1);
                build::nullif(args.remove(0), b, types)?
            }
            "ISNULL" if super::expr::compares_rows(&call.args[0]) => Expr::boolean(false),
            "ISNULL" => build::is_null(args.remove(0))?,
            "NAME_CONST" => {
                if args.iter().any(|arg| arg.as_literal().is_none()) || !is_value(&call.args[1]) {
                    return Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&"NAME_CONST"]));
                }
                // Compat: it stands for a variable of a program, whose collation counts.
                let mut value = args.remove(1);
                if value.ty.is_string() || value.ty.kind == TypeKind::Null {
                    value.coercibility = Coercibility::Implicit;
                }
                value
            }
            "DECODE_ORACLE" => build::decode(args, types)?,
            "COALESCE" => build::coalesce("coalesce", args, types)?,
            _ => build::coalesce("ifnull", args, types)?,
        }))
    }

    fn stored_function(&mut self, call: &ast::FunctionCall) -> SqlResult<Expr> {
        let written = call.schema.as_ref().map(|schema| &*schema.value);
        // The text of a view names a function of a package in full, in every mode.
        let is_full = call.name.value.contains('.');
        let member = match self.schema.is_none() || is_full {
            true => self.names.environment.package_function(written, &call.name.value)?,
            false => None,
        };
        let (schema, name) = match (member, self.schema_of(call.schema.as_ref())) {
            (Some(member), _) => member,
            (None, Ok(schema)) => (schema, call.name.value.clone()),
            _ => return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &call.name])),
        };
        let full = format!("{schema}.{name}");
        let found = self.names.environment.stored_function(&schema, &name);
        if self.who.is_none() {
            // Only accounts that may run the routine learn whether it exists.
            let permissions = self.names.environment.permissions();
            permissions.check_function(&schema, &name)?;
        }
        let Some(function) = found else {
            return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &full]));
        };
        let bound = match function.aggregate {
            true => self.args_of_rows(&call.args)?,
            false => call.args.iter().map(|arg| self.expr(arg)).collect::<SqlResult<_>>()?,
        };
        let (args, rows) = fields_of(bound)?;
        if rows.len() != function.parameters {
            let (wanted, given) = (function.parameters, rows.len());
            return Err(SqlError::new(
                &ER_SP_WRONG_NO_OF_ARGS,
                &[&"FUNCTION", &full, &wanted, &given],
            ));
        }
        self.uses.call(&schema, &name);
        let stored = StoredCall {
            schema,
            name,
            args,
            rows,
            variables: call.args.iter().map(variable).collect(),
            deterministic: function.deterministic,
            who: self.who.clone(),
        };
        match function.aggregate {
            true => self.add_aggregate(Aggregate::stored(stored, function.returns), None),
            false => Ok(Expr::new(ExprKind::Stored(Box::new(stored)), function.returns, true)),
        }
    }

    pub(super) fn cast(&mut self, operand: &ast::Expr, target: &ast::CastType) -> SqlResult<Expr> {
        check_digits(operand, target)?;
        let operand = self.scalar(operand)?;
        if let ast::CastType::IntervalDaySecond(digits) = target {
            let fsp = digits.unwrap_or(0).min(6) as u8;
            return build::interval_day_second(operand, fsp, self.types);
        }
        let mut ty = self.cast_type(target)?;
        self.limit_length(&mut ty);
        let operand = match ty.is_temporal() {
            true => self.time_of_transaction(operand)?,
            false => operand,
        };
        build::cast(operand, &ty, self.types)
    }

    /// Cuts the length of a padded or cut value to `max_allowed_packet`, with a warning.
    pub(super) fn limit_length(&mut self, ty: &mut SqlType) {
        let most = self.types.max_allowed_packet;
        let written = ty.is_string() && ty.length != u32::MAX;
        if written && u64::from(ty.length) > most {
            ty.length = most as u32;
            let name = if ty.collation.is_binary() { "cast_as_binary" } else { "cast_as_char" };
            let def = &ER_WARN_ALLOWED_PACKET_OVERFLOWED;
            self.warnings.conditions.push(Condition::warning(def, &[&name, &most]));
        }
    }

    pub(super) fn cast_type(&self, target: &ast::CastType) -> SqlResult<SqlType> {
        let fsp = |fsp: &Option<u64>| fsp.unwrap_or(0).min(6) as u8;
        let string = |length: &Option<u64>, collation: CollationId| match length {
            Some(n) => {
                let length = u32::try_from(*n).unwrap_or(u32::MAX).min(u32::MAX - 1);
                SqlType::varchar(length, collation)
            }
            None => SqlType::varchar(u32::MAX, collation),
        };
        Ok(match target {
            ast::CastType::Binary(length) => {
                let mut ty = string(length, CollationId::BINARY);
                if length.is_some() {
                    ty.kind = TypeKind::Char;
                }
                ty
            }
            ast::CastType::Char { length, charset, binary, collation } => {
                let mut id = match charset {
                    Some(ast::CharsetName::Named(name)) => charset_collation(name)?,
                    _ => self.types.collation_connection,
                };
                if *binary {
                    id = id.charset().bin_collation();
                }
                if let Some(name) = collation.as_deref().filter(|name| *name != "default") {
                    id = named_collation(name, id.charset())?;
                }
                string(length, id)
            }
            ast::CastType::Signed => SqlType::bigint(),
            ast::CastType::Unsigned => SqlType::bigint_unsigned(),
            ast::CastType::Decimal { precision, decimals } => {
                let precision = precision.unwrap_or(10).clamp(1, DECIMAL_DIGITS.into()) as u32;
                SqlType::decimal(precision, decimals.unwrap_or(0).min(38) as u8)
            }
            ast::CastType::Float => {
                SqlType::new(TypeKind::Float, 12, selkie_types::NOT_FIXED_DECIMALS)
            }
            ast::CastType::Double(None) => SqlType::double(),
            ast::CastType::Double(Some((digits, decimals))) => {
                SqlType::new(TypeKind::Double, *digits as u32, *decimals as u8)
            }
            ast::CastType::Date => SqlType::date(),
            ast::CastType::Time(digits) => SqlType::time(fsp(digits)),
            ast::CastType::DateTime(digits) => SqlType::datetime(fsp(digits)),
            ast::CastType::IntervalDaySecond(digits) => SqlType::time(fsp(digits)),
            ast::CastType::Json => SqlType::varchar(u32::MAX, CollationId::UTF8MB4_BIN),
            ast::CastType::Other(ast::TypeName::Inet4) => {
                SqlType::of_fixed_binary(FixedBinary::Inet4)
            }
            ast::CastType::Other(ast::TypeName::Inet6) => {
                SqlType::of_fixed_binary(FixedBinary::Inet6)
            }
            ast::CastType::Other(ast::TypeName::Uuid) => {
                SqlType::of_fixed_binary(FixedBinary::Uuid)
            }
            ast::CastType::Other(name) => {
                let operator = format!("CAST(expr AS {})", name.word());
                return Err(SqlError::new(&ER_UNKNOWN_OPERATOR, &[&operator]));
            }
        })
    }
}

/// The variable that an expression is.
fn variable(e: &ast::Expr) -> Option<NamedVariable> {
    match &e.kind {
        ast::ExprKind::UserVar(name) => Some(NamedVariable::User(name.clone())),
        ast::ExprKind::Param(slot) => Some(NamedVariable::Placeholder(*slot as usize)),
        _ => None,
    }
}

/// The arguments of a stored function, rows as their fields, and the number of fields of each row.
fn fields_of(arguments: Vec<Expr>) -> SqlResult<(Vec<Expr>, Vec<Option<usize>>)> {
    let (mut args, mut rows) = (Vec::new(), Vec::new());
    for argument in arguments {
        match argument.kind {
            ExprKind::Row(fields) => {
                fields.iter().try_for_each(refuse_row)?;
                rows.push(Some(fields.len()));
                args.extend(fields);
            }
            _ => {
                rows.push(None);
                args.push(argument);
            }
        }
    }
    Ok((args, rows))
}

/// Errors 1425, 1426 and 1427: more digits than the type allows.
fn check_digits(operand: &ast::Expr, target: &ast::CastType) -> SqlResult<()> {
    const MOST_DECIMALS: u64 = 38;
    const MOST_FRACTION_DIGITS: u64 = 6;
    let name = || match &operand.kind {
        ast::ExprKind::Literal(ast::Literal::String(text)) => {
            String::from_utf8_lossy(&text.bytes).into_owned()
        }
        ast::ExprKind::Column(column) => column.name.value.to_string(),
        _ => selkie_sql::unparse_expr(operand, &Default::default()),
    };
    match target {
        ast::CastType::Time(Some(n)) | ast::CastType::DateTime(Some(n))
            if *n > MOST_FRACTION_DIGITS =>
        {
            Err(SqlError::new(&ER_TOO_BIG_PRECISION, &[&name(), &MOST_FRACTION_DIGITS]))
        }
        ast::CastType::Decimal { decimals: Some(n), .. } if *n > MOST_DECIMALS => {
            Err(SqlError::new(&ER_TOO_BIG_SCALE, &[&name(), &MOST_DECIMALS]))
        }
        ast::CastType::Decimal { precision: Some(n), .. } if *n > DECIMAL_DIGITS.into() => {
            Err(SqlError::new(&ER_TOO_BIG_PRECISION, &[&name(), &DECIMAL_DIGITS]))
        }
        ast::CastType::Decimal { precision: Some(n @ 1..), decimals: Some(m) } if m > n => {
            Err(SqlError::new(&ER_M_BIGGER_THAN_D, &[&""]))
        }
        _ => Ok(()),
    }
}

fn is_integer_literal(expr: &Expr) -> bool {
    matches!(expr.as_literal(), Some(Value::Int(_) | Value::UInt(_)))
}

/// Whether an expression is a literal, perhaps with a sign or a COLLATE.
fn is_value(expr: &ast::Expr) -> bool {
    stack::ensure();
    match &expr.kind {
        ast::ExprKind::Literal(_) => true,
        ast::ExprKind::Unary { op: ast::UnaryOp::Neg, expr } => is_value(expr),
        ast::ExprKind::Collate { expr, .. } => is_value(expr),
        _ => false,
    }
}
