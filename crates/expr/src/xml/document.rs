//! A document as a list of nodes, from its text.
//!
//! Compat: MariaDB's parser is lenient. It accepts several top-level elements with text between
//! them, attributes without quotes or values, and repeated attributes. Entities stay as written.
//! Comments, `<?xml ...?>` and `<!DOCTYPE ...>` are skipped.

use std::ops::Range;

use selkie_meter::tick;

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// An element, or the root.
    Element,
    /// An attribute; its value is a text node inside it.
    Attribute,
    /// Text.
    Text,
}

/// A node; its index in the list is its number.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Its depth; the root has 0.
    pub(crate) level: usize,
    /// Number of its parent; the root is its own parent.
    pub(crate) parent: usize,
    /// Range of its name, or of the text.
    pub(crate) name: Range<usize>,
    /// Range of the whole node with its markup.
    pub(crate) whole: Range<usize>,
}

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) text: &'a [u8],
    /// All nodes in document order; the root comes first.
    pub(crate) nodes: Vec<Node>,
}

/// Place and reason of an error in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct XmlError {
    pub(crate) line: usize,
    pub(crate) position: usize,
    pub(crate) message: String,
}

impl<'a> Document<'a> {
    /// Parses a text.
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, XmlError> {
        let root =
            Node { kind: NodeKind::Element, level: 0, parent: 0, name: 0..0, whole: 0..text.len() };
        let mut reader = Reader { text, at: 0, nodes: vec![root], open: vec![0] };
        match reader.run() {
            Ok(()) => Ok(Self { text, nodes: reader.nodes }),
            Err(message) => Err(reader.error(message)),
        }
    }

    /// The bytes of a node's name, or of a text.
    pub(crate) fn name(&self, node: usize) -> &'a [u8] {
        &self.text[self.nodes[node].name.clone()]
    }

    /// The texts directly inside a node.
    pub(crate) fn texts(&self, parent: usize) -> impl Iterator<Item = &'a [u8]> + '_ {
        let level = self.nodes[parent].level;
        self.nodes[parent + 1..]
            .iter()
            .take_while(move |n| n.level > level)
            .filter(move |n| n.kind == NodeKind::Text && n.parent == parent)
            .map(|n| &self.text[n.name.clone()])
    }

    /// The texts directly inside nodes, node after node. One pass finds those of several nodes:
    /// looking below each of them would take quadratic time in a deep document.
    pub(crate) fn texts_of(&self, parents: &[usize]) -> Vec<&'a [u8]> {
        if let [parent] = parents {
            return self.texts(*parent).collect();
        }
        let mut below: Vec<Option<Vec<&'a [u8]>>> = vec![None; self.nodes.len()];
        for parent in parents {
            below[*parent] = Some(Vec::new());
        }
        for node in self.nodes.iter().skip(1).filter(|node| node.kind == NodeKind::Text) {
            if let Some(list) = &mut below[node.parent] {
                list.push(&self.text[node.name.clone()]);
            }
        }
        parents.iter().filter_map(|parent| below[*parent].clone()).flatten().collect()
    }
}

/// A token of markup.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    End,
    Sign(u8),
    Name(Range<usize>),
    /// A quoted text, without its quotes.
    Quoted(Range<usize>),
    Cdata(Range<usize>),
    Skipped,
    Unknown,
}

impl Token {
    /// The token in messages.
    fn shown(&self) -> String {
        match self {
            Self::End => "END-OF-INPUT".into(),
            Self::Sign(sign) => format!("'{}'", char::from(*sign)),
            Self::Name(_) => "IDENT".into(),
            Self::Quoted(_) => "STRING".into(),
            Self::Cdata(_) => "CDATA".into(),
            Self::Skipped => "COMMENT".into(),
            Self::Unknown => "unknown token".into(),
        }
    }

    fn unexpected(&self, wanted: &str) -> String {
        format!("{} unexpected ({wanted} wanted)", self.shown())
    }
}

fn begins_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || matches!(b, b'_' | b':') || b >= 0x80
}

fn continues_name(b: u8) -> bool {
    begins_name(b) || b.is_ascii_digit() || matches!(b, b'-' | b'.')
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    /// Numbers of the open nodes; the root comes first.
    open: Vec<usize>,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), String> {
        while self.at < self.text.len() {
            tick(64);
            if self.text[self.at] == b'<' {
                self.markup()?;
            } else {
                let end = self.find(self.at, b"<").unwrap_or(self.text.len());
                self.add_text(self.at..end);
                self.at = end;
            }
        }
        match self.open.len() {
            1 => Ok(()),
            _ => Err("unexpected END-OF-INPUT".into()),
        }
    }

    /// An error at the present position. Lines and positions count from one; a position includes
    /// the line feed.
    fn error(&self, message: String) -> XmlError {
        let before = &self.text[..self.at];
        let lines = before.iter().filter(|b| **b == b'\n').count();
        let start = before.iter().rposition(|b| *b == b'\n').unwrap_or(0);
        XmlError { line: lines + 1, position: self.at - start + 1, message }
    }

    fn find(&self, from: usize, what: &[u8]) -> Option<usize> {
        tick((self.text.len() - from).min(64));
        memchr::memmem::find(&self.text[from..], what).map(|at| from + at)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn token(&mut self) -> Token {
        while self.peek().is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        let start = self.at;
        let Some(first) = self.peek() else { return Token::End };
        match first {
            b'<' => self.angle(),
            b'=' | b'/' | b'>' => {
                self.at += 1;
                Token::Sign(first)
            }
            b'"' | b'\'' => {
                let end = self.find(start + 1, &[first]);
                let inside = start + 1..end.unwrap_or(self.text.len());
                self.at = end.map_or(self.text.len(), |end| end + 1);
                Token::Quoted(inside)
            }
            _ if begins_name(first) => {
                self.at += self.text[start..].iter().take_while(|b| continues_name(**b)).count();
                Token::Name(start..self.at)
            }
            _ => Token::Unknown,
        }
    }

    /// Reads `<`, or the whole token that begins with it.
    fn angle(&mut self) -> Token {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"<!--") {
            return self.skip_to(b"-->", Token::Skipped);
        }
        if rest.starts_with(b"<![CDATA[") {
            let start = self.at + 9;
            let end = self.find(start, b"]]>").unwrap_or(self.text.len());
            return self.skip_to(b"]]>", Token::Cdata(start..end));
        }
        if let [b'<', b'?', name @ ..] = rest {
            return self.instruction(name);
        }
        if rest.starts_with(b"<!DOCTYPE") {
            return self.document_type();
        }
        self.at += 1;
        Token::Sign(b'<')
    }

    /// Reads `<?name ...?>`. Compat: a name without content is skipped completely.
    fn instruction(&mut self, rest: &[u8]) -> Token {
        let named = rest.first().is_some_and(|b| begins_name(*b));
        let length = rest.iter().take_while(|b| named && continues_name(**b)).count();
        let behind = &rest[length..];
        let ends = behind.starts_with(b"?>");
        if length > 0 && (ends || behind.first().is_some_and(u8::is_ascii_whitespace)) {
            return self.required(b"?>");
        }
        self.at += 2 + length;
        Token::Sign(b'<')
    }

    fn skip_to(&mut self, end: &[u8], token: Token) -> Token {
        self.at = self.find(self.at, end).map_or(self.text.len(), |at| at + end.len());
        token
    }

    fn required(&mut self, end: &[u8]) -> Token {
        let found = self.find(self.at, end).is_some();
        self.skip_to(end, if found { Token::Skipped } else { Token::End })
    }

    /// Reads up to the `>` that closes the first `<`.
    fn document_type(&mut self) -> Token {
        let mut depth = 0usize;
        for at in self.at..self.text.len() {
            match self.text[at] {
                b'<' => depth += 1,
                b'>' if depth == 1 => {
                    self.at = at + 1;
                    return Token::Skipped;
                }
                b'>' => depth -= 1,
                _ => {}
            }
        }
        self.at = self.text.len();
        Token::End
    }

    /// Reads markup that begins with `<`.
    fn markup(&mut self) -> Result<(), String> {
        let start = self.at;
        match self.token() {
            Token::Skipped => return Ok(()),
            Token::Cdata(inside) => {
                self.add_text(inside);
                return Ok(());
            }
            token @ Token::End => return Err(token.unexpected("ident or '/'")),
            _ => {}
        }
        match self.token() {
            Token::Sign(b'/') => self.closing(),
            Token::Name(name) => self.opening(start, name),
            other => Err(other.unexpected("ident or '/'")),
        }
    }

    fn closing(&mut self) -> Result<(), String> {
        let name = match self.token() {
            Token::Name(name) => name,
            other => return Err(other.unexpected("ident")),
        };
        let open = self.open[self.open.len() - 1];
        let (found, wanted) = (&self.text[name], &self.text[self.nodes[open].name.clone()]);
        let shown = String::from_utf8_lossy(found);
        if open == 0 {
            return Err(format!("'</{shown}>' unexpected (END-OF-INPUT wanted)"));
        }
        if found != wanted {
            let wanted = String::from_utf8_lossy(wanted);
            return Err(format!("'</{shown}>' unexpected ('</{wanted}>' wanted)"));
        }
        self.end_of_tag()?;
        self.close();
        Ok(())
    }

    fn end_of_tag(&mut self) -> Result<(), String> {
        match self.token() {
            Token::Sign(b'>') => Ok(()),
            other => Err(other.unexpected("'>'")),
        }
    }

    fn opening(&mut self, start: usize, name: Range<usize>) -> Result<(), String> {
        self.enter(NodeKind::Element, name, start);
        let mut token = self.token();
        while let Token::Name(name) = token {
            token = self.attribute(name)?;
        }
        let empty = token == Token::Sign(b'/');
        if empty {
            token = self.token();
        }
        if token != Token::Sign(b'>') {
            return Err(token.unexpected("'>'"));
        }
        if empty {
            self.close();
        }
        Ok(())
    }

    /// Reads the rest of an attribute after its name; returns the token after it.
    fn attribute(&mut self, name: Range<usize>) -> Result<Token, String> {
        let token = self.token();
        let start = name.start;
        match token {
            Token::Sign(b'=') => self.enter(NodeKind::Attribute, name, start),
            // Compat: if two names without values follow each other, the second is the value of the
            // first.
            Token::Name(_) => {
                self.enter(NodeKind::Attribute, name, start);
                self.close();
                return Ok(self.token());
            }
            other => return Ok(other),
        }
        match self.token() {
            Token::Name(value) | Token::Quoted(value) => self.add_text(value),
            other => return Err(other.unexpected("ident or string")),
        }
        self.close();
        Ok(self.token())
    }

    fn add_text(&mut self, text: Range<usize>) {
        if !text.is_empty() {
            let start = text.start;
            self.enter(NodeKind::Text, text, start);
            self.close();
        }
    }

    fn enter(&mut self, kind: NodeKind, name: Range<usize>, start: usize) {
        let (level, parent) = (self.open.len(), self.open[self.open.len() - 1]);
        self.open.push(self.nodes.len());
        self.nodes.push(Node { kind, level, parent, name, whole: start..start });
    }

    /// Closes the innermost node at the present position.
    fn close(&mut self) {
        if let Some(node) = self.open.pop() {
            self.nodes[node].whole.end = self.at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(text: &str) -> Vec<String> {
        let document = Document::parse(text.as_bytes()).unwrap();
        let shown = |n: &Node| format!("{:?} {} {}", n.kind, n.level, &text[n.name.clone()]);
        document.nodes.iter().skip(1).map(shown).collect()
    }

    #[test]
    fn lists_nodes_in_order() {
        let expected =
            ["Element 1 a", "Attribute 2 b", "Text 3 1", "Text 2 x", "Element 2 c", "Text 2 y"];
        assert_eq!(nodes("<?xml v?><a b='1'>x<c/><!-- - -->y</a>"), expected);
        assert_eq!(nodes("<a b c d/>"), ["Element 1 a", "Attribute 2 b"]);
    }

    #[test]
    fn knows_where_a_node_is() {
        let document = Document::parse(b"x< a b = \"1\" c d></a >y").unwrap();
        let whole: Vec<&[u8]> =
            document.nodes[1..].iter().map(|n| &document.text[n.whole.clone()]).collect();
        assert_eq!(whole[1], b"< a b = \"1\" c d></a >");
        assert_eq!(whole[2], b"b = \"1\"");
        assert_eq!(whole[4], b"c d");
    }

    #[test]
    fn says_what_is_wrong() {
        let error = |text: &str| {
            let e = Document::parse(text.as_bytes()).unwrap_err();
            format!("{} {} {}", e.line, e.position, e.message)
        };
        assert_eq!(error("<a>\n<"), "2 3 END-OF-INPUT unexpected (ident or '/' wanted)");
        assert_eq!(error("<a></b>"), "1 7 '</b>' unexpected ('</a>' wanted)");
        assert_eq!(error("<a>"), "1 4 unexpected END-OF-INPUT");
        assert_eq!(error("<01>"), "1 2 unknown token unexpected (ident or '/' wanted)");
        assert_eq!(error("<a b=>"), "1 7 '>' unexpected (ident or string wanted)");
    }
}
