//! Parses and writes scripts; the format is described in `tests/scripts.rs`. The runner writes a
//! script back only with UPDATE_EXPECT=1.

/// Expected result of a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Success.
    Ok,
    /// This error.
    Error(u16),
    /// Rows.
    Query,
}

/// One statement of a script.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Comments and empty lines before it.
    pub(crate) before: Vec<String>,
    pub(crate) line: usize,
    pub(crate) session: String,
    pub(crate) kind: Kind,
    pub(crate) sql: String,
    pub(crate) expected: Vec<String>,
}

fn header(line: &str) -> Option<(String, Kind)> {
    let (session, rest) = match line.strip_prefix('[').and_then(|l| l.split_once("] ")) {
        Some((session, rest)) => (session.to_owned(), rest),
        None => (String::new(), line),
    };
    let kind = match rest {
        "statement ok" => Kind::Ok,
        "query" => Kind::Query,
        _ => Kind::Error(rest.strip_prefix("statement error ")?.parse().ok()?),
    };
    Some((session, kind))
}

/// The blocks of a script.
pub(crate) fn parse(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut before = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        let Some((session, kind)) = header(line) else {
            before.push(line.to_owned());
            continue;
        };
        let mut sql = Vec::new();
        let mut expected = Vec::new();
        let mut in_rows = false;
        for (_, line) in lines.by_ref() {
            match line {
                "" => break,
                "----" => in_rows = true,
                line if in_rows => expected.push(line.to_owned()),
                line => sql.push(line),
            }
        }
        let before = std::mem::take(&mut before);
        let sql = sql.join("\n");
        blocks.push(Block { before, line: at + 1, session, kind, sql, expected });
    }
    blocks
}

/// The text of a script.
pub(crate) fn write(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        block.before.iter().for_each(|line| out += &format!("{line}\n"));
        if !block.session.is_empty() {
            out += &format!("[{}] ", block.session);
        }
        match block.kind {
            Kind::Ok => out += "statement ok\n",
            Kind::Error(code) => out += &format!("statement error {code}\n"),
            Kind::Query => out += "query\n",
        }
        out += &format!("{}\n", block.sql);
        if block.kind == Kind::Query {
            out += "----\n";
            block.expected.iter().for_each(|line| out += &format!("{line}\n"));
        }
        out += "\n";
    }
    out
}
