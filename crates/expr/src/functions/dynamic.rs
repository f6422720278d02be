//! Functions of dynamic columns.
//!
//! The stored type of each value is decided when a call is bound; the call's option has one letter
//! per value.

use hashbrown::HashSet;
use selkie_meter::spend;
use selkie_types::error::catalogue::{
    ER_BAD_DATA, ER_DATA_OVERFLOW, ER_DYN_COL_DATA, ER_DYN_COL_IMPLEMENTATION_LIMIT,
    ER_DYN_COL_WRONG_FORMAT, ER_UNKNOWN_ERROR,
};
use selkie_types::number::{Rest, f64_to_i64, f64_to_u64, parse_f64, parse_integer};
use selkie_types::{
    CollationId, Column, Condition, Decimal, Level, Physical, SqlError, SqlResult, SqlType,
    TypeKind, Value,
};

use crate::build::DynamicValue;
use crate::cast;
use crate::context::TypeContext;
use crate::dynamic::{Columns, Item, Malformed, Name, Stored, write_json};
use crate::expr::{CallOption, Expr};
use crate::function::{Binding, Function, MANY, Nature, string_type};
use crate::kernel::{BytesOut, Frame, NativeOut, bytes_to_bytes, from_bytes};
use crate::result_type::boolean_type;

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("COLUMN_CHECK", 1, 1, |mut b| {
        b.text(0);
        b.strict(boolean_type(), |frame| {
            from_bytes(frame, |bytes| Ok(Some(i64::from(is_whole(bytes)))))
        })
    }),
    Function::new("COLUMN_EXISTS", 2, 2, |mut b| {
        b.text(0);
        bind_name(&mut b, 1);
        b.strict(boolean_type(), exists)
    }),
    Function::new("COLUMN_LIST", 1, 1, |mut b| {
        b.text(0);
        let ty = text_type(b.types);
        b.connection_collation();
        b.maybe(ty, list)
    }),
    Function::new("COLUMN_JSON", 1, 1, |mut b| {
        b.text(0);
        let ty = text_type(b.types);
        b.connection_collation();
        b.maybe(ty, json)
    }),
];

static CREATE: Function = Function::new("COLUMN_CREATE", 2, MANY, |b| {
    let ty = blob_type(b.types);
    b.maybe(ty, create)
});

static ADD: Function = Function::new("COLUMN_ADD", 3, MANY, |b| {
    let ty = blob_type(b.types);
    b.maybe(ty, add)
});

/// The date of a time depends on the current day, so this call is not pure.
static GET: Function =
    Function::new("COLUMN_GET", 2, 2, |_| Err(SqlError::internal("COLUMN_GET by name")))
        .nature(Nature::Statement);

fn text_type(types: &TypeContext) -> SqlType {
    string_type(u32::MAX.into(), CollationId::UTF8MB4_GENERAL_CI, types)
}

fn blob_type(types: &TypeContext) -> SqlType {
    string_type(u32::MAX.into(), CollationId::BINARY, types)
}

/// COLUMN_CREATE, or COLUMN_ADD to some columns.
pub(crate) fn bind_add(
    columns: Option<Expr>,
    values: Vec<DynamicValue>,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let function = if columns.is_some() { &ADD } else { &CREATE };
    let mut letters = String::new();
    let mut binding = Binding::new(function, columns.into_iter().collect(), types);
    if binding.len() == 1 {
        binding.text(0);
    }
    for DynamicValue { name, value, ty, nested } in values {
        let letter =
            if nested && ty.is_none() { b'c' } else { letter(ty.as_ref().unwrap_or(&value.ty)) };
        letters.push(char::from(letter));
        binding.args.push(name);
        let at = binding.len() - 1;
        bind_name(&mut binding, at);
        binding.args.push(value);
        let at = binding.len() - 1;
        bind_value(&mut binding, at, letter, ty.as_ref())?;
    }
    binding.scalars()?;
    function.bind(binding.with_option(CallOption::Name(letters.into())))
}

/// An integer is the number of a column; any other argument is its name.
fn bind_name(b: &mut Binding<'_>, at: usize) {
    if b.args[at].ty.is_integer() { b.int(at) } else { b.utf8_text(at) }
}

/// Letter of the type in which a value is stored.
fn letter(ty: &SqlType) -> u8 {
    match ty.kind {
        TypeKind::Decimal => b'n',
        TypeKind::Float | TypeKind::Double => b'd',
        TypeKind::Date => b'D',
        TypeKind::Time => b'T',
        TypeKind::DateTime | TypeKind::Timestamp => b'M',
        TypeKind::Bit | TypeKind::Year => b'u',
        _ if ty.is_integer() => {
            if ty.unsigned {
                b'u'
            } else {
                b'i'
            }
        }
        _ => b's',
    }
}

fn bind_value(b: &mut Binding<'_>, at: usize, letter: u8, ty: Option<&SqlType>) -> SqlResult<()> {
    match letter {
        b'i' | b'u' => match b.args[at].ty.physical() {
            Physical::Int | Physical::UInt => {}
            Physical::Decimal | Physical::Bytes | Physical::Double => {
                let value = std::mem::replace(&mut b.args[at], Expr::null());
                b.args[at] = cast::cast(value, &SqlType::bigint(), b.types)?;
            }
            _ => b.int(at),
        },
        b'd' => b.double(at),
        // A text keeps its digits.
        b'n' if b.args[at].ty.physical() == Physical::Bytes && !b.args[at].is_hex() => {}
        b'n' => b.decimal(at),
        b'D' => b.date(at),
        b'T' => b.time(at),
        b'M' => b.datetime(at),
        _ => {
            b.text(at);
            if let (b's', Some(ty)) = (letter, ty) {
                cast::to_charset(&mut b.args[at], ty.collation);
            }
        }
    }
    Ok(())
}

fn malformed(_: Malformed) -> SqlError {
    SqlError::new(&ER_DYN_COL_WRONG_FORMAT, &[])
}

/// The name in argument `at` for a row; `None` for NULL.
fn name<'a>(frame: &Frame<'a>, at: usize, row: usize) -> SqlResult<Option<Name<'a>>> {
    if frame.args[at].is_null(row) {
        return Ok(None);
    }
    if frame.args[at].physical() != Physical::Int {
        return Ok(Some(Name::Text(frame.bytes(at).value(row).into())));
    }
    let number = frame.view::<i64>(at).value(row);
    match u16::try_from(number) {
        Ok(number) => Ok(Some(Name::Number(number))),
        Err(_) => Err(SqlError::new(&ER_DYN_COL_DATA, &[])),
    }
}

/// The stored form of a value that is not NULL.
fn item<'a>(value: &'a Value, letter: u8, collation: CollationId) -> Option<Item<'a>> {
    Some(match value {
        Value::Null => return None,
        Value::Int(v) if letter == b'u' => Item::UInt(*v as u64),
        Value::Int(v) => Item::Int(*v),
        Value::UInt(v) if letter == b'i' => Item::Int(*v as i64),
        Value::UInt(v) => Item::UInt(*v),
        Value::Double(v) => Item::Double(*v),
        Value::Decimal(v) => Item::Decimal(*v),
        Value::Date(v) => Item::Date(*v),
        Value::Time(v) => Item::Time(*v),
        Value::DateTime(v) => Item::DateTime(*v),
        Value::Bytes(v) if letter == b'c' => Item::Nested(v),
        Value::Bytes(v) if letter == b'n' => Item::Decimal(Decimal::parse(v).value),
        Value::Bytes(v) => Item::Text(collation, v),
    })
}

/// The columns of a row after the arguments from `first` on are added or deleted; `None` if a name
/// is NULL.
fn merged<'a>(
    frame: &Frame<'a>,
    first: usize,
    row: usize,
    mut columns: Columns<'a>,
) -> SqlResult<Option<Columns<'a>>> {
    let CallOption::Name(letters) = &frame.call.option else { return Ok(None) };
    let is_text = |at: &usize| frame.args[*at].physical() != Physical::Int;
    columns.named |= (first..frame.args.len()).step_by(2).any(|at| is_text(&at));
    // The format with numbers cannot store columns within columns.
    columns.named |= letters.contains('c');
    let old: HashSet<Vec<u8>> = columns.list.iter().map(|c| c.name.text().into_owned()).collect();
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    for (at, &letter) in (first..).step_by(2).zip(letters.as_bytes()) {
        spend(256)?;
        let Some(name) = name(frame, at, row)? else { return Ok(None) };
        let text = name.text().into_owned();
        if old.contains(&text) {
            spend(columns.list.len())?;
            columns.remove(&name);
        }
        if text.len() > usize::from(u16::MAX) || !seen.insert(text) {
            return Err(SqlError::new(&ER_DYN_COL_DATA, &[]));
        }
        let value = frame.args[at + 1].value(row);
        if let Some(item) = item(&value, letter, frame.arg_type(at + 1).collation) {
            let (kind, value) = (item.kind(), item.encode(columns.named).into());
            columns.push(Stored { name, kind, value });
        }
    }
    Ok(Some(columns))
}

fn push(out: &mut BytesOut, columns: Option<Columns<'_>>) -> SqlResult<()> {
    let Some(columns) = columns else {
        out.push(None);
        return Ok(());
    };
    let mut fits = true;
    out.write(|buffer| {
        fits = columns.write(buffer);
        fits
    });
    if fits { Ok(()) } else { Err(SqlError::new(&ER_DYN_COL_IMPLEMENTATION_LIMIT, &[])) }
}

fn create(frame: &Frame<'_>) -> SqlResult<Column> {
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        push(&mut out, merged(frame, 0, row, Columns::default())?)?;
    }
    Ok(out.finish())
}

fn add(frame: &Frame<'_>) -> SqlResult<Column> {
    let old = frame.bytes(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let Some(bytes) = old.get(row) else {
            out.push(None);
            continue;
        };
        let columns = Columns::parse(bytes).map_err(malformed)?;
        match merged(frame, 1, row, columns)? {
            // An empty string to which nothing is added stays empty.
            Some(columns) if bytes.is_empty() && columns.list.is_empty() => out.push(Some(b"")),
            columns => push(&mut out, columns)?,
        }
    }
    Ok(out.finish())
}

/// Whether a string can be read to its end. Compat: columns within a column are not checked.
fn is_whole(bytes: &[u8]) -> bool {
    Columns::parse(bytes)
        .is_ok_and(|columns| columns.list.iter().all(|c| Item::decode(c.kind, &c.value).is_ok()))
}

fn exists(frame: &Frame<'_>) -> SqlResult<Column> {
    let strings = frame.bytes(0);
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let (Some(bytes), Some(name)) = (strings.get(row), name(frame, 1, row)?) else {
            out.push(None);
            continue;
        };
        let columns = Columns::parse(bytes).map_err(malformed)?;
        out.push(Some(i64::from(columns.find(&name).is_some())));
    }
    Ok(out.finish())
}

/// `f` appends a text made from the columns' string, or reports that the string is malformed.
fn described(
    frame: &Frame<'_>,
    f: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), Malformed>,
) -> SqlResult<Column> {
    let mut failed = Ok(());
    let column = bytes_to_bytes(frame, |bytes, out| {
        if !bytes.is_empty() && failed.is_ok() {
            failed = f(bytes, out).map_err(malformed);
        }
        true
    })?;
    failed.map(|()| column)
}

fn list(frame: &Frame<'_>) -> SqlResult<Column> {
    described(frame, |bytes, out| {
        for (at, column) in Columns::parse(bytes)?.list.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.push(b'`');
            for &b in column.name.text().iter() {
                out.extend_from_slice(if b == b'`' { b"``" } else { std::slice::from_ref(&b) });
            }
            out.push(b'`');
        }
        Ok(())
    })
}

fn json(frame: &Frame<'_>) -> SqlResult<Column> {
    described(frame, write_json)
}

/// `COLUMN_GET(columns, name AS type)`.
pub(crate) fn bind_get(
    columns: Expr,
    name: Expr,
    target: &SqlType,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let mut binding = Binding::new(&GET, vec![columns, name], types);
    binding.scalars()?;
    binding.text(0);
    bind_name(&mut binding, 1);
    let ty = type_of_get(target, types)?;
    binding.collation = ty.collation;
    binding.option = CallOption::Type(target.clone());
    binding.maybe(ty, get)
}

/// The type of COLUMN_GET is that of CAST of a long string.
fn type_of_get(target: &SqlType, types: &TypeContext) -> SqlResult<SqlType> {
    let unbounded = target.is_string() && target.length == u32::MAX;
    if unbounded {
        return Ok(string_type(u32::MAX.into(), target.collation, types));
    }
    let source = Expr::parameter(0, text_type(types));
    let mut ty = cast::cast(source, target, types)?.ty;
    if ty.is_integer() {
        ty.length = if ty.unsigned { 20 } else { 21 };
        ty.kind = TypeKind::BigInt;
    }
    Ok(ty)
}

fn get(frame: &Frame<'_>) -> SqlResult<Column> {
    let CallOption::Type(target) = &frame.call.option else {
        return Err(SqlError::internal("COLUMN_GET without a type"));
    };
    let strings = frame.bytes(0);
    let mut values = Vec::with_capacity(frame.rows);
    for row in 0..frame.rows {
        let (Some(bytes), Some(name)) = (strings.get(row), name_or_none(frame, row)) else {
            values.push(Value::Null);
            continue;
        };
        let columns = Columns::parse(bytes).map_err(malformed)?;
        values.push(match columns.find(&name) {
            None => Value::Null,
            Some(column) => {
                let item = Item::decode(column.kind, &column.value).map_err(malformed)?;
                converted(frame, &item, target)?
            }
        });
    }
    Ok(crate::kernel::column_of(frame.ty, values))
}

/// Compat: a number out of range names no column.
fn name_or_none<'a>(frame: &Frame<'a>, row: usize) -> Option<Name<'a>> {
    name(frame, 1, row).ok().flatten()
}

/// A value converted to the requested type.
fn converted(frame: &Frame<'_>, item: &Item<'_>, target: &SqlType) -> SqlResult<Value> {
    let value = match (item, target.kind) {
        (Item::Text(_, text), kind) if target.is_numeric() => number(frame, text, kind, target),
        (Item::Double(v), _) if target.is_integer() => return Ok(integer(frame, *v, target)),
        _ => plain(item),
    };
    if matches!(value, Value::UInt(v) if v > i64::MAX as u64)
        && target.is_integer()
        && !target.unsigned
    {
        out_of_range(frame);
    }
    let mut literal = Expr::literal(value.clone(), natural_type(item, &value));
    if target.is_string() && matches!(item, Item::Time(_) | Item::DateTime(_)) {
        cast::to_text(&mut literal, &frame.ctx.types);
    }
    cast::cast(literal, target, &frame.ctx.types)?.eval_value(frame.ctx)
}

/// Compat: a number beyond the signed range keeps its bits, with a note.
#[cold]
fn out_of_range(frame: &Frame<'_>) {
    let text = "Cast to signed converted positive out-of-range integer to it's negative complement";
    frame.ctx.push(Condition::raw(Level::Note, ER_UNKNOWN_ERROR.code, text.into()));
}

fn plain(item: &Item<'_>) -> Value {
    match item {
        Item::Int(v) => Value::Int(*v),
        Item::UInt(v) => Value::UInt(*v),
        Item::Double(v) => Value::Double(*v),
        Item::Decimal(v) => Value::Decimal(*v),
        Item::Date(v) => Value::Date(*v),
        Item::Time(v) => Value::Time(*v),
        Item::DateTime(v) => Value::DateTime(*v),
        Item::Text(_, text) | Item::Nested(text) => Value::bytes(text),
    }
}

/// The type of a value alone; a time has as many digits as it needs.
fn natural_type(item: &Item<'_>, value: &Value) -> SqlType {
    let digits = |micros: u32| if micros == 0 { 0 } else { 6 };
    match (item, value) {
        (Item::Time(v), _) => SqlType::time(digits(v.micros())),
        (Item::DateTime(v), _) => SqlType::datetime(digits(v.micros())),
        (Item::Text(collation, text), Value::Bytes(_)) => {
            SqlType::varchar(text.len() as u32, *collation)
        }
        (Item::Nested(text), _) => SqlType::varchar(text.len() as u32, CollationId::BINARY),
        _ => cast::natural_type(value),
    }
}

/// A string as a number, with a warning if it is not completely a number.
fn number(frame: &Frame<'_>, text: &[u8], kind: TypeKind, target: &SqlType) -> Value {
    let (value, rest, name) = match kind {
        TypeKind::Decimal => {
            let parsed = Decimal::parse(text);
            (Value::Decimal(parsed.value), parsed.rest, "DECIMAL")
        }
        TypeKind::Float | TypeKind::Double => {
            let parsed = parse_f64(text);
            (Value::Double(parsed.value), parsed.rest, "DOUBLE")
        }
        _ => {
            let parsed = parse_integer(text);
            let value = match i64::try_from(parsed.value) {
                Ok(value) => Value::Int(value),
                Err(_) => Value::UInt(parsed.value as u64),
            };
            let rest = if parsed.overflow { Rest::Garbage } else { parsed.rest };
            (value, rest, if target.unsigned { "UNSIGNED INT" } else { "INT" })
        }
    };
    if rest == Rest::Garbage {
        frame.ctx.warn(&ER_BAD_DATA, &[&String::from_utf8_lossy(text), &name]);
    }
    value
}

fn integer(frame: &Frame<'_>, value: f64, target: &SqlType) -> Value {
    let (result, clamped, name) = match target.unsigned {
        true => {
            let (result, clamped) = f64_to_u64(value);
            (Value::UInt(result), clamped, "UNSIGNED INT")
        }
        false => {
            let (result, clamped) = f64_to_i64(value);
            (Value::Int(result), clamped, "INT")
        }
    };
    if clamped {
        let mut text = Vec::new();
        selkie_types::number::write_f64(&mut text, value);
        frame.ctx.warn(&ER_DATA_OVERFLOW, &[&String::from_utf8_lossy(&text), &name]);
    }
    result
}
