//! Conversion of values to the type of the column that stores them.
//!
//! Unlike a cast, it reports values that do not fit: as an error in strict mode, else as a warning
//! with the nearest value the column can hold. Used by INSERT, UPDATE, LOAD DATA and `CREATE TABLE
//! .. SELECT`. NULLs pass unchecked: the caller decides whether they are allowed.

mod fixed_binary;
mod geometry;
mod integer;
mod member;
mod report;
mod string;
mod temporal;

use std::sync::Arc;

use selkie_types::{
    Column, ColumnData, DateTime, DecimalValues, Physical, SqlMode, SqlResult, SqlType, TypeKind,
};

use crate::Expr;
use crate::context::EvalContext;
pub use fixed_binary::refuse_assignment;
use report::Report;

/// Handling of values that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreMode {
    /// They are errors.
    Strict,
    /// They are warnings with the text of the errors: the rows are stored and stay.
    Softened,
    /// They are warnings, and the nearest value is stored (`INSERT IGNORE`, no strict sql mode).
    Lenient,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct StoreTarget<'a> {
    /// The type.
    pub ty: &'a SqlType,
    /// The schema, for messages.
    pub schema: &'a str,
    /// The table.
    pub table: &'a str,
    /// The column.
    pub column: &'a str,
    /// Origin of the values.
    pub given: Given,
}

/// Origin of values to be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// An expression.
    Computed,
    /// A column of a table, of any type.
    Column,
    /// The column itself, of another type before its definition changed.
    Before,
}

impl Given {
    /// Whether an expression is a column of a table.
    pub fn of(e: &Expr) -> Self {
        match e.is_column_of_table() {
            true => Self::Column,
            false => Self::Computed,
        }
    }

    /// Whether an expression is a column of its input.
    pub fn of_input(e: &Expr) -> Self {
        match e.as_column() {
            Some(_) => Self::Column,
            None => Self::Computed,
        }
    }
}

/// The values of `column`, of type `from`, as `target` stores them. `first_row` is the first row's
/// number in messages.
pub fn convert_for_column(
    column: &Arc<Column>,
    from: &SqlType,
    target: &StoreTarget<'_>,
    mode: StoreMode,
    first_row: u64,
    ctx: &EvalContext<'_>,
) -> SqlResult<Arc<Column>> {
    let to = target.ty;
    let has_limits = has_limits(target, ctx);
    // A CHAR that is read with its trailing spaces must be stored without them.
    let is_padded =
        to.kind == TypeKind::Char && ctx.types.sql_mode.contains(SqlMode::PAD_CHAR_TO_FULL_LENGTH);
    if from == to && !has_limits && !is_padded && is_within_type(column) {
        return Ok(column.clone());
    }
    fixed_binary::refuse(from, target, mode, first_row, ctx)?;
    if from.kind == TypeKind::Null || (column.is_constant() && column.is_null(0)) {
        let scale = if to.kind == TypeKind::Decimal { to.decimals } else { 0 };
        return Ok(Arc::new(Column::nulls(to.physical(), scale, column.len())));
    }
    let was = from;
    let named;
    let by_name = matches!(from.kind, TypeKind::Enum | TypeKind::Set) && to.is_temporal();
    let (column, from) = match by_name {
        true => {
            named = names_of(column, from);
            (&named.0, &named.1)
        }
        false => (column, from),
    };
    let written;
    let (column, from) = match from.fixed_binary() {
        Some(kind) if from.kind != to.kind => {
            written = fixed_binary::written(column, kind, to);
            (&written.0, &written.1)
        }
        _ => (column, from),
    };
    let local;
    let (column, from) = if from.kind == TypeKind::Timestamp && to.kind != TypeKind::Timestamp {
        local = Arc::new(to_local(column, ctx));
        (&local, &SqlType::datetime(from.decimals))
    } else {
        (column, from)
    };
    let (number, long_hex);
    let (column, from) = if from.is_string() && from.unsigned && to.is_numeric() {
        // A hexadecimal literal is a number in a numeric column.
        number = Arc::new(hex_numbers(column, to));
        long_hex = Some(column);
        (&number, &SqlType::bigint_unsigned())
    } else {
        long_hex = None;
        (column, from)
    };
    let was_copied = target.given == Given::Before;
    let plain = matches!(from.kind, TypeKind::Bit | TypeKind::Year);
    let tells_old = was_copied && from.physical() != Physical::Double && !plain && !by_name;
    let is_written = was.fixed_binary().is_some() && was.kind != to.kind;
    let report = Report { target, mode, first_row, ctx, was_copied, tells_old, is_written };
    let source = Source { column, from, report };
    let converted = stored(&source)?;
    if let Some(hex) = long_hex {
        tell_long_hex(hex, &source)?;
    }
    Ok(converted)
}

/// Whether the SQL mode may refuse values that already have the target's type.
///
/// Compat: dates pass from column to column as they are, unless the SQL mode refuses zeros.
fn has_limits(target: &StoreTarget<'_>, ctx: &EvalContext<'_>) -> bool {
    let refuses = |mode| ctx.types.sql_mode.contains(mode);
    let no_zeros = refuses(SqlMode::NO_ZERO_DATE) || refuses(SqlMode::NO_ZERO_IN_DATE);
    match target.ty.kind {
        TypeKind::Date | TypeKind::DateTime => no_zeros || target.given != Given::Column,
        TypeKind::Timestamp => refuses(SqlMode::NO_ZERO_DATE),
        _ => false,
    }
}

fn stored(source: &Source<'_>) -> SqlResult<Arc<Column>> {
    let to = source.to();
    match to.kind {
        TypeKind::Bit | TypeKind::Year => integer::special(source),
        _ if to.is_integer() => integer::integers(source),
        TypeKind::Float | TypeKind::Double => integer::doubles(source),
        TypeKind::Decimal => integer::decimals(source),
        TypeKind::Date | TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => {
            temporal::convert(source)
        }
        TypeKind::Enum | TypeKind::Set => member::convert(source),
        _ if let Some(kind) = to.fixed_binary() => fixed_binary::convert(source, kind),
        _ if let Some(kind) = to.geometry_kind() => geometry::convert(source, kind),
        _ => string::convert(source),
    }
}

/// Whether all values surely fit their type. Aggregates also give infinite doubles, and decimals
/// with more digits than their type.
fn is_within_type(column: &Column) -> bool {
    match column.data() {
        ColumnData::Double(v) => v.iter().all(|v| v.is_finite()),
        ColumnData::Decimal(d) => !matches!(d.values(), DecimalValues::I256(_)),
        _ => true,
    }
}

/// Compat: a value of a column is shown with all digits of its fraction, or none.
fn stored_digits(value: DateTime) -> String {
    let digits = if value.truncate_to(0) == value { 0 } else { 6 };
    let mut out = Vec::new();
    let ty = SqlType::datetime(digits);
    crate::text::write_value(&mut out, &selkie_types::Value::DateTime(value), &ty);
    String::from_utf8_lossy(&out).into_owned()
}

/// The names of members: dates and times are read from names.
fn names_of(column: &Column, from: &SqlType) -> (Arc<Column>, SqlType) {
    let mut out = Column::new(Physical::Bytes, 0, column.len());
    for row in 0..column.len() {
        if column.is_null(row) {
            out.push_null();
            continue;
        }
        let mut text = Vec::new();
        crate::text::write_value(&mut text, &column.value(row), from);
        out.push(&selkie_types::Value::bytes(text));
    }
    (Arc::new(out), SqlType::varchar(255, selkie_types::CollationId::UTF8MB4_GENERAL_CI))
}

/// The numbers of hexadecimal literals. A literal of more than eight bytes becomes the largest
/// BIGINT of the column's signedness.
fn hex_numbers(column: &Column, to: &SqlType) -> Column {
    let largest = if to.unsigned { u64::MAX } else { i64::MAX as u64 };
    let mut out = Column::new(Physical::UInt, 0, column.len());
    for row in 0..column.len() {
        match column.value(row) {
            selkie_types::Value::Bytes(bytes) => {
                let number = match bytes.len() > 8 {
                    true => largest,
                    false => crate::cast::integer_of_hex(&bytes),
                };
                out.push(&selkie_types::Value::UInt(number));
            }
            _ => out.push_null(),
        }
    }
    out
}

/// Reports hexadecimal literals of more than eight bytes as out of range, in columns where the
/// number taken in their place fits and was therefore not reported.
fn tell_long_hex(hex: &Column, source: &Source<'_>) -> SqlResult<()> {
    let to = source.to();
    let fits = match to.kind {
        TypeKind::BigInt | TypeKind::Double | TypeKind::Float => true,
        TypeKind::Decimal => {
            let digits = if to.unsigned { 20 } else { 19 };
            to.length.saturating_sub(to.decimals.into()) >= digits
        }
        _ => false,
    };
    if !fits {
        return Ok(());
    }
    for row in 0..hex.len() {
        if !hex.is_null(row) && hex.bytes(row).len() > 8 {
            source.report.out_of_range(row)?;
        }
    }
    Ok(())
}

fn to_local(column: &Column, ctx: &EvalContext<'_>) -> Column {
    let mut out = Column::new(Physical::DateTime, 0, column.len());
    for row in 0..column.len() {
        match column.value(row) {
            selkie_types::Value::DateTime(v) => {
                let local: DateTime = ctx.types.time_zone.to_local(v);
                out.push(&selkie_types::Value::DateTime(local));
            }
            _ => out.push_null(),
        }
    }
    out
}

/// A column to convert.
struct Source<'a> {
    column: &'a Arc<Column>,
    from: &'a SqlType,
    report: Report<'a>,
}

impl Source<'_> {
    fn to(&self) -> &SqlType {
        self.report.target.ty
    }

    fn rows(&self) -> usize {
        self.column.len()
    }

    /// The text of a row, for messages and for conversions through text.
    fn text(&self, row: usize) -> Vec<u8> {
        let mut out = Vec::new();
        crate::text::write_value(&mut out, &self.column.value(row), self.from);
        out
    }

    /// The text of a row in a message.
    fn shown(&self, row: usize) -> String {
        if let (TypeKind::Bit, ColumnData::UInt(v)) = (self.from.kind, self.column.data()) {
            return v[self.column.physical_row(row)].to_string();
        }
        if let (true, ColumnData::DateTime(v)) =
            (self.report.target.given != Given::Computed, self.column.data())
        {
            return stored_digits(v[self.column.physical_row(row)]);
        }
        let text = self.text(row);
        match self.column.physical() {
            Physical::Bytes => crate::text::for_message(&text, self.from.collation),
            _ => String::from_utf8_lossy(&text).into_owned(),
        }
    }

    /// The bytes of a string, in an ASCII-compatible charset.
    fn ascii(&self, row: usize) -> std::borrow::Cow<'_, [u8]> {
        let bytes = self.column.bytes(row);
        let charset = self.from.collation.charset();
        if charset.min_len() == 1 {
            return bytes.into();
        }
        charset.convert(bytes, selkie_types::Charset::Utf8mb4).0
    }
}
