//! The common type of several expressions: results of CASE, COALESCE, UNION, LEAST.
//! Must not be used for comparisons: their common type is in `build/compare.rs`.

use selkie_types::{
    CollationId, JsonRole, NOT_FIXED_DECIMALS, SqlResult, SqlType, TypeKind, Value,
};

use crate::cast::{decimal_type, digits_of, integer_digits, text_length};
use crate::collate::{self, Claim, Coercibility};
use crate::context::TypeContext;
use crate::expr::{Expr, ExprKind};
use crate::function::Binding;
use crate::refuse;

/// The common type of expressions, and the coercibility of the result.
pub fn aggregate_exprs(
    args: &[&Expr],
    operation: &str,
    types: &TypeContext,
) -> SqlResult<(SqlType, Coercibility)> {
    let tys: Vec<&SqlType> = args.iter().map(|e| &e.ty).collect();
    refuse::refuse_types(operation, &tys)?;
    let mut ty = aggregate_values(args, types);
    if is_beside_null(&ty, args, operation) {
        ty = SqlType::decimal(ty.length.min(65), 0);
    }
    if let Some(texts) = bits_beside_others(args).filter(|_| operation == "UNION") {
        return Ok((texts, Coercibility::Implicit));
    }
    if operation != "UNION" && matches!(ty.kind, TypeKind::Enum | TypeKind::Set) {
        // Compat: the result of a function has no members.
        ty = SqlType::varchar(text_length(&ty), ty.collation);
    }
    if ty.geometry.is_some() {
        return Ok((ty, Coercibility::Implicit));
    }
    if !ty.is_string() && !matches!(ty.kind, TypeKind::Enum | TypeKind::Set) {
        let all_null = ty.kind == TypeKind::Null;
        return Ok((ty, if all_null { Coercibility::Ignorable } else { Coercibility::Numeric }));
    }
    // Hexadecimal literals stay numbers, unless there are other texts.
    ty.unsigned = args.iter().all(|e| e.is_hex() || e.ty.kind == TypeKind::Null);
    let mut strings: Vec<Expr> =
        args.iter().filter(|e| e.ty.kind != TypeKind::Null).map(|e| (*e).clone()).collect();
    strings.iter_mut().for_each(|e| crate::cast::to_text(e, types));
    let views: Vec<&Expr> = strings.iter().collect();
    let claim: Claim = collate::aggregate(&views, operation, false)?;
    collate::refuse_loss(&views, claim.collation, operation)?;
    ty.collation = claim.collation;
    if args.iter().any(|e| e.ty.geometry.is_some()) {
        ty.collation = CollationId::BINARY;
    }
    let present = args.iter().filter(|e| e.ty.kind != TypeKind::Null);
    let lengths = present.zip(&strings).map(|(e, text)| length_of(&e.ty, &text.ty, ty.collation));
    ty.length = lengths.max().unwrap_or(ty.length);
    if ty.is_text_or_blob() {
        make_room(&mut ty, &strings);
    }
    Ok((ty, claim.coercibility))
}

/// Length of the text of a type in a common type of this collation: characters, or bytes. `text` is
/// the type of its text.
fn length_of(ty: &SqlType, text: &SqlType, collation: CollationId) -> u32 {
    match ty.kind {
        // Compat: as many as it has bits.
        TypeKind::Bit => ty.length,
        _ if !ty.is_string() && !matches!(ty.kind, TypeKind::Enum | TypeKind::Set) => {
            text_length(ty)
        }
        _ if collation.is_binary() => byte_length(text),
        _ => text_length(text),
    }
}

/// Makes a TEXT or BLOB large enough for other strings. Compat: as if the bytes that a TEXT can
/// hold were characters.
fn make_room(ty: &mut SqlType, strings: &[Expr]) {
    let binary = ty.collation.is_binary();
    let each = if binary { 1 } else { ty.collation.charset().max_len() as u64 };
    let bytes = |e: &Expr| match binary && !e.ty.is_text_or_blob() {
        true => u64::from(byte_length(&e.ty)),
        false => u64::from(text_length(&e.ty)) * each,
    };
    let most = strings.iter().map(bytes).max().unwrap_or_default();
    let rooms =
        [(TypeKind::TinyText, 255), (TypeKind::Text, 65_535), (TypeKind::MediumText, 16_777_215)];
    let kind = rooms.into_iter().find(|(_, room)| most <= *room).map(|(kind, _)| kind);
    ty.kind = kind.unwrap_or(TypeKind::LongText);
    ty.length = u32::try_from(most / each).unwrap_or(u32::MAX);
}

/// Whether an unsigned integer is combined with NULL. Compat: NULL counts as a signed number there;
/// IF and the extremes know it as NULL.
fn is_beside_null(ty: &SqlType, args: &[&Expr], operation: &str) -> bool {
    let combines = !matches!(operation, "if" | "nvl2" | "least" | "greatest");
    let is_number = ty.is_integer() && !matches!(ty.kind, TypeKind::Bit | TypeKind::Year);
    let has_null = || args.iter().any(|e| e.ty.kind == TypeKind::Null);
    combines && is_number && ty.unsigned && has_null()
}

/// The type of BIT combined with others by UNION. Compat: it is a text of bytes, as long as the
/// longest; BIT is as long as it has bits.
fn bits_beside_others(args: &[&Expr]) -> Option<SqlType> {
    let present = || args.iter().filter(|e| e.ty.kind != TypeKind::Null);
    let is_bit = |e: &&&Expr| e.ty.kind == TypeKind::Bit;
    let (some, all) = (present().any(|e| is_bit(&e)), present().all(|e| is_bit(&e)));
    let is_short = |e: &&Expr| !e.ty.is_text_or_blob() && e.ty.fixed_binary().is_none();
    if !some || all || !present().all(is_short) {
        return None;
    }
    let length = |e: &&Expr| if is_bit(&e) { e.ty.length } else { byte_length(&e.ty) };
    let length = present().map(length).max().unwrap_or_default();
    Some(SqlType::varchar(length, CollationId::BINARY))
}

/// Compat: a combined text has room for as many characters as its type has bytes.
pub(crate) fn text_for(ty: &SqlType) -> TypeKind {
    let bytes: u64 = match ty.kind {
        TypeKind::TinyText => 255,
        TypeKind::Text => 65_535,
        TypeKind::MediumText => 16_777_215,
        _ => return ty.kind,
    };
    match bytes * ty.collation.charset().max_len() as u64 {
        0..=255 => TypeKind::TinyText,
        256..=65_535 => TypeKind::Text,
        65_536..=16_777_215 => TypeKind::MediumText,
        _ => TypeKind::LongText,
    }
}

/// The common type of values; strings may differ in collation, and get that of the first string.
pub fn aggregate_values(args: &[&Expr], types: &TypeContext) -> SqlType {
    let exact = |ty: &SqlType| {
        ty.is_integer() || matches!(ty.kind, TypeKind::Decimal | TypeKind::Bit | TypeKind::Year)
    };
    let mut present = args.iter().filter(|e| e.ty.kind != TypeKind::Null);
    let are_exact = present.all(|e| exact(&e.ty));
    // Compat: beside other exact numbers, an integer literal has all digits that were written.
    let ty = |e: &&Expr| match e.kind {
        ExprKind::Literal(Value::Int(_)) if are_exact => {
            SqlType { length: digits_of(e) + 1, ..e.ty.clone() }
        }
        _ => e.ty.clone(),
    };
    let tys: Vec<SqlType> = args.iter().map(ty).collect();
    aggregate(&tys.iter().collect::<Vec<_>>(), types)
}

/// The common type of types. A caller that has the expressions uses [`aggregate_exprs`] or
/// [`aggregate_values`].
pub(crate) fn aggregate(tys: &[&SqlType], types: &TypeContext) -> SqlType {
    let mut present = tys.iter().filter(|t| t.kind != TypeKind::Null);
    let Some(first) = present.next() else { return SqlType::null() };
    let mut result = (*first).clone();
    let all = |role| tys.iter().all(|t| t.json == role || t.kind == TypeKind::Null);
    let json = [JsonRole::Truth, JsonRole::Document].into_iter().find(|role| all(*role));
    for ty in present {
        result = pair(&result, ty, types);
    }
    result.json = json.unwrap_or_default();
    result
}

/// Rank of an integer type by its width, to choose the wider of two.
fn integer_rank(kind: TypeKind) -> u32 {
    match kind {
        TypeKind::Year => 0,
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int => 4,
        _ => 5,
    }
}

fn pair(a: &SqlType, b: &SqlType, types: &TypeContext) -> SqlType {
    use TypeKind::*;
    match (a.kind, b.kind) {
        _ if let (Some(one), Some(other)) = (a.geometry_kind(), b.geometry_kind()) => {
            SqlType::of_geometry(one.joined(other))
        }
        _ if a.fixed_binary().is_some() => a.clone(),
        _ if b.fixed_binary().is_some() => b.clone(),
        _ if a.is_string() || b.is_string() => strings(a, b, types),
        (Enum | Set, _) | (_, Enum | Set) => strings(a, b, types),
        (Year, Year) | (Date, Date) => a.clone(),
        (Bit, Bit) => SqlType { length: a.length.max(b.length), ..a.clone() },
        _ if a.is_temporal() && b.is_temporal() => temporal(a, b),
        _ if a.is_temporal() || b.is_temporal() => strings(a, b, types),
        (Float | Double, _) | (_, Float | Double) => doubles(a, b),
        (Decimal, _) | (_, Decimal) => decimals(a, b),
        _ => integers(a, b),
    }
}

fn integers(a: &SqlType, b: &SqlType) -> SqlType {
    let unsigned = |t: &SqlType| t.unsigned || matches!(t.kind, TypeKind::Bit | TypeKind::Year);
    let digits = integer_digits(a).max(integer_digits(b));
    // Compat: the common type of signed and unsigned integers is a decimal, however small they are.
    if unsigned(a) != unsigned(b) {
        return SqlType::decimal(digits, 0);
    }
    let kind = if integer_rank(a.kind) >= integer_rank(b.kind) { a.kind } else { b.kind };
    let kind = if kind == TypeKind::Bit { TypeKind::BigInt } else { kind };
    let ty = SqlType::new(kind, digits + u32::from(!unsigned(a)), 0);
    SqlType { unsigned: unsigned(a), ..ty }
}

fn decimals(a: &SqlType, b: &SqlType) -> SqlType {
    let (a, b) = (decimal_type(a), decimal_type(b));
    let scale = a.decimals.max(b.decimals);
    let whole = |t: &SqlType| t.length.saturating_sub(u32::from(t.decimals));
    let precision = (whole(&a).max(whole(&b)) + u32::from(scale)).min(65);
    let mut ty = SqlType::decimal(precision, scale);
    ty.unsigned = a.unsigned && b.unsigned;
    ty
}

fn doubles(a: &SqlType, b: &SqlType) -> SqlType {
    let real = |t: &SqlType| matches!(t.kind, TypeKind::Float | TypeKind::Double);
    // Compat: a FLOAT holds integer types smaller than INT.
    let small = [TypeKind::TinyInt, TypeKind::SmallInt, TypeKind::MediumInt, TypeKind::Year];
    let fits = |t: &SqlType| t.kind == TypeKind::Float || small.contains(&t.kind);
    let float = fits(a) && fits(b);
    let fixed = |t: &SqlType| if real(t) { t.decimals } else { t.decimals.min(30) };
    let decimals = fixed(a).max(fixed(b));
    let kind = if float { TypeKind::Float } else { TypeKind::Double };
    let length = if decimals == NOT_FIXED_DECIMALS {
        if float { 12 } else { 22 }
    } else {
        let whole = |t: &SqlType| text_length(t).saturating_sub(fixed(t).into());
        // A column has no more digits.
        (whole(a).max(whole(b)) + u32::from(decimals)).min(255)
    };
    SqlType::new(kind, length, decimals)
}

fn temporal(a: &SqlType, b: &SqlType) -> SqlType {
    let fsp = a.decimals.max(b.decimals);
    match (a.kind, b.kind) {
        (TypeKind::Time, TypeKind::Time) => SqlType::time(fsp),
        (TypeKind::Timestamp, TypeKind::Timestamp) => SqlType { decimals: fsp, ..a.clone() },
        _ => SqlType::datetime(fsp),
    }
}

/// Size of the longest text of a type in bytes.
pub(crate) fn byte_length(ty: &SqlType) -> u32 {
    let per_char = if ty.is_string() { ty.collation.charset().max_len() as u32 } else { 1 };
    text_length(ty).saturating_mul(per_char)
}

fn strings(a: &SqlType, b: &SqlType, types: &TypeContext) -> SqlType {
    // Binary strings stay bytes.
    let binary = [a, b].iter().any(|t| t.is_string() && t.collation.is_binary());
    let length = match binary {
        true => byte_length(a).max(byte_length(b)),
        false => text_length(a).max(text_length(b)),
    };
    let textual = |t: &SqlType| t.is_string() || matches!(t.kind, TypeKind::Enum | TypeKind::Set);
    let collation = match (textual(a), textual(b)) {
        _ if binary => CollationId::BINARY,
        (true, _) => a.collation,
        (_, true) => b.collation,
        _ => types.collation_connection,
    };
    if a.is_text_or_blob() || b.is_text_or_blob() {
        let kind = [TypeKind::LongText, TypeKind::MediumText, TypeKind::Text, TypeKind::TinyText]
            .into_iter()
            .find(|k| a.kind == *k || b.kind == *k)
            .unwrap_or(TypeKind::Text);
        let mut ty = SqlType::new(kind, length, 0);
        ty.collation = collation;
        return ty;
    }
    let both_char = a.kind == TypeKind::Char && b.kind == TypeKind::Char;
    let mut ty = SqlType::varchar(length, collation);
    if both_char {
        ty.kind = TypeKind::Char;
    }
    ty
}

/// Converts the arguments of a call to their common type; for LEAST and GREATEST.
pub(crate) fn unify_args(binding: &mut Binding<'_>, operation: &str) -> SqlResult<SqlType> {
    let views: Vec<&Expr> = binding.args.iter().collect();
    let (ty, _) = aggregate_exprs(&views, operation, binding.types)?;
    let types = binding.types;
    let mut args: Vec<&mut Expr> = binding.args.iter_mut().collect();
    let to_type = |e: &mut Expr| crate::cast::to_type(e, &ty, types);
    collate::convert_each(&mut args, ty.collation, operation, to_type);
    if ty.collation != CollationId::BINARY {
        binding.collation = ty.collation;
    }
    Ok(ty)
}

/// Error 4078 for a row among values that need a common type.
pub(crate) fn refuse_unified_row(
    operation: &str,
    args: &[Expr],
    types: &TypeContext,
) -> SqlResult<()> {
    let Some(at) = args.iter().position(refuse::is_row) else { return Ok(()) };
    let before: Vec<_> = args[..at].iter().map(|e| &e.ty).collect();
    match (args, aggregate(&before, types)) {
        ([first, second, ..], _) if at == 0 => refuse::refuse_rows(operation, first, second),
        (_, ty) => Err(refuse::illegal_types(operation, refuse::parameter_name(&ty), "row")),
    }
}
