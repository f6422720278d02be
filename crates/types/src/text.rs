//! Values as text: the text protocol sends it and `CAST(x AS CHAR)` gives it.
//! NULL has no text: every caller must handle it first.

use crate::{NOT_FIXED_DECIMALS, SqlType, TypeKind, Value, number};

/// Appends `value` as text of its type `ty`: in the type's charset for strings, ENUM and SET, in
/// ASCII for the rest. Appends nothing for NULL.
pub fn write_value(ty: &SqlType, value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    match value {
        Value::Null => return,
        Value::Int(v) => number::write_i64(out, *v),
        Value::UInt(v) => write_unsigned(ty, *v, out),
        Value::Double(v) => write_float(ty, *v, out),
        Value::Decimal(v) => v.write_to(out),
        Value::Date(v) => v.write_to(out),
        Value::Time(v) => v.write_to(out, ty.decimals.min(6)),
        Value::DateTime(v) => v.write_to(out, ty.decimals),
        Value::Bytes(v) => match ty.fixed_binary() {
            Some(kind) => kind.write_text(v, out),
            None => out.extend_from_slice(v),
        },
    }
    if ty.zerofill {
        number::write_zerofill(out, start, ty.zerofill_width());
    }
}

fn write_float(ty: &SqlType, value: f64, out: &mut Vec<u8>) {
    match (ty.decimals, ty.kind) {
        (NOT_FIXED_DECIMALS.., TypeKind::Float) => number::write_f32(out, value as f32),
        (NOT_FIXED_DECIMALS.., _) => number::write_f64(out, value),
        (decimals, _) => number::write_fixed(out, value, decimals.into()),
    }
}

fn write_unsigned(ty: &SqlType, value: u64, out: &mut Vec<u8>) {
    match ty.kind {
        TypeKind::Enum => out.extend_from_slice(member(ty, value)),
        TypeKind::Set => write_set(ty, value, out),
        TypeKind::Bit => bit_text(ty, value, out),
        TypeKind::Year => {
            let (start, width) = (out.len(), if ty.length == 2 { 2 } else { 4 });
            number::write_u64(out, if width == 2 { value % 100 } else { value });
            if ty.zerofill {
                number::write_zerofill(out, start, width);
            }
        }
        _ => number::write_u64(out, value),
    }
}

/// The ENUM member at 1-based `position`; empty for the error value 0.
fn member(ty: &SqlType, position: u64) -> &[u8] {
    let members = ty.members.as_deref().unwrap_or(&[]);
    let at = usize::try_from(position).ok().and_then(|p| p.checked_sub(1));
    at.and_then(|at| members.get(at)).map_or(b"", |m| m.as_bytes())
}

fn write_set(ty: &SqlType, bits: u64, out: &mut Vec<u8>) {
    let start = out.len();
    for (at, member) in ty.members.as_deref().unwrap_or(&[]).iter().enumerate().take(64) {
        if bits >> at & 1 != 0 {
            if out.len() > start {
                out.push(b',');
            }
            out.extend_from_slice(member.as_bytes());
        }
    }
}

/// Appends a BIT value as big-endian bytes, as clients get it.
pub fn bit_text(ty: &SqlType, value: u64, out: &mut Vec<u8>) {
    let bytes = (ty.length as usize).div_ceil(8).clamp(1, 8);
    out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
}

#[cfg(test)]
mod tests {
    use super::write_value;
    use crate::{SqlType, TypeKind, Value};

    fn text(ty: &SqlType, value: Value) -> String {
        let mut out = Vec::new();
        write_value(ty, &value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_as_text() {
        let mut zerofill = SqlType::new(TypeKind::Int, 5, 0);
        zerofill.unsigned = true;
        zerofill.zerofill = true;
        assert_eq!(text(&zerofill, Value::UInt(42)), "00042");
        let mut set = SqlType::new(TypeKind::Set, 3, 0);
        set.members = Some(["a".into(), "b".into(), "c".into()].into());
        assert_eq!(text(&set, Value::UInt(5)), "a,c");
        let mut year = SqlType::new(TypeKind::Year, 4, 0);
        assert_eq!(text(&year, Value::UInt(0)), "0");
        year.zerofill = true;
        assert_eq!(text(&year, Value::UInt(0)), "0000");
        assert_eq!(text(&SqlType::new(TypeKind::Double, 10, 2), Value::Double(1.5)), "1.50");
        assert_eq!(text(&SqlType::double(), Value::Double(1.5)), "1.5");
    }
}
