//! Binding of a call: the arguments are converted, then the call is made with its kernel.
//! Must convert every argument to the kind the kernel reads: kernels do not check types.

use selkie_types::error::catalogue::{
    ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION, ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION,
    ER_OPERAND_COLUMNS,
};
use selkie_types::{CollationId, JsonRole, SqlError, SqlResult, SqlType, TypeKind, Value};

use super::{Function, Kernel};
use crate::cast::{self, DateRule};
use crate::collate::{self, Claim, Coercibility};
use crate::context::{EvalContext, TypeContext};
use crate::expr::{Call, CallOption, Expr, ExprKind};
use crate::json::{is_json, makes_document};
use crate::refuse::{refuse_any, refuse_any_row};
use crate::union_type::refuse_unified_row;

/// The arguments of a call and the settings it is bound with.
pub struct Binding<'a> {
    /// The function.
    pub function: &'static Function,
    /// Arguments as written, then as converted.
    pub args: Vec<Expr>,
    /// The settings.
    pub types: &'a TypeContext,
    /// Parts of the call that are not expressions.
    pub option: CallOption,
    /// The collation in which the call compares.
    pub collation: CollationId,
    coercibility: Option<Coercibility>,
}

impl<'a> Binding<'a> {
    /// A call of `function`.
    pub fn new(function: &'static Function, args: Vec<Expr>, types: &'a TypeContext) -> Self {
        Self {
            function,
            args,
            types,
            option: CallOption::None,
            collation: CollationId::BINARY,
            coercibility: None,
        }
    }

    /// The same call with an option.
    pub fn with_option(self, option: CallOption) -> Self {
        Self { option, ..self }
    }

    /// Refuses row operands.
    pub fn scalars(&self) -> SqlResult<()> {
        match self.function.name() {
            name @ ("GREATEST" | "LEAST") => {
                refuse_unified_row(&name.to_ascii_lowercase(), &self.args, self.types)?;
            }
            "BIT_COUNT" => {
                refuse_any_row("bit_count", &self.args)?;
                refuse_any("bit_count", &self.args)?;
            }
            name => crate::refuse::refuse_arguments(name, &self.args)?,
        }
        match self.args.iter().any(|a| matches!(a.kind, ExprKind::Row(_))) {
            true => Err(SqlError::new(&ER_OPERAND_COLUMNS, &[&1])),
            false => Ok(()),
        }
    }

    /// Refuses JSON, addresses and identifiers in place of a date or time: error 4078, or 4079 for
    /// a single argument. `second` names the other operand if it is no argument.
    pub(crate) fn refuse_json(&self, operation: &str, second: Option<&str>) -> SqlResult<()> {
        if !self.args.iter().any(|e| is_json(e) || e.ty.is_opaque()) {
            return Ok(());
        }
        let names: Vec<String> = self.args.iter().map(parameter_name).collect();
        let error = match (second, &names[..]) {
            (Some(second), [first, ..]) => SqlError::new(
                &ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION,
                &[first, &second, &operation],
            ),
            (None, [first, second]) => SqlError::new(
                &ER_ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION,
                &[first, second, &operation],
            ),
            _ => SqlError::new(
                &ER_ILLEGAL_PARAMETER_DATA_TYPE_FOR_OPERATION,
                &[&names[0], &operation],
            ),
        };
        Err(error)
    }

    /// Number of arguments.
    pub(crate) fn len(&self) -> usize {
        self.args.len()
    }

    /// Whether an argument can be NULL.
    pub fn nullable(&self) -> bool {
        self.args.iter().any(|a| a.nullable)
    }

    /// Converts an argument to a signed integer.
    pub fn int(&mut self, at: usize) {
        cast::to_int(&mut self.args[at]);
    }

    /// Converts an argument to an unsigned integer; negative numbers keep their bits.
    pub fn uint(&mut self, at: usize) {
        cast::to_uint(&mut self.args[at]);
    }

    /// Converts an argument to an operand of a bit operation.
    pub fn bits(&mut self, at: usize) {
        cast::to_bits(&mut self.args[at]);
    }

    /// Converts an argument to a double.
    pub fn double(&mut self, at: usize) {
        cast::to_double(&mut self.args[at]);
    }

    /// Converts an argument to a decimal.
    pub fn decimal(&mut self, at: usize) {
        cast::to_decimal(&mut self.args[at]);
    }

    /// Converts an argument to a string.
    pub fn text(&mut self, at: usize) {
        cast::to_text(&mut self.args[at], self.types);
    }

    /// Converts an argument to a string in an ASCII-compatible charset.
    pub fn ascii_text(&mut self, at: usize) {
        self.text(at);
        if self.args[at].ty.collation.charset().min_len() > 1 {
            cast::to_charset(&mut self.args[at], CollationId::UTF8MB4_GENERAL_CI);
        }
    }

    /// Converts an argument to a string in utf8mb4.
    pub fn utf8_text(&mut self, at: usize) {
        self.text(at);
        if self.args[at].ty.collation.charset() != CollationId::UTF8MB3_GENERAL_CI.charset() {
            cast::to_charset(&mut self.args[at], CollationId::UTF8MB4_GENERAL_CI);
        }
    }

    /// Converts an argument to a date.
    pub fn date(&mut self, at: usize) {
        cast::to_date(&mut self.args[at]);
    }

    /// Converts an argument to a date; `rule` says which dates are accepted.
    pub(crate) fn date_by(&mut self, at: usize, rule: DateRule) {
        cast::to_date_by(&mut self.args[at], rule);
    }

    /// Converts an argument to a date and time; `rule` says which dates are accepted.
    pub(crate) fn datetime_by(&mut self, at: usize, rule: DateRule) {
        cast::to_datetime_by(&mut self.args[at], rule);
    }

    /// Converts an argument to a time.
    pub fn time(&mut self, at: usize) {
        cast::to_time(&mut self.args[at]);
    }

    /// Converts an argument to a date and time.
    pub fn datetime(&mut self, at: usize) {
        cast::to_datetime(&mut self.args[at]);
    }

    /// Converts the arguments in `at` to strings of one charset. Their collation becomes that of
    /// the call and of its result.
    pub fn unify(&mut self, at: std::ops::Range<usize>, compared: bool) -> SqlResult<Claim> {
        let name = self.function.name().to_ascii_lowercase();
        at.clone().for_each(|i| self.text(i));
        let mut args: Vec<&mut Expr> = self.args[at].iter_mut().collect();
        let claim = collate::unify(&mut args, &name, compared)?;
        self.collation = claim.collation;
        self.coercibility = Some(claim.coercibility);
        Ok(claim)
    }

    /// Like [`Binding::unify`] for the first two arguments, but only the first counts for the
    /// result.
    pub(crate) fn unify_searched(&mut self) -> SqlResult<()> {
        self.args.swap(0, 1);
        let unified = self.unify(0..2, true).map(|_| ());
        self.args.swap(0, 1);
        unified
    }

    /// Converts an argument to a string. Its collation becomes that of the call and of its result.
    pub fn subject(&mut self, at: usize) {
        self.text(at);
        self.collation = self.args[at].ty.collation;
        self.coercibility = Some(self.args[at].coercibility);
    }

    /// Gives the result a collation with its coercibility.
    pub(crate) fn claim(&mut self, collation: CollationId, coercibility: Coercibility) {
        self.collation = collation;
        self.coercibility = Some(coercibility);
    }

    /// Gives the result the coercibility of a system constant.
    pub fn system_constant(&mut self) {
        self.collation = CollationId::UTF8MB3_GENERAL_CI;
        self.coercibility = Some(Coercibility::SysConst);
    }

    /// Gives the result the connection's collation.
    pub fn connection_collation(&mut self) {
        self.collation = self.types.collation_connection;
        self.coercibility = Some(Coercibility::Coercible);
    }

    /// The type of a string result with at most `characters`, in the call's collation.
    pub fn string_type(&self, characters: u64) -> SqlType {
        string_type(characters, self.collation, self.types)
    }

    /// The value of an argument, if it is known at binding.
    pub fn constant(&self, at: usize) -> Option<Value> {
        constant_value(self.args.get(at)?, self.types)
    }

    /// The value of an argument as an integer, if it is known at binding.
    pub fn constant_int(&self, at: usize) -> Option<i64> {
        let mut arg = self.args.get(at)?.clone();
        cast::to_int(&mut arg);
        match constant_value(&arg, self.types)? {
            Value::Int(v) => Some(v),
            Value::UInt(v) => Some(i64::try_from(v).unwrap_or(i64::MAX)),
            _ => None,
        }
    }

    /// Makes the call.
    pub fn call(self, ty: SqlType, nullable: bool, kernel: Kernel) -> Expr {
        let coercibility = self.coercibility.unwrap_or(Coercibility::Coercible);
        let call = Call {
            function: self.function,
            args: self.args,
            option: self.option,
            collation: self.collation,
            kernel,
            cache: Default::default(),
        };
        let makes_document = makes_document(call.function.name());
        let mut expr = Expr::new(ExprKind::Call(Box::new(call)), ty, nullable);
        if expr.ty.is_string() {
            expr.coercibility = coercibility;
            if makes_document {
                expr.ty.json = JsonRole::Document;
            }
        }
        expr
    }

    /// Makes a call that is NULL exactly if an argument is.
    ///
    /// Compat: in strict sql modes, every string function is nullable.
    pub fn strict(self, ty: SqlType, kernel: Kernel) -> SqlResult<Expr> {
        let string = ty.is_string() && self.types.sql_mode.is_strict();
        let nullable = self.nullable() || string;
        Ok(self.call(ty, nullable, kernel))
    }

    /// Makes a call that can be NULL for other reasons too.
    pub fn maybe(self, ty: SqlType, kernel: Kernel) -> SqlResult<Expr> {
        Ok(self.call(ty, true, kernel))
    }

    /// Makes a call that is never NULL.
    pub fn never_null(self, ty: SqlType, kernel: Kernel) -> SqlResult<Expr> {
        Ok(self.call(ty, false, kernel))
    }
}

/// Name of an argument in errors about parameters.
fn parameter_name(e: &Expr) -> String {
    let json = if is_json(e) { "/json" } else { "" };
    format!("{}{json}", crate::refuse::parameter_name(&e.ty))
}

/// The value of an expression that needs no statement.
pub(crate) fn constant_value(e: &Expr, types: &TypeContext) -> Option<Value> {
    if let ExprKind::Literal(value) = &e.kind {
        return Some(value.clone());
    }
    if !e.is_foldable() {
        return None;
    }
    e.eval_value(&EvalContext::detached(types)).ok()
}

/// The type of a string function's result with at most `characters`.
///
/// Compat: a result too long for VARCHAR gets a blob type that is large enough.
pub(crate) fn string_type(characters: u64, collation: CollationId, types: &TypeContext) -> SqlType {
    let bytes_per_char = collation.charset().max_len() as u64;
    let limit = types.max_allowed_packet;
    let characters = characters.min(u64::from(u32::MAX)).min(limit);
    let bytes = characters * bytes_per_char;
    let kind = match bytes {
        _ if characters <= 512 || bytes <= 65_532 => TypeKind::VarChar,
        65_533..=65_535 => TypeKind::Text,
        65_536..=16_777_215 => TypeKind::MediumText,
        _ => TypeKind::LongText,
    };
    let mut ty = SqlType::new(kind, characters as u32, 0);
    ty.collation = collation;
    ty
}
