//! Conversions to numbers: the kernels.
//! Must not choose the kernel of a conversion: `cast.rs` does.

use selkie_types::error::catalogue::{ER_DATA_OVERFLOW, ER_TRUNCATED_WRONG_VALUE};
use selkie_types::number::{Rest, f64_to_i64, f64_to_u64, parse_f64, parse_integer};
use selkie_types::{
    Column, ColumnData, Decimal, DecimalColumn, DecimalValues, SqlResult, SqlType, Value,
};

use crate::expr::{Expr, ExprKind};
use crate::kernel::{DecimalOut, Frame, from_bytes, map, try_map};
use crate::result_type::integer_type;
use crate::text::for_message;

/// Warning 1292 for a value that is not completely a number.
#[cold]
pub(super) fn truncated(frame: &Frame<'_>, kind: &str, bytes: &[u8]) {
    let text = for_message(bytes, frame.arg_type(0).collation);
    frame.ctx.warn(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &text]);
}

/// Reports the text after a number, unless a column has it and the evaluation is quiet.
pub(super) fn report(frame: &Frame<'_>, kind: &str, bytes: &[u8], rest: Rest) {
    let is_column = || matches!(frame.call.args[0].kind, ExprKind::Column(_));
    if !(frame.ctx.is_quiet() && is_column()) {
        report_aloud(frame, kind, bytes, rest);
    }
}

/// Reports the text after a number: other text is a warning, spaces are a note.
fn report_aloud(frame: &Frame<'_>, kind: &str, bytes: &[u8], rest: Rest) {
    match rest {
        Rest::None => {}
        Rest::Spaces => {
            let text = for_message(bytes, frame.arg_type(0).collation);
            frame.ctx.note(&ER_TRUNCATED_WRONG_VALUE, &[&kind, &text]);
        }
        Rest::Garbage => truncated(frame, kind, bytes),
    }
}

/// Strings of charsets with two or four bytes per unit, converted to an ASCII-compatible one.
pub(super) fn ascii<'a>(frame: &Frame<'_>, bytes: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    let charset = frame.arg_type(0).collation.charset();
    if charset.min_len() == 1 {
        return bytes.into();
    }
    charset.convert(bytes, selkie_types::Charset::Utf8mb4).0
}

pub(super) fn uint_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map::<u64, i64>(frame, |v| i64::try_from(v).unwrap_or(i64::MAX)))
}

pub(super) fn int_to_uint(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map::<i64, u64>(frame, |v| v as u64))
}

pub(super) fn double_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map::<f64, i64>(frame, |v| f64_to_i64(v).0))
}

pub(super) fn double_to_uint(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map::<f64, u64>(frame, |v| if v < 0.0 { f64_to_i64(v).0 as u64 } else { f64_to_u64(v).0 }))
}

pub(super) fn int_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map::<i64, f64>(frame, |v| v as f64))
}

pub(super) fn uint_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map::<u64, f64>(frame, |v| v as f64))
}

/// Applies `f` to every decimal; NULL stays NULL.
fn map_decimal<R>(
    frame: &Frame<'_>,
    wrap: fn(Vec<R>) -> ColumnData,
    f: impl Fn(Decimal) -> R,
) -> Column {
    let view = frame.decimals(0);
    let rows = view.column().len().min(frame.rows);
    let values = (0..rows).map(|row| f(view.column().get(row))).collect();
    Column::from_data(wrap(values), frame.args[0].validity().cloned())
}

pub(super) fn decimal_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map_decimal(frame, ColumnData::Int, |d| {
        let (value, clamped) = d.to_i64_clamped();
        if clamped {
            frame.ctx.warn(&ER_DATA_OVERFLOW, &[&d, &"INT"]);
        }
        value
    }))
}

pub(super) fn decimal_to_uint(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map_decimal(frame, ColumnData::UInt, |d| {
        if d.is_negative() { d.to_i64_clamped().0 as u64 } else { d.to_u64_clamped().0 }
    }))
}

pub(super) fn decimal_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map_decimal(frame, ColumnData::Double, Decimal::to_f64))
}

pub(super) fn int_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let column = &frame.args[0];
    let values = frame.view::<i64>(0).values();
    let values = DecimalValues::I64(values[..values.len().min(frame.rows)].to_vec());
    let data = ColumnData::Decimal(DecimalColumn::from_values(0, values));
    Ok(Column::from_data(data, column.validity().cloned()))
}

pub(super) fn uint_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.view::<u64>(0);
    let mut out = DecimalOut::new(0, frame.rows);
    (0..frame.rows).for_each(|row| out.push(view.get(row).map(Decimal::from)));
    Ok(out.finish())
}

pub(super) fn double_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.view::<f64>(0);
    let (precision, scale) = precision_and_scale(frame.ty);
    let mut out = DecimalOut::new(scale, frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).map(|v| {
            let max = Decimal::max_value(precision, scale);
            let limit = if v < 0.0 { -max } else { max };
            Decimal::from_f64(v).map_or(limit, |d| d.fit(precision, scale).0)
        }));
    }
    Ok(out.finish())
}

pub(super) fn precision_and_scale(ty: &SqlType) -> (u8, u8) {
    (ty.length.clamp(1, 65) as u8, ty.decimals)
}

pub(super) fn decimal_to_scale(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    let (from, to) = (view.column().scale(), frame.ty.decimals);
    if let DecimalValues::I64(v) = view.column().values()
        && to > from
        && to - from <= 18
    {
        let factor = 10i64.pow(u32::from(to - from));
        let scaled: Option<Vec<i64>> =
            v[..v.len().min(frame.rows)].iter().map(|v| v.checked_mul(factor)).collect();
        if let Some(values) = scaled {
            let data = DecimalColumn::from_values(to, DecimalValues::I64(values));
            return Ok(Column::from_data(
                ColumnData::Decimal(data),
                frame.args[0].validity().cloned(),
            ));
        }
    }
    let mut out = DecimalOut::new(to, frame.rows);
    for row in 0..frame.rows {
        let value = view.get(row);
        if value.is_some_and(|v| v.at_scale(to).is_none()) {
            return Err(frame.out_of_range("DECIMAL"));
        }
        out.push(value);
    }
    Ok(out.finish())
}

pub(super) fn bytes_to_int(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |bytes| {
        let parsed = parse_integer(&ascii(frame, bytes));
        report(frame, "INTEGER", bytes, parsed.rest);
        Ok(Some(i64::try_from(parsed.value).unwrap_or(i64::MAX)))
    })
}

pub(super) fn bytes_to_uint(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |bytes| {
        let parsed = parse_integer(&ascii(frame, bytes));
        report(frame, "INTEGER", bytes, parsed.rest);
        Ok(Some(parsed.value as u64))
    })
}

pub(super) fn bytes_to_double(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |bytes| {
        let parsed = parse_f64(&ascii(frame, bytes));
        report(frame, "DOUBLE", bytes, parsed.rest);
        Ok(Some(parsed.value))
    })
}

pub(super) fn bytes_to_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    let (precision, scale) = precision_and_scale(frame.ty);
    texts_to_decimals(frame, scale, |value| value.fit(precision, scale).0)
}

/// Texts beside decimals with more digits before the point than texts usually get.
pub(super) fn bytes_to_whole_decimal(frame: &Frame<'_>) -> SqlResult<Column> {
    texts_to_decimals(frame, frame.ty.decimals, |value| value)
}

fn texts_to_decimals(
    frame: &Frame<'_>,
    scale: u8,
    fitted: impl Fn(Decimal) -> Decimal,
) -> SqlResult<Column> {
    let view = frame.bytes(0);
    let mut out = DecimalOut::new(scale, frame.rows);
    for row in 0..frame.rows {
        out.push(view.get(row).map(|bytes| {
            let parsed = Decimal::parse(&ascii(frame, bytes));
            report(frame, "DECIMAL", bytes, parsed.rest);
            fitted(parsed.value)
        }));
    }
    Ok(out.finish())
}

/// The number of a hexadecimal literal in a numeric context: its last eight bytes.
pub fn integer_of_hex(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0u64, |n, &b| n << 8 | u64::from(b))
}

/// Replaces a hexadecimal literal, or a call that chooses among such literals, by its number.
pub(super) fn hex_literal(e: &mut Expr) {
    let digits = |bytes: usize| (u64::MAX >> (64 - 8 * bytes.clamp(1, 8))).ilog10() + 1;
    let ty = integer_type(digits(e.ty.length as usize), true);
    match &e.kind {
        ExprKind::Literal(Value::Bytes(bytes)) => {
            *e = Expr::literal(Value::UInt(integer_of_hex(bytes)), ty);
        }
        _ => super::wrap(e, ty, false, |frame| {
            from_bytes(frame, |bytes| Ok(Some(integer_of_hex(bytes))))
        }),
    }
}

/// `CAST(.. AS SIGNED)` of an unsigned number keeps the bits.
pub(super) fn reinterpret_signed(frame: &Frame<'_>) -> SqlResult<Column> {
    Ok(map::<u64, i64>(frame, |v| v as i64))
}

/// Compat: overflow of a double is a note, in which the type has another name.
#[cold]
fn double_overflow(frame: &Frame<'_>, value: f64, kind: &str) {
    let mut text = Vec::new();
    selkie_types::number::write_f64(&mut text, value);
    frame.ctx.note(&ER_DATA_OVERFLOW, &[&String::from_utf8_lossy(&text), &kind]);
}

/// `CAST(double AS SIGNED)`.
pub(super) fn cast_double_signed(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: f64| {
        let (value, clamped) = f64_to_i64(v);
        if clamped {
            double_overflow(frame, v, "SIGNED BIGINT");
        }
        Ok(Some(value))
    })
}

/// `CAST(double AS UNSIGNED)`.
pub(super) fn cast_double_unsigned(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: f64| {
        let (value, clamped) = f64_to_u64(v);
        if clamped {
            double_overflow(frame, v, "UNSIGNED BIGINT");
        }
        Ok(Some(value))
    })
}

/// A decimal as an operand of a bit operation; negative numbers keep their bits.
fn bits_of(frame: &Frame<'_>, value: Decimal) -> u64 {
    let negative = value.is_negative();
    let (bits, clamped) = match negative {
        true => {
            let (value, clamped) = value.to_i64_clamped();
            (value as u64, clamped)
        }
        false => value.to_u64_clamped(),
    };
    if clamped {
        let kind = if negative { "INT" } else { "UNSIGNED INT" };
        frame.ctx.warn(&ER_DATA_OVERFLOW, &[&value, &kind]);
    }
    bits
}

pub(super) fn decimal_to_bits(frame: &Frame<'_>) -> SqlResult<Column> {
    let view = frame.decimals(0);
    crate::kernel::map_rows(frame, |row| Ok(Some(bits_of(frame, view.value(row)))))
}

/// Compat: a double takes part as the decimal it prints as.
pub(super) fn double_to_bits(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: f64| {
        let exact = v.abs() < 9e15;
        if exact {
            return Ok(Some(v.round() as i64 as u64));
        }
        let max = Decimal::max_value(65, 0);
        let limit = if v < 0.0 { -max } else { max };
        Ok(Some(bits_of(frame, Decimal::from_f64(v).unwrap_or(limit))))
    })
}

/// `CAST(string AS SIGNED)`.
pub(super) fn cast_bytes_signed(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |bytes| {
        let parsed = parse_integer(&ascii(frame, bytes));
        report_aloud(frame, "INTEGER", bytes, parsed.rest);
        if parsed.overflow && parsed.rest == Rest::None {
            truncated(frame, "INTEGER", bytes);
        }
        if parsed.value > i128::from(i64::MAX) {
            frame.ctx.push(selkie_types::Condition::raw(
                selkie_types::Level::Note,
                selkie_types::error::catalogue::ER_UNKNOWN_ERROR.code,
                "Cast to signed converted positive out-of-range integer to it's \
                          negative complement"
                    .into(),
            ));
        }
        Ok(Some(parsed.value as u64 as i64))
    })
}

/// `CAST(string AS UNSIGNED)`.
pub(super) fn cast_bytes_unsigned(frame: &Frame<'_>) -> SqlResult<Column> {
    from_bytes(frame, |bytes| {
        let parsed = parse_integer(&ascii(frame, bytes));
        report_aloud(frame, "INTEGER", bytes, parsed.rest);
        if parsed.overflow && parsed.rest == Rest::None {
            truncated(frame, "INTEGER", bytes);
        }
        if parsed.value < 0 {
            negative_to_unsigned(frame);
        }
        Ok(Some(parsed.value as u64))
    })
}

/// `CAST(signed AS UNSIGNED)`.
pub(super) fn cast_int_unsigned(frame: &Frame<'_>) -> SqlResult<Column> {
    try_map(frame, |v: i64| {
        if v < 0 {
            negative_to_unsigned(frame);
        }
        Ok(Some(v as u64))
    })
}

#[cold]
fn negative_to_unsigned(frame: &Frame<'_>) {
    frame.ctx.push(selkie_types::Condition::raw(
        selkie_types::Level::Note,
        selkie_types::error::catalogue::ER_UNKNOWN_ERROR.code,
        "Cast to unsigned converted negative integer to it's positive complement".into(),
    ));
}
