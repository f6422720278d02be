//! Functions about strings: lengths, positions, comparison, charsets.
//! Positions and lengths count characters unless the function's name says bytes or bits.

use selkie_meter::tick;
use selkie_types::charset::WeightOptions;
use selkie_types::{Charset, CollationId, Column, SqlResult, SqlType, TypeKind};

use crate::cast;
use crate::expr::{CallOption, CompareBy, CompareOp, Expr, ExprKind};
use crate::function::{Binding, Function, MANY};
use crate::kernel::{
    BytesOut, Frame, NativeOut, bytes_to_bytes, from_bytes, from_bytes2, map_rows,
};

pub(crate) static WEIGHT_STRING: Function =
    Function::new("WEIGHT_STRING", 1, 1, bind_weight_string);

fn int(length: u32) -> SqlType {
    SqlType::new(TypeKind::Int, length, 0)
}

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("LENGTH", 1, 1, |b| measured(b, |f| from_bytes(f, |t| Ok(Some(t.len() as i64))))),
    Function::new("OCTET_LENGTH", 1, 1, |b| {
        measured(b, |f| from_bytes(f, |t| Ok(Some(t.len() as i64))))
    }),
    Function::new("LENGTHB", 1, 1, |b| {
        measured(b, |f| from_bytes(f, |t| Ok(Some(t.len() as i64))))
    }),
    Function::new("BIT_LENGTH", 1, 1, |mut b| {
        b.subject(0);
        let ty = SqlType::new(TypeKind::BigInt, 11, 0);
        b.strict(ty, |f| from_bytes(f, |t| Ok(Some(t.len() as i64 * 8))))
    }),
    Function::new("CHAR_LENGTH", 1, 1, |b| measured(b, char_length)),
    Function::new("CHARACTER_LENGTH", 1, 1, |b| measured(b, char_length)),
    Function::new("ASCII", 1, 1, |mut b| {
        b.subject(0);
        b.strict(int(3), |f| from_bytes(f, |t| Ok(Some(t.first().map_or(0, |&b| i64::from(b))))))
    }),
    Function::new("ORD", 1, 1, |mut b| {
        b.subject(0);
        b.strict(int(7), ord)
    }),
    Function::new("INSTR", 2, 2, |mut b| {
        b.args.swap(0, 1);
        bind_locate(b)
    }),
    Function::new("LOCATE", 2, 3, bind_locate),
    Function::new("POSITION", 2, 2, bind_locate),
    Function::new("STRCMP", 2, 2, |mut b| {
        b.unify(0..2, true)?;
        b.strict(int(2), |f| {
            let collation = f.call.collation;
            from_bytes2(f, |a, b| Ok(Some(collation.compare(a, b) as i64)))
        })
    }),
    Function::new("FIND_IN_SET", 2, 2, bind_find_in_set),
    Function::new("FIELD", 2, MANY, bind_field),
    Function::new("CHARSET", 1, 1, |b| about(b, |c| c.charset().name())),
    Function::new("COLLATION", 1, 1, |b| about(b, CollationId::name)),
    Function::new("COERCIBILITY", 1, 1, |mut b| {
        let level = b.args[0].coercibility as i64;
        b.option = CallOption::Number(level);
        b.args.clear();
        b.never_null(int(10), |f| {
            let mut out = NativeOut::new(f.rows);
            let CallOption::Number(level) = f.call.option else { return Ok(out.finish()) };
            (0..f.rows).for_each(|_| out.push(Some(level)));
            Ok(out.finish())
        })
    }),
    Function::new("WEIGHT_STRING", 1, 1, bind_weight_string),
];

fn measured(mut b: Binding<'_>, kernel: crate::function::Kernel) -> SqlResult<Expr> {
    b.subject(0);
    b.strict(int(10), kernel)
}

fn char_length(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.call.collation.charset();
    from_bytes(frame, |text| Ok(Some(charset.char_count(text) as i64)))
}

fn ord(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = frame.call.collation.charset();
    from_bytes(frame, |text| {
        let first = &text[..charset.char_len(text)];
        Ok(Some(first.iter().fold(0i64, |n, &b| n << 8 | i64::from(b))))
    })
}

fn bind_locate(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.unify_searched()?;
    if b.len() == 3 {
        b.int(2);
    }
    b.strict(int(11), locate)
}

/// Compat: with a start, nothing is found behind as many characters as the text has bytes, and an
/// empty text is found at the start in bytes.
fn locate(frame: &Frame<'_>) -> SqlResult<Column> {
    let (needles, texts) = (frame.bytes(0), frame.bytes(1));
    let starts = (frame.args.len() == 3).then(|| frame.view::<i64>(2));
    let collation = frame.call.collation.info();
    let charset = collation.charset;
    map_rows(frame, |row| {
        let (needle, text) = (needles.value(row), texts.value(row));
        let start = starts.map_or(1, |s| s.value(row));
        let beyond = starts.is_some() && start > text.len() as i64;
        if start < 1 || beyond || start - 1 > charset.char_count(text) as i64 {
            return Ok(Some(0));
        }
        let from = charset.char_offset(text, start as usize - 1);
        if needle.is_empty() {
            return Ok(Some(from as i64 + 1));
        }
        let found = collation.find_telling(&text[from..], needle, tick);
        Ok(Some(found.map_or(0, |at| charset.char_count(&text[from..from + at]) as i64 + start)))
    })
}

/// Compat: a constant looked for in a SET column has its position in the list of all members.
fn bind_find_in_set(mut b: Binding<'_>) -> SqlResult<Expr> {
    let is_fixed = !b.args[0].any(&mut |e| match &e.kind {
        ExprKind::Column(_) => true,
        ExprKind::Subquery(subquery) => !subquery.args.is_empty(),
        _ => false,
    });
    let is_set = b.args[1].ty.kind == TypeKind::Set && b.args[1].as_column().is_some();
    if let (true, Some(members)) = (is_fixed && is_set, &b.args[1].ty.members) {
        b.option = CallOption::Name(members.join(",").into());
    }
    b.unify(0..2, true)?;
    b.strict(int(3), |f| {
        let collation = f.call.collation;
        let CallOption::Name(members) = &f.call.option else {
            return from_bytes2(f, |a, b| Ok(Some(find_in_set(collation, a, b))));
        };
        let members = Charset::Utf8mb4.convert(members.as_bytes(), collation.charset()).0;
        from_bytes2(f, |a, b| {
            let is_there = find_in_set(collation, a, b) > 0;
            Ok(Some(if is_there { find_in_set(collation, a, &members) } else { 0 }))
        })
    })
}

fn find_in_set(collation: CollationId, needle: &[u8], set: &[u8]) -> i64 {
    let charset = collation.charset();
    let unit = charset.min_len();
    let mut comma = Vec::with_capacity(unit);
    charset.encode(b','.into(), &mut comma);
    if set.is_empty() || needle.chunks(unit).any(|c| c == comma) {
        return 0;
    }
    // Compat: trailing spaces count, whatever the collation says.
    let spaces = |text: &[u8]| text.len() - charset.trim_spaces_end(text).len();
    let same = |item: &[u8]| collation.equal(item, needle) && spaces(item) == spaces(needle);
    let (mut start, mut number) = (0, 1);
    let ends = set.chunks(unit).enumerate().filter(|(_, c)| *c == comma).map(|(at, _)| at * unit);
    for end in ends.chain([set.len()]) {
        if same(&set[start..end]) {
            return number;
        }
        (start, number) = (end + unit, number + 1);
    }
    0
}

/// Strings compare as strings, integers as integers, mixtures as doubles. Compat: dates, times,
/// members, addresses and identifiers count as texts here.
fn is_compared_as_text(e: &Expr) -> bool {
    let is_text = e.ty.is_string() && !e.is_hex();
    let is_temporal = e.ty.is_temporal() && e.ty.kind != TypeKind::Year;
    is_text || is_temporal || e.ty.members.is_some() || e.ty.fixed_binary().is_some()
}

fn bind_field(mut b: Binding<'_>) -> SqlResult<Expr> {
    let all = |test: fn(&Expr) -> bool, b: &Binding<'_>| b.args.iter().all(test);
    let by = if all(is_compared_as_text, &b) {
        b.unify(0..b.len(), true)?;
        CompareBy::Bytes(b.collation)
    } else if all(|e| e.ty.is_integer(), &b) {
        (0..b.len()).for_each(|at| b.int(at));
        CompareBy::Int
    } else {
        (0..b.len()).for_each(|at| b.double(at));
        CompareBy::Double
    };
    b.option = CallOption::compared_by(by);
    b.never_null(int(3), |frame| {
        let by = frame.call.compares_by();
        let mut places = vec![0i64; frame.rows];
        for at in 1..frame.args.len() {
            let (value, item) = (&frame.args[0], &frame.args[at]);
            let equal = crate::eval::compare_columns(CompareOp::Eq, by, value, item, frame.rows);
            for row in equal.yes.iter_ones().filter(|&row| places[row] == 0).collect::<Vec<_>>() {
                places[row] = at as i64;
            }
        }
        Ok(Column::from_data(selkie_types::ColumnData::Int(places), None))
    })
}

fn about(mut b: Binding<'_>, name: fn(CollationId) -> &'static str) -> SqlResult<Expr> {
    let ty = &b.args[0].ty;
    let textual = ty.is_string() || matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    let collation = match ty.fixed_binary() {
        Some(_) => CollationId::LATIN1_SWEDISH_CI,
        None if textual => ty.collation,
        None => CollationId::BINARY,
    };
    b.option = CallOption::Name(name(collation).into());
    b.args.clear();
    b.connection_collation();
    let ty = SqlType::varchar(64, CollationId::UTF8MB3_GENERAL_CI);
    b.maybe(ty, |frame| {
        let mut out = BytesOut::new(frame.rows);
        let CallOption::Name(name) = &frame.call.option else { return Ok(out.finish()) };
        (0..frame.rows).for_each(|_| out.push(Some(name.as_bytes())));
        Ok(out.finish())
    })
}

fn bind_weight_string(mut b: Binding<'_>) -> SqlResult<Expr> {
    // Compat: only texts have weights; an address has those of its text in latin1.
    let (is_string, is_member) = (b.args[0].ty.is_string(), b.args[0].ty.members.is_some());
    let is_address = b.args[0].ty.fixed_binary().is_some();
    b.text(0);
    if is_address {
        cast::to_charset(&mut b.args[0], CollationId::LATIN1_SWEDISH_CI);
    }
    b.subject(0);
    let characters = match b.option {
        CallOption::Weights(WeightOptions { characters: Some(n), .. }) => n as u64,
        _ => u64::from(b.args[0].ty.length),
    };
    let is_text = is_string || is_member;
    let per_char = if b.collation.charset().max_len() == 1 || !is_text { 1 } else { 2 };
    let length = characters.saturating_mul(per_char);
    let ty = crate::function::string_type(length, CollationId::BINARY, b.types);
    if !is_text && !is_address {
        return b.maybe(ty, |frame| bytes_to_bytes(frame, |_, _| false));
    }
    b.strict(ty, |frame| {
        let collation = frame.call.collation.info();
        let options = match frame.call.option {
            CallOption::Weights(options) => options,
            _ => WeightOptions::default(),
        };
        let per_char = if collation.charset.max_len() == 1 { 1 } else { 2 };
        bytes_to_bytes(frame, |text, out| {
            let characters = options.characters.unwrap_or(0);
            if frame.too_long(characters.saturating_mul(per_char)) {
                return false;
            }
            collation.weight_string(text, options, out);
            true
        })
    })
}
