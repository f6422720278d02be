//! JSON documents.

/// A value in a document, as its parts of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// The digits as written.
    Number(Vec<u8>),
    /// The text without escapes.
    String(Vec<u8>),
    Array(Vec<Json>),
    /// Members in the order written.
    Object(Vec<(Vec<u8>, Json)>),
}

/// Deepest nesting.
const MAX_DEPTH: usize = 32;

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

/// The document a text is; the position of the first error otherwise.
pub(crate) fn parse(text: &[u8]) -> Result<Json, usize> {
    let mut p = Parser { text, at: 0 };
    let value = p.value(0).ok_or(p.at)?;
    p.spaces();
    if p.at == text.len() { Ok(value) } else { Err(p.at) }
}

impl Parser<'_> {
    fn spaces(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, b: u8) -> Option<()> {
        self.spaces();
        (self.text.get(self.at) == Some(&b)).then(|| self.at += 1)
    }

    fn word(&mut self, word: &[u8], value: Json) -> Option<Json> {
        let found = self.text[self.at..].starts_with(word);
        found.then(|| {
            self.at += word.len();
            value
        })
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.spaces();
        match self.text.get(self.at)? {
            b'n' => self.word(b"null", Json::Null),
            b't' => self.word(b"true", Json::Bool(true)),
            b'f' => self.word(b"false", Json::Bool(false)),
            b'"' => self.string().map(Json::String),
            b'[' => self.array(depth),
            b'{' => self.object(depth),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']').is_some() {
            return Some(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b',').is_none() {
                self.take(b']')?;
                return Some(Json::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        self.at += 1;
        let mut members = Vec::new();
        if self.take(b'}').is_some() {
            return Some(Json::Object(members));
        }
        loop {
            self.spaces();
            if self.text.get(self.at) != Some(&b'"') {
                return None;
            }
            let name = self.string()?;
            self.take(b':')?;
            members.push((name, self.value(depth + 1)?));
            if self.take(b',').is_none() {
                self.take(b'}')?;
                return Some(Json::Object(members));
            }
        }
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        let digits = |p: &mut Self| {
            let from = p.at;
            while p.text.get(p.at).is_some_and(u8::is_ascii_digit) {
                p.at += 1;
            }
            p.at > from
        };
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let zero = self.text.get(self.at) == Some(&b'0');
        let first = self.at;
        if !digits(self) || (zero && self.at > first + 1) {
            return None;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !digits(self) {
                return None;
            }
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'-' | b'+')) {
                self.at += 1;
            }
            if !digits(self) {
                return None;
            }
        }
        Some(Json::Number(self.text[start..self.at].to_vec()))
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let b = *self.text.get(self.at)?;
            self.at += 1;
            match b {
                b'"' => return Some(out),
                b'\\' => self.escape(&mut out)?,
                0..=0x1f => return None,
                _ => out.push(b),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let b = *self.text.get(self.at)?;
        self.at += 1;
        out.push(match b {
            b'"' | b'\\' | b'/' => b,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let c = self.unicode()?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(());
            }
            _ => return None,
        });
        Some(())
    }

    fn unicode(&mut self) -> Option<char> {
        let first = self.hex4()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        if !self.text[self.at..].starts_with(b"\\u") {
            return None;
        }
        self.at += 2;
        let second = self.hex4()?;
        char::from_u32(0x1_0000 + ((first & 0x3FF) << 10) + (second & 0x3FF))
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}

/// Appends a quoted string.
pub(crate) fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &b in text {
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            0..=0x1f => out.extend_from_slice(format!("\\u{b:04X}").as_bytes()),
            _ => out.push(b),
        }
    }
    out.push(b'"');
}

/// Appends a document with a space after every comma and colon.
pub(crate) fn write_loose(out: &mut Vec<u8>, value: &Json) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(n) => out.extend_from_slice(n),
        Json::String(s) => put_string(out, s),
        Json::Array(items) => {
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.extend_from_slice(b", ");
                }
                write_loose(out, item);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            out.push(b'{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.extend_from_slice(b", ");
                }
                put_string(out, name);
                out.extend_from_slice(b": ");
                write_loose(out, value);
            }
            out.push(b'}');
        }
    }
}
