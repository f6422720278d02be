//! Constructors of leaf expressions.
//! Each sets the coercibility that MariaDB gives to such a leaf.

use selkie_types::{CollationId, Date, DateTime, Decimal, SqlType, Time, TypeKind, Value};

use super::{Expr, ExprKind, Origin, VariableScope};
use crate::collate::Coercibility;
use crate::result_type::boolean_type;

impl Expr {
    /// An expression of `kind`, with the coercibility of a computed value of its type.
    pub fn new(kind: ExprKind, ty: SqlType, nullable: bool) -> Self {
        let coercibility =
            if ty.is_string() { Coercibility::Coercible } else { Coercibility::Numeric };
        Self { kind, ty, nullable, coercibility, origin: Origin::default() }
    }

    /// The column at `position` of the input batch.
    pub fn column(position: usize, ty: SqlType, nullable: bool) -> Self {
        let mut expr = Self::new(ExprKind::Column(position), ty, nullable);
        if matches!(expr.ty.kind, TypeKind::Enum | TypeKind::Set) || expr.ty.is_string() {
            expr.coercibility = Coercibility::Implicit;
        }
        expr
    }

    /// A placeholder or a value of an outer query. Strings have the coercibility of literals. For
    /// an outer column the caller sets its own.
    pub fn parameter(slot: usize, ty: SqlType) -> Self {
        Self::new(ExprKind::Parameter(slot), ty, true)
    }

    /// A constant of any type.
    pub fn literal(value: Value, ty: SqlType) -> Self {
        let nullable = value.is_null();
        let mut expr = Self::new(ExprKind::Literal(value), ty, nullable);
        if nullable {
            expr.coercibility = Coercibility::Ignorable;
        }
        expr
    }

    /// `NULL`.
    pub fn null() -> Self {
        Self::literal(Value::Null, SqlType::null())
    }

    /// A signed integer literal, whose length is its number of digits.
    pub fn int(value: i64) -> Self {
        let digits = itoa::Buffer::new().format(value).len() as u32;
        let kind = if digits - u32::from(value < 0) > 9 { TypeKind::BigInt } else { TypeKind::Int };
        Self::literal(Value::Int(value), SqlType::new(kind, digits, 0))
    }

    /// An integer literal beyond the signed range.
    pub fn uint(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(value) => Self::int(value),
            Err(_) => {
                let digits = itoa::Buffer::new().format(value).len() as u32;
                let mut ty = SqlType::new(TypeKind::BigInt, digits, 0);
                ty.unsigned = true;
                Self::literal(Value::UInt(value), ty)
            }
        }
    }

    /// `TRUE` or `FALSE`.
    pub fn boolean(value: bool) -> Self {
        Self::literal(Value::Int(value.into()), boolean_type())
    }

    /// A decimal literal.
    pub fn decimal(value: Decimal) -> Self {
        let precision = value.int_digits().max(1) + u32::from(value.scale());
        let ty = SqlType::decimal(precision.min(65), value.scale());
        Self::literal(Value::Decimal(value), ty)
    }

    /// A double literal.
    pub fn double(value: f64) -> Self {
        Self::literal(Value::Double(value), SqlType::double())
    }

    /// A string literal in the charset of its collation.
    pub fn string(bytes: &[u8], collation: CollationId) -> Self {
        let characters = crate::text::char_count(collation, bytes) as u32;
        Self::literal(Value::bytes(bytes), SqlType::varchar(characters, collation))
    }

    /// `0x..`, `0b..` and `b'..'`: a binary string that is a number in a numeric context. `x'..'`
    /// is only a binary string.
    pub fn hex(bytes: &[u8]) -> Self {
        let mut expr = Self::string(bytes, CollationId::BINARY);
        expr.ty.unsigned = true;
        expr
    }

    /// Whether this is a hexadecimal or bit literal, or a function that chooses among such
    /// literals.
    pub fn is_hex(&self) -> bool {
        use ExprKind::{Call, Case, Coalesce, Column, Literal};
        self.ty.unsigned
            && self.ty.is_string()
            && matches!(self.kind, Literal(_) | Case(_) | Coalesce(_) | Call(_) | Column(_))
    }

    /// `DATE'...'`.
    pub fn date(value: Date) -> Self {
        Self::literal(Value::Date(value), SqlType::date())
    }

    /// `TIME'...'`.
    pub fn time(value: Time, fsp: u8) -> Self {
        Self::literal(Value::Time(value), SqlType::time(fsp))
    }

    /// `TIMESTAMP'...'`.
    pub fn datetime(value: DateTime, fsp: u8) -> Self {
        Self::literal(Value::DateTime(value), SqlType::datetime(fsp))
    }

    /// `@name`, with the type that the variable has when the statement is bound.
    pub fn user_variable(name: &str, ty: SqlType) -> Self {
        let mut expr = Self::new(ExprKind::UserVariable(name.into(), false), ty, true);
        if expr.ty.is_string() {
            expr.coercibility = Coercibility::Implicit;
        }
        expr
    }

    /// `@name := value`.
    pub fn assign(name: &str, value: Self) -> Self {
        let (mut ty, nullable) = (value.ty.clone(), value.nullable);
        // A variable cannot hold a FLOAT.
        if ty.kind == TypeKind::Float {
            ty.kind = TypeKind::Double;
        }
        if ty.is_integer() {
            // Compat: the type of an assigned integer follows from its length.
            ty.kind = if ty.length < 10 { TypeKind::Int } else { TypeKind::BigInt };
        }
        // A string in a variable has the coercibility of a column.
        let coercibility = if ty.is_string() { Coercibility::Implicit } else { value.coercibility };
        let kind = ExprKind::AssignUserVariable(name.into(), Box::new(value));
        Self { coercibility, ..Self::new(kind, ty, nullable) }
    }

    /// `@@name`; the caller knows its type.
    pub fn system_variable(scope: VariableScope, name: &str, ty: SqlType) -> Self {
        let mut expr = Self::new(ExprKind::SystemVariable(scope, name.into()), ty, true);
        if expr.ty.is_string() {
            expr.coercibility = Coercibility::SysConst;
        }
        expr
    }

    /// A row of values.
    pub fn row(values: Vec<Self>) -> Self {
        Self::new(ExprKind::Row(values), SqlType::null(), true)
    }
}
