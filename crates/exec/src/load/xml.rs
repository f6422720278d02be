//! LOAD XML: rows are elements, their values are attributes and elements inside of them.
//!
//! Values of elements around a row and of elements before it on its level serve it too, as in
//! MariaDB. A file that is no proper XML gives the rows that can be found in it; nothing in it is
//! an error.

use std::io::Read;

use selkie_types::SqlResult;

use crate::query::file_format::{Field, Line};

/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// A value, and the depth of its element.
struct Value {
    depth: usize,
    name: Vec<u8>,
    text: Vec<u8>,
}

/// Reads the rows of a file.
pub(super) struct Rows<'r> {
    reader: Box<dyn Read + 'r>,
    buffer: Vec<u8>,
    at: usize,
    /// Makes the error of a failed read.
    failed: &'r dyn Fn(std::io::Error) -> selkie_types::SqlError,
    /// Name of the elements that are rows.
    row: Vec<u8>,
    depth: usize,
    values: Vec<Value>,
}

/// End of a tag.
#[derive(PartialEq)]
enum Ended {
    /// `>`: its content follows.
    Open,
    /// `/>`
    Empty,
    /// The file ended.
    File,
}

impl<'r> Rows<'r> {
    /// Rows in the elements that `tag` names, in angle brackets.
    pub(super) fn new(
        reader: Box<dyn Read + 'r>,
        tag: &[u8],
        failed: &'r dyn Fn(std::io::Error) -> selkie_types::SqlError,
    ) -> Self {
        let row = tag.get(1..tag.len().saturating_sub(1)).unwrap_or_default().to_vec();
        let (buffer, values) = (Vec::new(), Vec::new());
        Self { reader, buffer, at: 0, failed, row, depth: 0, values }
    }

    /// Reads up to the end of the next row; false if there is none.
    pub(super) fn next(&mut self) -> SqlResult<bool> {
        loop {
            match self.take()? {
                None => return Ok(false),
                Some(b'<') => {}
                Some(_) => continue,
            }
            let ended = match self.peek()? {
                Some(b'!') => self.declaration()?,
                Some(b'/') => self.close()?,
                _ => self.open()?,
            };
            if ended {
                return Ok(true);
            }
        }
    }

    /// The fields of the row for columns and variables of these names, the latest value of each.
    pub(super) fn fill<'n>(&self, names: impl Iterator<Item = &'n [u8]>, line: &mut Line) {
        line.bytes.clear();
        line.fields.clear();
        for name in names {
            let value = self.values.iter().rev().find(|value| value.name == name);
            let start = line.bytes.len();
            line.bytes.extend(value.into_iter().flat_map(|value| &value.text));
            let end = line.bytes.len();
            line.fields.push(Field { start, end, is_null: value.is_none() });
        }
    }

    fn peek(&mut self) -> SqlResult<Option<u8>> {
        if self.at == self.buffer.len() {
            self.buffer.resize(CHUNK, 0);
            let read = self.reader.read(&mut self.buffer).map_err(self.failed)?;
            self.buffer.truncate(read);
            self.at = 0;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    fn take(&mut self) -> SqlResult<Option<u8>> {
        let byte = self.peek()?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Takes bytes up to one of `ends`, which stays.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> SqlResult<Vec<u8>> {
        let mut taken = Vec::new();
        while let Some(byte) = self.peek()?.filter(|byte| !ends(*byte)) {
            selkie_meter::spend(8)?;
            taken.push(byte);
            self.at += 1;
        }
        Ok(taken)
    }

    fn skip_spaces(&mut self) -> SqlResult<Option<u8>> {
        self.until(|byte| !is_space(byte))?;
        self.peek()
    }

    /// A comment, or another tag that begins with `!`.
    fn declaration(&mut self) -> SqlResult<bool> {
        let mut last = [0; 3];
        let mut read = 0;
        let mut is_comment = false;
        while let Some(byte) = self.take()? {
            selkie_meter::spend(8)?;
            last = [last[1], last[2], byte];
            read += 1;
            is_comment |= read == 3 && last == *b"!--";
            let ends = if is_comment { read > 5 && last == *b"-->" } else { byte == b'>' };
            if ends {
                break;
            }
        }
        Ok(false)
    }

    /// A closing tag; true if it closes a row.
    fn close(&mut self) -> SqlResult<bool> {
        self.at += 1;
        let name = self.until(|byte| is_space(byte) || byte == b'>')?;
        self.until(|byte| byte == b'>')?;
        self.depth = self.depth.saturating_sub(1);
        Ok(!self.row.is_empty() && name == self.row && self.take()?.is_some())
    }

    /// An opening tag with its attributes and the text behind it; true if it is an empty row.
    fn open(&mut self) -> SqlResult<bool> {
        let name = self.until(|byte| is_space(byte) || matches!(byte, b'>' | b'/'))?;
        self.depth += 1;
        let depth = self.depth;
        self.values.retain(|value| value.depth <= depth);
        let (ended, field) = self.attributes(&name)?;
        match ended {
            Ended::File => Ok(false),
            Ended::Empty => {
                self.depth -= 1;
                Ok(!self.row.is_empty() && name == self.row)
            }
            Ended::Open => {
                let text = self.text(|byte| byte == b'<')?;
                self.keep(depth, field.unwrap_or(name), text);
                Ok(false)
            }
        }
    }

    /// The attributes of a tag. `<field name="x">` has the value of x, which is returned.
    fn attributes(&mut self, tag: &[u8]) -> SqlResult<(Ended, Option<Vec<u8>>)> {
        let mut field = None;
        loop {
            match self.skip_spaces()? {
                None => return Ok((Ended::File, field)),
                Some(b'>') => {
                    self.at += 1;
                    return Ok((Ended::Open, field));
                }
                Some(b'/') => {
                    self.at += 1;
                    if self.peek()? == Some(b'>') {
                        self.at += 1;
                        return Ok((Ended::Empty, field));
                    }
                    continue;
                }
                Some(_) => {}
            }
            let name = self.until(|byte| is_space(byte) || matches!(byte, b'=' | b'>' | b'/'))?;
            if self.skip_spaces()? != Some(b'=') {
                continue;
            }
            self.at += 1;
            let value = self.attribute_value()?;
            match tag == b"field" && name == b"name" {
                true => field = Some(value),
                false => self.keep(self.depth + 1, name, value),
            }
        }
    }

    fn attribute_value(&mut self) -> SqlResult<Vec<u8>> {
        match self.skip_spaces()? {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                let value = self.text(|byte| byte == quote)?;
                self.take()?;
                Ok(value)
            }
            _ => self.text(|byte| is_space(byte) || byte == b'>'),
        }
    }

    /// Text up to one of `ends`, which stays, with references to characters replaced.
    fn text(&mut self, ends: impl Fn(u8) -> bool) -> SqlResult<Vec<u8>> {
        let mut text = Vec::new();
        loop {
            text.extend(self.until(|byte| ends(byte) || byte == b'&')?);
            if self.peek()? != Some(b'&') || ends(b'&') {
                return Ok(text);
            }
            self.at += 1;
            let name = self.until(|byte| ends(byte) || matches!(byte, b';' | b'&'))?;
            let known = match &name[..] {
                b"amp" => Some(b'&'),
                b"lt" => Some(b'<'),
                b"gt" => Some(b'>'),
                b"quot" => Some(b'"'),
                b"apos" => Some(b'\''),
                _ => None,
            };
            let is_whole = self.peek()? == Some(b';');
            match known.filter(|_| is_whole) {
                Some(byte) => {
                    self.at += 1;
                    text.push(byte);
                }
                // Compat: an unknown reference stays, in one line.
                None => {
                    text.push(b'&');
                    text.extend(name.iter().map(|b| if is_space(*b) { b' ' } else { *b }));
                }
            }
        }
    }

    /// Keeps a value. Compat: an empty one counts as none.
    fn keep(&mut self, depth: usize, name: Vec<u8>, text: Vec<u8>) {
        if !text.is_empty() && !name.is_empty() {
            self.values.push(Value { depth, name, text });
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, names: &[&str]) -> Vec<Vec<Option<String>>> {
        let failed = |e: std::io::Error| selkie_types::SqlError::internal(e.to_string());
        let mut rows = Rows::new(Box::new(text.as_bytes()), b"<row>", &failed);
        let (mut found, mut line) = (Vec::new(), Line::default());
        while rows.next().unwrap() {
            rows.fill(names.iter().map(|name| name.as_bytes()), &mut line);
            let text =
                |f: &Field| String::from_utf8_lossy(&line.bytes[f.start..f.end]).into_owned();
            found.push(line.fields.iter().map(|f| (!f.is_null).then(|| text(f))).collect());
        }
        found
    }

    #[test]
    fn values_are_found_in_all_places() {
        let some = |t: &str| Some(t.to_owned());
        let text = "<list a='0'><row><b>x&amp;y</b></row><row a=\"1\" b='2'/>\
                    <row><field name='b'>3</field></row></list>";
        let expected = vec![
            vec![some("0"), some("x&y")],
            vec![some("1"), some("2")],
            vec![some("0"), some("3")],
        ];
        assert_eq!(rows(text, &["a", "b"]), expected);
    }

    #[test]
    fn broken_files_end() {
        for text in [
            "<",
            "<row",
            "<row a",
            "<row a=",
            "<row a='",
            "<row a='1'",
            "<!--",
            "<!-- --",
            "</",
            "</row",
            "<row>&",
            "<row>&amp",
            "<row>&amp;",
        ] {
            assert_eq!(rows(text, &["a"]), Vec::<Vec<Option<String>>>::new(), "{text}");
        }
    }
}
