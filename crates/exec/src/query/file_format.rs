//! Text files of rows: the FIELDS and LINES options, writing rows, and reading them back. Works on
//! bytes in memory; callers do the I/O. Used by LOAD DATA and SELECT ... INTO OUTFILE.

use selkie_sql::ast::{FileFormat, StringLiteral};
use selkie_types::error::catalogue::ER_WRONG_FIELD_TERMINATORS;
use selkie_types::{Charset, SqlError, SqlResult, SqlType, TypeKind};

/// FIELDS and LINES options with their defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    /// `FIELDS TERMINATED BY`; empty for fields of fixed width.
    pub(crate) field_end: Vec<u8>,
    /// `ENCLOSED BY`.
    pub(crate) enclosed: Option<u8>,
    /// `OPTIONALLY`.
    pub(crate) optionally: bool,
    /// `ESCAPED BY`.
    pub(crate) escape: Option<u8>,
    /// `LINES STARTING BY`.
    pub(crate) line_start: Vec<u8>,
    /// `LINES TERMINATED BY`.
    pub(crate) line_end: Vec<u8>,
    /// `CHARACTER SET`.
    pub(crate) charset: Option<Charset>,
    /// Bytes at which a run of plain text may end: first bytes of terminators, the escape
    /// character.
    stops: [bool; 256],
}

impl Format {
    /// Whether fields have the widths of their columns.
    pub(crate) fn is_fixed_width(&self) -> bool {
        self.field_end.is_empty() && self.enclosed.is_none()
    }

    /// The format that a statement's options give.
    pub(crate) fn new(options: &FileFormat, charset: Option<Charset>) -> SqlResult<Self> {
        let text = |option: &Option<StringLiteral>, default: &[u8]| {
            option.as_ref().map_or_else(|| default.to_vec(), |s| s.bytes.to_vec())
        };
        let one = |bytes: Vec<u8>| match *bytes {
            [] => Ok(None),
            [byte] => Ok(Some(byte)),
            _ => Err(SqlError::new(&ER_WRONG_FIELD_TERMINATORS, &[])),
        };
        Ok(Self {
            stops: [false; 256],
            field_end: text(&options.field_terminator, b"\t"),
            enclosed: one(text(&options.enclosed_by, b""))?,
            optionally: options.optionally_enclosed,
            escape: one(text(&options.escaped_by, b"\\"))?,
            line_start: text(&options.line_start, b""),
            line_end: text(&options.line_terminator, b"\n"),
            charset,
        }
        .with_stops())
    }

    fn with_stops(mut self) -> Self {
        let ends = [self.field_end.first(), self.line_end.first()];
        let stops = ends.into_iter().flatten().copied().chain(self.escape);
        for byte in stops.collect::<Vec<_>>() {
            self.stops[usize::from(byte)] = true;
        }
        if self.has_deceptive_bytes() {
            self.stops[0x80..].fill(true);
        }
        self
    }

    /// Whether the second byte of a character may equal a terminator or the escape character.
    fn has_deceptive_bytes(&self) -> bool {
        self.charset.is_some_and(|c| c.is_ascii_superset() && !c.is_ascii_compatible())
    }

    /// Bytes to copy from the start of `rest`: one byte, or a whole character if its later bytes
    /// must not be interpreted.
    pub(crate) fn step(&self, rest: &[u8]) -> usize {
        match self.charset {
            Some(charset) if self.has_deceptive_bytes() => charset.char_len(rest).max(1),
            _ => 1,
        }
    }

    /// Whether a byte in a field must be escaped.
    fn is_special(&self, byte: u8) -> bool {
        Some(byte) == self.escape
            || Some(byte) == self.enclosed
            || (self.enclosed.is_none() && self.field_end.first() == Some(&byte))
            || self.line_end.first() == Some(&byte)
            || byte == 0
    }
}

/// Appends one row. `is_string` marks the fields that OPTIONALLY ENCLOSED encloses.
pub(crate) fn write_row(
    format: &Format,
    fields: &[Option<Vec<u8>>],
    is_string: &[bool],
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&format.line_start);
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(&format.field_end);
        }
        let Some(field) = field else {
            match format.escape {
                Some(escape) => out.extend_from_slice(&[escape, b'N']),
                None => out.extend_from_slice(b"NULL"),
            }
            continue;
        };
        let enclosed = format.enclosed.filter(|_| !format.optionally || is_string[at]);
        out.extend(enclosed);
        write_field(format, field, out);
        out.extend(enclosed);
    }
    out.extend_from_slice(&format.line_end);
}

/// Appends one row of fields of fixed width, which are filled with blanks. NULL is all blanks.
pub(crate) fn write_fixed_row(
    format: &Format,
    fields: &[Option<Vec<u8>>],
    widths: &[usize],
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(&format.line_start);
    for (field, width) in fields.iter().zip(widths) {
        let field = field.as_deref().unwrap_or_default();
        let field = &field[..field.len().min(*width)];
        write_field(format, field, out);
        out.extend(std::iter::repeat_n(b' ', width - field.len()));
    }
    out.extend_from_slice(&format.line_end);
}

/// Bytes of a field of fixed width that holds values of a type.
pub(crate) fn fixed_width(ty: &SqlType) -> u32 {
    let members = matches!(ty.kind, TypeKind::Enum | TypeKind::Set);
    let of_char = match ty.is_string() || members {
        true => ty.collation.charset().max_len() as u32,
        false => 1,
    };
    match ty.kind {
        TypeKind::TinyText => 255,
        TypeKind::Text => 65_535,
        TypeKind::MediumText => 16_777_215,
        TypeKind::LongText => u32::MAX,
        _ => selkie_expr::text::display_length(ty).saturating_mul(of_char),
    }
}

fn write_field(format: &Format, field: &[u8], out: &mut Vec<u8>) {
    for &byte in field {
        match format.escape {
            Some(escape) if format.is_special(byte) => {
                out.push(escape);
                out.push(if byte == 0 { b'0' } else { byte });
            }
            // Compat: without an escape character, an enclosing character in a field is written
            // unchanged.
            _ => out.push(byte),
        }
    }
}

/// One field read from a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    /// Start of its bytes in [`Line::bytes`].
    pub(crate) start: usize,
    /// End of its bytes.
    pub(crate) end: usize,
    /// Whether the field is NULL.
    pub(crate) is_null: bool,
}

impl Field {
    /// Whether the field is an empty string.
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end && !self.is_null
    }
}

/// One line read from a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Bytes of all fields, escapes removed.
    pub(crate) bytes: Vec<u8>,
    /// The fields.
    pub(crate) fields: Vec<Field>,
    /// Whether it has more bytes than its fields of fixed width.
    pub(crate) is_cut: bool,
}

/// Result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A line, which ends before this position.
    Line(usize),
    /// The input ends within a line; more input is needed.
    Incomplete,
    /// No line is left.
    End,
}

/// Reads one line from the start of `input`. At the end of the file (`at_end`), the last line needs
/// no terminator.
pub(crate) fn read_line(format: &Format, input: &[u8], at_end: bool, line: &mut Line) -> Found {
    line.bytes.clear();
    line.fields.clear();
    let Some(start) = line_start(format, input) else {
        return if at_end { Found::End } else { Found::Incomplete };
    };
    if start >= input.len() {
        return if at_end { Found::End } else { Found::Incomplete };
    }
    let mut reader = Reader { format, input, at: start, at_end };
    loop {
        match reader.field(line) {
            Ended::Field => {}
            Ended::Line => return Found::Line(reader.at),
            Ended::Input if at_end => return Found::Line(input.len()),
            Ended::Input => return Found::Incomplete,
        }
    }
}

impl Format {
    /// Position after the line's prefix; `None` if the input has none.
    pub(crate) fn begin(&self, input: &[u8]) -> Option<usize> {
        line_start(self, input)
    }
}

fn line_start(format: &Format, input: &[u8]) -> Option<usize> {
    let prefix = &format.line_start;
    if prefix.is_empty() {
        return Some(0);
    }
    let at = input.windows(prefix.len()).position(|w| w == &prefix[..])?;
    Some(at + prefix.len())
}

enum Ended {
    Field,
    Line,
    Input,
}

struct Reader<'a> {
    format: &'a Format,
    input: &'a [u8],
    at: usize,
    at_end: bool,
}

impl Reader<'_> {
    fn follows(&self, at: usize, text: &[u8]) -> bool {
        !text.is_empty() && self.input.get(at..).is_some_and(|rest| rest.starts_with(text))
    }

    fn field(&mut self, line: &mut Line) -> Ended {
        let enclosed = self.format.enclosed;
        if enclosed.is_some() && self.input.get(self.at).copied() == enclosed {
            let start = self.at;
            if let Some(ended) = self.enclosed(line) {
                return ended;
            }
            self.at = start;
        }
        self.plain(line)
    }

    fn push(line: &mut Line, start: usize, is_null: bool) {
        line.fields.push(Field { start, end: line.bytes.len(), is_null });
    }

    /// Terminator of a field or line at `at`, and the position after it.
    fn terminator(&self, at: usize) -> Option<(Ended, usize)> {
        // The line terminator is tried first: it may begin with the field terminator, as `|\n` with
        // `|`.
        if self.follows(at, &self.format.line_end) {
            return Some((Ended::Line, at + self.format.line_end.len()));
        }
        if self.follows(at, &self.format.field_end) {
            return Some((Ended::Field, at + self.format.field_end.len()));
        }
        None
    }

    /// Reads a field without enclosing characters.
    fn plain(&mut self, line: &mut Line) -> Ended {
        let start = line.bytes.len();
        let raw = self.at;
        loop {
            let rest = self.input.get(self.at..).unwrap_or_default();
            let run = rest.iter().position(|b| self.format.stops[usize::from(*b)]);
            let run = run.unwrap_or(rest.len());
            line.bytes.extend_from_slice(&rest[..run]);
            self.at += run;
            if let Some((ended, next)) = self.terminator(self.at) {
                let is_null = self.is_null_word(raw);
                self.at = next;
                Self::push(line, start, is_null);
                return ended;
            }
            let Some(&byte) = self.input.get(self.at) else {
                let is_null = self.is_null_word(raw);
                Self::push(line, start, is_null);
                return Ended::Input;
            };
            if Some(byte) == self.format.escape {
                match self.input.get(self.at + 1) {
                    Some(&next) => line.bytes.push(unescape(next)),
                    None if self.at_end => line.bytes.push(byte),
                    None => {}
                }
                self.at += 2;
                continue;
            }
            let rest = &self.input[self.at..];
            let len = self.format.step(rest);
            line.bytes.extend_from_slice(&rest[..len]);
            self.at += len;
        }
    }

    /// Whether the raw text from `start` to here is `\N`, or the word NULL in a format with an
    /// enclosing character.
    fn is_null_word(&self, start: usize) -> bool {
        let raw = self.input.get(start..self.at.min(self.input.len())).unwrap_or_default();
        match self.format.escape {
            Some(escape) if raw == [escape, b'N'] => true,
            _ => self.format.enclosed.is_some() && raw == b"NULL",
        }
    }

    /// Reads an enclosed field; `None` if no enclosing character ends it properly.
    fn enclosed(&mut self, line: &mut Line) -> Option<Ended> {
        let quote = self.format.enclosed?;
        let start = line.bytes.len();
        self.at += 1;
        loop {
            let Some(&byte) = self.input.get(self.at) else {
                if !self.at_end {
                    return Some(Ended::Input);
                }
                line.bytes.truncate(start);
                return None;
            };
            if byte == quote {
                if let Some((ended, next)) = self.terminator(self.at + 1) {
                    self.at = next;
                    Self::push(line, start, false);
                    return Some(ended);
                }
                if self.at + 1 >= self.input.len() {
                    self.at += 1;
                    Self::push(line, start, false);
                    return Some(Ended::Input);
                }
                // A doubled quote stands for one; a single quote is part of the text.
                line.bytes.push(quote);
                self.at += if self.input.get(self.at + 1) == Some(&quote) { 2 } else { 1 };
                continue;
            }
            if Some(byte) == self.format.escape {
                if let Some(&next) = self.input.get(self.at + 1) {
                    line.bytes.push(unescape(next));
                }
                self.at += 2;
                continue;
            }
            let rest = &self.input[self.at..];
            let len = self.format.step(rest);
            line.bytes.extend_from_slice(&rest[..len]);
            self.at += len;
        }
    }
}

pub(crate) fn unescape(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format() -> Format {
        Format {
            field_end: b",".to_vec(),
            enclosed: Some(b'"'),
            optionally: true,
            escape: Some(b'\\'),
            line_start: Vec::new(),
            line_end: b"\n".to_vec(),
            charset: None,
            stops: [false; 256],
        }
        .with_stops()
    }

    fn fields(format: &Format, input: &str) -> Vec<Option<String>> {
        let mut line = Line::default();
        read_line(format, input.as_bytes(), true, &mut line);
        let text = |f: &Field| String::from_utf8_lossy(&line.bytes[f.start..f.end]).into_owned();
        line.fields.iter().map(|f| (!f.is_null).then(|| text(f))).collect()
    }

    #[test]
    fn lines_are_read() {
        let some = |t: &str| Some(t.to_owned());
        assert_eq!(fields(&format(), "1,\"a,b\",\\N\n2"), [some("1"), some("a,b"), None]);
        assert_eq!(fields(&format(), "\"x\"\"y\",NULL"), [some("x\"y"), None]);
        assert_eq!(fields(&format(), "a\\,b,\n"), [some("a,b"), some("")]);
        let mut bars = format();
        bars.field_end = b"|".to_vec();
        bars.line_end = b"|\n".to_vec();
        assert_eq!(fields(&bars.with_stops(), "1|b c|\n2|d|\n"), [some("1"), some("b c")]);
    }

    #[test]
    fn rows_are_read_back() {
        let row = [Some(b"a\"b,c\\\n".to_vec()), None, Some(b"5".to_vec())];
        let mut out = Vec::new();
        write_row(&format(), &row, &[true, true, false], &mut out);
        let mut line = Line::default();
        assert_eq!(read_line(&format(), &out, false, &mut line), Found::Line(out.len()));
        let read: Vec<_> = line
            .fields
            .iter()
            .map(|f| (!f.is_null).then(|| line.bytes[f.start..f.end].to_vec()))
            .collect();
        assert_eq!(read, row);
    }
}
