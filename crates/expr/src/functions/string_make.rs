//! Functions that make strings from strings.
//! Results are limited by `max_allowed_packet`; long work is done in pieces.

use selkie_meter::{demand, tick};
use selkie_types::error::catalogue::ER_INVALID_CHARACTER_STRING;
use selkie_types::{Charset, CollationId, Column, SqlResult, Value};

use crate::cast;
use crate::expr::{CallOption, Expr};
use crate::function::{Binding, Function, Kernel, MANY};
use crate::kernel::{BytesOut, Frame, bytes_to_bytes, write_rows};

pub(crate) static CHAR: Function = Function::new("CHAR", 1, MANY, bind_char);

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("CHAR", 1, MANY, bind_char),
    Function::new("CHR", 1, 1, |mut b| {
        b.connection_collation();
        let ty = selkie_types::SqlType::varchar(0, b.collation);
        bind_char(b.with_option(CallOption::Type(ty)))
    }),
    Function::new("CONCAT", 1, MANY, |mut b| {
        b.unify(0..b.len(), false)?;
        let ty = b.string_type(b.args.iter().map(|a| u64::from(a.ty.length)).sum());
        b.strict(ty, concat)
    }),
    Function::new("CONCAT_OPERATOR_ORACLE", 1, MANY, |mut b| {
        b.unify(0..b.len(), false)?;
        let ty = b.string_type(b.args.iter().map(|a| u64::from(a.ty.length)).sum());
        b.maybe(ty, concat_present)
    }),
    Function::new("LPAD_ORACLE", 2, 3, |b| pad(b, |f| padded(f, true))),
    Function::new("RPAD_ORACLE", 2, 3, |b| pad(b, |f| padded(f, false))),
    Function::new("REPLACE_ORACLE", 3, 3, |mut b| {
        b.unify(0..3, true)?;
        let longer = u64::from(b.args[2].ty.length).max(1);
        let ty = b.string_type(u64::from(b.args[0].ty.length) * longer);
        b.maybe(ty, replace_present)
    }),
    Function::new("CONCAT_WS", 2, MANY, concat_ws),
    Function::new("UPPER", 1, 1, |b| change_case(b, upper)),
    Function::new("UCASE", 1, 1, |b| change_case(b, upper)),
    Function::new("LOWER", 1, 1, |b| change_case(b, lower)),
    Function::new("LCASE", 1, 1, |b| change_case(b, lower)),
    Function::new("REVERSE", 1, 1, |mut b| {
        b.subject(0);
        let ty = b.string_type(b.args[0].ty.length.into());
        b.strict(ty, reverse)
    }),
    Function::new("REPEAT", 2, 2, bind_repeat),
    Function::new("SPACE", 1, 1, |mut b| {
        b.args.insert(0, Expr::string(b" ", CollationId::UTF8MB4_GENERAL_CI));
        let collation = b.types.collation_connection;
        cast::to_charset(&mut b.args[0], collation);
        bind_repeat(b)
    }),
    Function::new("LPAD", 2, 3, |b| pad(b, |f| padded(f, true))),
    Function::new("RPAD", 2, 3, |b| pad(b, |f| padded(f, false))),
    Function::new("REPLACE", 3, 3, |mut b| {
        b.unify(0..3, true)?;
        // The replaced text may have one character, however long its type is.
        let longer = u64::from(b.args[2].ty.length).max(1);
        let ty = b.string_type(u64::from(b.args[0].ty.length) * longer);
        b.strict(ty, replace)
    }),
    Function::new("INSERT", 4, 4, |mut b| {
        b.args.swap(1, 3);
        b.unify(0..2, false)?;
        b.int(2);
        b.int(3);
        let ty = b.string_type(u64::from(b.args[0].ty.length) + u64::from(b.args[1].ty.length));
        b.strict(ty, insert)
    }),
    Function::new("ELT", 2, MANY, |mut b| {
        b.int(0);
        b.unify(1..b.len(), false)?;
        let longest = b.args[1..].iter().map(|a| u64::from(a.ty.length)).max();
        let ty = b.string_type(longest.unwrap_or(0));
        b.maybe(ty, elt)
    }),
    Function::new("MAKE_SET", 2, MANY, |mut b| {
        b.int(0);
        b.unify(1..b.len(), false)?;
        let count = b.len() as u64 - 1;
        let total: u64 = b.args[1..].iter().map(|a| u64::from(a.ty.length)).sum();
        let ty = b.string_type(total + count - 1);
        Ok(b.call(ty, true, make_set))
    }),
    Function::new("EXPORT_SET", 3, 5, export_set),
    Function::new("QUOTE", 1, 1, |mut b| {
        b.subject(0);
        let ty = b.string_type(u64::from(b.args[0].ty.length) * 2 + 2);
        Ok(b.call(ty, true, quote))
    }),
    Function::new("SOUNDEX", 1, 1, |mut b| {
        b.subject(0);
        let ty = b.string_type(u64::from(b.args[0].ty.length).max(4));
        b.strict(ty, soundex)
    }),
];

/// The charset of the call's strings.
fn charset(frame: &Frame<'_>) -> Charset {
    frame.call.collation.charset()
}

fn bind_char(mut b: Binding<'_>) -> SqlResult<Expr> {
    (0..b.len()).for_each(|at| b.int(at));
    b.connection_collation();
    b.collation = match &b.option {
        CallOption::Type(ty) => ty.collation,
        _ => CollationId::BINARY,
    };
    let per_char = b.collation.charset().max_len() as u64;
    let ty = b.string_type(b.len() as u64 * 4 / per_char);
    b.maybe(ty, |f| {
        let charset = f.call.collation.charset();
        let mut out = BytesOut::new(f.rows);
        for row in 0..f.rows {
            out.write(|buffer| {
                let start = buffer.len();
                // Compat: CHAR omits NULLs; CHR of NULL is NULL.
                if f.call.function.name() == "CHR" && f.args[0].is_null(row) {
                    return false;
                }
                for at in (0..f.args.len()).filter(|&at| !f.args[at].is_null(row)) {
                    let bytes = (f.view::<i64>(at).value(row) as u32).to_be_bytes();
                    let first = bytes.iter().position(|&b| b != 0).unwrap_or(3);
                    buffer.extend_from_slice(&charset.completed(&bytes[first..]));
                }
                keep_well_formed(f, charset, start, buffer)
            });
        }
        Ok(out.finish())
    })
}

/// Cuts the result of CHAR where it is no valid text; in strict mode it becomes NULL instead.
fn keep_well_formed(f: &Frame<'_>, charset: Charset, start: usize, buffer: &mut Vec<u8>) -> bool {
    let good = start + charset.well_formed_len(&buffer[start..]);
    if good == buffer.len() {
        return true;
    }
    let shown: String = buffer[good..].iter().take(3).map(|b| format!("{b:02X}")).collect();
    f.ctx.warn(&ER_INVALID_CHARACTER_STRING, &[&charset.name(), &shown]);
    buffer.truncate(good);
    !f.ctx.types.sql_mode.is_strict()
}

fn concat(frame: &Frame<'_>) -> SqlResult<Column> {
    let views: Vec<_> = (0..frame.args.len()).map(|at| frame.bytes(at)).collect();
    write_rows(frame, |row, out| {
        let length = views.iter().map(|v| v.value(row).len()).sum();
        if frame.too_long(length) {
            return false;
        }
        views.iter().for_each(|v| out.extend_from_slice(v.value(row)));
        true
    })
}

/// Texts behind each other, where NULL is an empty one; NULL if there are no others.
fn concat_present(frame: &Frame<'_>) -> SqlResult<Column> {
    let views: Vec<_> = (0..frame.args.len()).map(|at| frame.bytes(at)).collect();
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        out.write(|buffer| {
            let texts = || views.iter().filter_map(|v| v.get(row));
            if texts().next().is_none() || frame.too_long(texts().map(<[u8]>::len).sum()) {
                return false;
            }
            texts().for_each(|text| buffer.extend_from_slice(text));
            true
        });
    }
    Ok(out.finish())
}

/// As [`replace`], where NULL is an empty text; an empty result is NULL.
fn replace_present(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, froms, news) = (frame.bytes(0), frame.bytes(1), frame.bytes(2));
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        out.write(|buffer| {
            let Some(text) = texts.get(row) else { return false };
            let (from, to) = (froms.get(row).unwrap_or(b""), news.get(row).unwrap_or(b""));
            let places = match from {
                [] => Vec::new(),
                _ => super::string_part::occurrences(charset(frame), text, from),
            };
            let gone = text.len() - places.len() * from.len();
            if frame.has_grown(row, gone.saturating_add(places.len().saturating_mul(to.len()))) {
                return false;
            }
            let (start, mut end) = (buffer.len(), 0);
            for at in places {
                buffer.extend_from_slice(&text[end..at]);
                buffer.extend_from_slice(to);
                end = at + from.len();
            }
            buffer.extend_from_slice(&text[end..]);
            buffer.len() > start
        });
    }
    Ok(out.finish())
}

fn concat_ws(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.unify(0..b.len(), false)?;
    let separators = u64::from(b.args[0].ty.length) * (b.len() as u64 - 2);
    let total: u64 = b.args[1..].iter().map(|a| u64::from(a.ty.length)).sum();
    let ty = b.string_type(total + separators);
    Ok(b.call(ty, true, |frame| {
        let views: Vec<_> = (0..frame.args.len()).map(|at| frame.bytes(at)).collect();
        let mut out = BytesOut::new(frame.rows);
        for row in 0..frame.rows {
            out.write(|buffer| {
                let Some(separator) = views[0].get(row) else { return false };
                let texts = || views[1..].iter().filter_map(|v| v.get(row));
                let length: usize = texts().map(|text| text.len() + separator.len()).sum();
                if length > separator.len() && frame.too_long(length - separator.len()) {
                    return false;
                }
                let mut first = true;
                for text in texts() {
                    if !std::mem::take(&mut first) {
                        buffer.extend_from_slice(separator);
                    }
                    buffer.extend_from_slice(text);
                }
                true
            });
        }
        Ok(out.finish())
    }))
}

fn change_case(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    b.subject(0);
    let ty = b.string_type(b.args[0].ty.length.into());
    b.strict(ty, kernel)
}

fn upper(frame: &Frame<'_>) -> SqlResult<Column> {
    let collation = frame.call.collation.info();
    bytes_to_bytes(frame, |text, out| {
        collation.upper(text, out);
        true
    })
}

fn lower(frame: &Frame<'_>) -> SqlResult<Column> {
    let collation = frame.call.collation.info();
    bytes_to_bytes(frame, |text, out| {
        collation.lower(text, out);
        true
    })
}

fn reverse(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = charset(frame);
    bytes_to_bytes(frame, |text, out| {
        demand(text.len());
        let start = out.len();
        out.resize(start + text.len(), 0);
        // Filled from the end: the first character becomes the last.
        let (mut at, mut end) = (0, out.len());
        while at < text.len() {
            tick(4);
            let len = charset.char_len(&text[at..]).clamp(1, text.len() - at);
            out[end - len..end].copy_from_slice(&text[at..at + len]);
            (at, end) = (at + len, end - len);
        }
        true
    })
}

/// A count that is known at binding; none is NULL or negative.
fn known_count(b: &Binding<'_>, at: usize) -> Option<u64> {
    match b.constant(at) {
        Some(Value::Null) => Some(0),
        _ => b.constant_int(at).map(|n| n.max(0) as u64),
    }
}

fn bind_repeat(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.subject(0);
    b.int(1);
    let length = match known_count(&b, 1) {
        Some(n) => u64::from(b.args[0].ty.length).saturating_mul(n),
        None => b.types.max_allowed_packet,
    };
    let ty = b.string_type(length);
    b.maybe(ty, |frame| {
        let (texts, counts) = (frame.bytes(0), frame.view::<i64>(1));
        write_rows(frame, |row, out| {
            let text = texts.value(row);
            let count = usize::try_from(counts.value(row).max(0)).unwrap_or(usize::MAX);
            if frame.too_long(text.len().saturating_mul(count)) {
                return false;
            }
            put_times(text, count, out);
            true
        })
    })
}

/// Appends a text `count` times, in pieces, so that the statement can end between them.
fn put_times(text: &[u8], count: usize, out: &mut Vec<u8>) {
    const PIECE: usize = 1 << 14;
    let (start, whole) = (out.len(), text.len() * count);
    out.reserve(whole);
    if whole == 0 {
        return;
    }
    out.extend_from_slice(text);
    // The first piece: whole texts, made by doubling.
    while out.len() - start < PIECE.min(whole) {
        let more = (out.len() - start).min(start + whole - out.len());
        out.extend_from_within(start..start + more);
    }
    let piece = out.len() - start;
    while out.len() < start + whole {
        tick(piece);
        let more = piece.min(start + whole - out.len());
        out.extend_from_within(start..start + more);
    }
}

fn pad(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    if b.len() == 2 {
        b.text(0);
        let collation = b.args[0].ty.collation;
        b.args.push(Expr::string(collation.charset().space(), collation));
    }
    b.args.swap(1, 2);
    b.unify(0..2, false)?;
    b.int(2);
    let length = known_count(&b, 2).unwrap_or(b.types.max_allowed_packet);
    let ty = b.string_type(length);
    b.maybe(ty, kernel)
}

fn padded(frame: &Frame<'_>, left: bool) -> SqlResult<Column> {
    let (texts, pads) = (frame.bytes(0), frame.bytes(1));
    let lengths = frame.view::<i64>(2);
    let charset = charset(frame);
    let no_empty = super::string_part::has_no_empty(frame);
    write_rows(frame, |row, out| {
        let (text, pad) = (texts.value(row), pads.value(row));
        let Ok(length) = usize::try_from(lengths.value(row)) else { return false };
        if no_empty && length == 0 {
            return false;
        }
        let count = charset.char_count(text);
        if length <= count {
            out.extend_from_slice(charset.prefix(text, length));
            return true;
        }
        if pad.is_empty() || frame.too_long(length.saturating_mul(charset.max_len())) {
            return false;
        }
        if !left {
            out.extend_from_slice(text);
        }
        fill(charset, pad, length - count, out);
        if left {
            out.extend_from_slice(text);
        }
        true
    })
}

/// Appends `count` characters of a repeated padding.
fn fill(charset: Charset, pad: &[u8], mut count: usize, out: &mut Vec<u8>) {
    let width = charset.char_count(pad).max(1);
    while count >= width {
        tick(pad.len() + 1);
        out.extend_from_slice(pad);
        count -= width;
    }
    out.extend_from_slice(charset.prefix(pad, count));
}

/// Compat: compares byte by byte, whatever the collation is. A NULL replacement does not matter if
/// the text to find is empty; in binary collations and one-byte charsets also if it is not found.
fn replace(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, froms) = (frame.bytes(0), frame.bytes(1));
    let is_lazy = charset(frame).max_len() == 1 || frame.call.collation.info().is_bin();
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let (Some(text), Some(from)) = (texts.get(row), froms.get(row)) else {
            out.push(None);
            continue;
        };
        let places = match from {
            [] => Vec::new(),
            _ => super::string_part::occurrences(charset(frame), text, from),
        };
        if places.is_empty() && (is_lazy || from.is_empty()) {
            out.push(Some(text));
        } else {
            out.write(|buffer| replaced(frame, row, &places, buffer));
        }
    }
    Ok(out.finish())
}

/// Appends the result for a row; false if it is NULL.
fn replaced(frame: &Frame<'_>, row: usize, places: &[usize], out: &mut Vec<u8>) -> bool {
    let Some(to) = frame.bytes(2).get(row) else { return false };
    let (text, length) = (frame.bytes(0).value(row), frame.bytes(1).value(row).len());
    let gone = text.len() - places.len() * length;
    if frame.has_grown(row, gone.saturating_add(places.len().saturating_mul(to.len()))) {
        return false;
    }
    let mut end = 0;
    for &at in places {
        out.extend_from_slice(&text[end..at]);
        out.extend_from_slice(to);
        end = at + length;
    }
    out.extend_from_slice(&text[end..]);
    true
}

/// Arguments: text, replacement, length, position.
fn insert(frame: &Frame<'_>) -> SqlResult<Column> {
    let (texts, news) = (frame.bytes(0), frame.bytes(1));
    let (lengths, positions) = (frame.view::<i64>(2), frame.view::<i64>(3));
    let charset = charset(frame);
    write_rows(frame, |row, out| {
        let text = texts.value(row);
        let count = charset.char_count(text) as i64;
        let (position, length) = (positions.value(row), lengths.value(row));
        if position < 1 || position > count {
            out.extend_from_slice(text);
            return true;
        }
        let start = position as usize - 1;
        let rest = count - position + 1;
        let length = if (0..=rest).contains(&length) { length } else { rest } as usize;
        out.extend_from_slice(charset.prefix(text, start));
        out.extend_from_slice(news.value(row));
        out.extend_from_slice(&text[charset.char_offset(text, start + length)..]);
        true
    })
}

fn elt(frame: &Frame<'_>) -> SqlResult<Column> {
    let numbers = frame.view::<i64>(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        let at = numbers.get(row).and_then(|n| usize::try_from(n).ok());
        let at = at.filter(|at| (1..frame.args.len()).contains(at));
        out.push(at.and_then(|at| frame.bytes(at).get(row)));
    }
    Ok(out.finish())
}

fn make_set(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = charset(frame);
    let bits = frame.view::<i64>(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        out.write(|buffer| {
            let Some(bits) = bits.get(row) else { return false };
            let chosen = (1..frame.args.len().min(65)).filter(|at| bits >> (at - 1) & 1 == 1);
            let texts: Vec<&[u8]> = chosen.filter_map(|at| frame.bytes(at).get(row)).collect();
            let length = texts.iter().map(|text| text.len() + charset.min_len()).sum::<usize>();
            if frame.too_long(length.saturating_sub(charset.min_len())) {
                return false;
            }
            let mut first = true;
            for text in texts {
                if !std::mem::take(&mut first) {
                    charset.encode(b','.into(), buffer);
                }
                buffer.extend_from_slice(text);
            }
            true
        });
    }
    Ok(out.finish())
}

/// Arguments: text for ones, text for zeros, separator, bits, number of bits.
fn export_set(mut b: Binding<'_>) -> SqlResult<Expr> {
    let bits = b.args.remove(0);
    let count = if b.len() == 4 { b.args.pop() } else { None };
    if b.len() == 2 {
        b.args.push(Expr::string(b",", b.types.collation_connection));
    }
    b.args.push(bits);
    b.args.push(count.unwrap_or_else(|| Expr::int(64)));
    b.unify(0..3, false)?;
    b.int(3);
    b.int(4);
    let longest = b.args[0].ty.length.max(b.args[1].ty.length);
    let ty = b.string_type(u64::from(longest) * 64 + u64::from(b.args[2].ty.length) * 63);
    b.strict(ty, |frame| {
        let (on, off, separator) = (frame.bytes(0), frame.bytes(1), frame.bytes(2));
        let (bits, counts) = (frame.view::<i64>(3), frame.view::<i64>(4));
        write_rows(frame, |row, out| {
            let count = match counts.value(row) {
                n @ 0..=64 => n,
                _ => 64,
            };
            let parts = on.value(row).len().max(off.value(row).len()) + separator.value(row).len();
            if parts * 64 > frame.ctx.types.max_allowed_packet as usize {
                let ones = (bits.value(row) & low_bits(count)).count_ones() as usize;
                let length = ones * on.value(row).len()
                    + (count as usize - ones) * off.value(row).len()
                    + (count as usize).saturating_sub(1) * separator.value(row).len();
                if frame.too_long(length) {
                    return false;
                }
            }
            for bit in 0..count {
                if bit > 0 {
                    out.extend_from_slice(separator.value(row));
                }
                let set = bits.value(row) >> bit & 1 == 1;
                out.extend_from_slice(if set { on.value(row) } else { off.value(row) });
            }
            true
        })
    })
}

/// `count` one bits at the lower end.
fn low_bits(count: i64) -> i64 {
    if count >= 64 { -1 } else { (1 << count) - 1 }
}

/// The character that QUOTE writes after a backslash in place of a byte.
fn escaped(byte: u8) -> Option<u8> {
    match byte {
        b'\\' | b'\'' => Some(byte),
        0 => Some(b'0'),
        0x1a => Some(b'Z'),
        _ => None,
    }
}

/// QUOTE of NULL is the word NULL.
fn quote(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = charset(frame);
    let texts = frame.bytes(0);
    let mut out = BytesOut::new(frame.rows);
    for row in 0..frame.rows {
        out.write(|buffer| {
            let put = |byte: u8, out: &mut Vec<u8>| {
                charset.encode(byte.into(), out);
            };
            let Some(text) = texts.get(row) else {
                b"NULL".iter().for_each(|&b| put(b, buffer));
                return true;
            };
            let escapes = text.iter().filter(|&&b| escaped(b).is_some()).count();
            if frame.has_grown(row, text.len() + (escapes + 2) * charset.min_len()) {
                return false;
            }
            put(b'\'', buffer);
            each_char(charset, text, |char| match ascii_of(charset, char).and_then(escaped) {
                Some(letter) => [b'\\', letter].iter().for_each(|&b| put(b, buffer)),
                None => buffer.extend_from_slice(char),
            });
            put(b'\'', buffer);
            true
        });
    }
    Ok(out.finish())
}

fn each_char<'t>(charset: Charset, text: &'t [u8], mut take: impl FnMut(&'t [u8])) {
    let mut rest = text;
    while !rest.is_empty() {
        tick(2);
        let (char, after) = rest.split_at(charset.char_len(rest).clamp(1, rest.len()));
        take(char);
        rest = after;
    }
}

/// The ASCII character in `char`, if it is one.
fn ascii_of(charset: Charset, char: &[u8]) -> Option<u8> {
    match char {
        [byte] => Some(*byte),
        _ if charset.min_len() == 1 => None,
        _ => charset.decode(char).and_then(|(code, _)| u8::try_from(code).ok()),
    }
}

/// Compat: all characters from U+00C0 on are letters without a sound. A letter counts once if only
/// such letters are between it and the previous one.
fn soundex(frame: &Frame<'_>) -> SqlResult<Column> {
    let charset = charset(frame);
    bytes_to_bytes(frame, |text, out| {
        let (mut count, mut last) = (0, b'0');
        each_char(charset, text, |char| {
            let Some((code, _)) = charset.decode(char) else { return };
            let (upper, sound) = match u8::try_from(code) {
                Ok(byte) if byte.is_ascii_alphabetic() => {
                    let upper = byte.to_ascii_uppercase();
                    let sound = b"01230120022455012623010202"[usize::from(upper - b'A')];
                    (u32::from(upper), sound)
                }
                _ if code >= 0xC0 && charset != Charset::Binary => (code, b'0'),
                _ => return,
            };
            if count == 0 {
                charset.encode(upper, out);
            } else if sound != b'0' && sound != last {
                charset.encode(sound.into(), out);
            } else {
                return;
            }
            (count, last) = (count + 1, sound);
        });
        if (1..4).contains(&count) {
            for _ in count..4 {
                charset.encode(b'0'.into(), out);
            }
        }
        true
    })
}
