//! EXPLAIN FORMAT=JSON: the rows of EXPLAIN as tables of query blocks. Built from [`rows`] alone,
//! so both formats agree.

use super::rows::{ExplainRow, PartNames, rows};
use crate::physical::Plan;

/// The plan as JSON, indented by two spaces as in MariaDB.
pub fn json(plan: &Plan, parts: PartNames<'_>) -> String {
    let all = rows(plan, &|_| None, &[], parts);
    let mut out = Writer { text: String::from("{"), depth: 1, first: true };
    let mut ids: Vec<Option<u64>> = Vec::new();
    for row in &all {
        if !ids.contains(&row.id) {
            ids.push(row.id);
        }
    }
    for id in ids {
        out.open("query_block");
        if let Some(id) = id {
            out.number("select_id", id);
        }
        for row in all.iter().filter(|r| r.id == id) {
            table(&mut out, row);
        }
        out.close();
    }
    out.text += "\n}";
    out.text
}

fn table(out: &mut Writer, row: &ExplainRow) {
    let Some(name) = &row.table else {
        out.open("table");
        out.string("message", &row.extra);
        out.close();
        return;
    };
    out.open("table");
    out.string("table_name", name);
    row.partitions.iter().for_each(|v| out.strings("partitions", v));
    row.access.iter().for_each(|v| out.string("access_type", v));
    row.possible_keys.iter().for_each(|v| out.strings("possible_keys", v));
    row.key.iter().for_each(|v| out.string("key", v));
    row.key_len.iter().for_each(|v| out.string("key_length", v));
    row.reference.iter().for_each(|v| out.strings("ref", v));
    row.rows.iter().for_each(|v| out.number("rows", *v));
    if row.extra.contains("Using index for group-by") {
        out.word("using_index_for_group_by", "true");
    } else if row.extra.contains("Using index") {
        out.word("using_index", "true");
    }
    if row.extra.contains("Using filesort") {
        out.word("filesort", "true");
    }
    if row.extra.contains("Using temporary") {
        out.word("temporary_table", "true");
    }
    out.close();
}

struct Writer {
    text: String,
    depth: usize,
    first: bool,
}

impl Writer {
    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.first) {
            self.text.push(',');
        }
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.depth));
        self.text += &quoted(key);
        self.text += ": ";
    }

    fn open(&mut self, key: &str) {
        self.key(key);
        self.text.push('{');
        self.depth += 1;
        self.first = true;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.depth));
        self.text.push('}');
        self.first = false;
    }

    fn word(&mut self, key: &str, word: &str) {
        self.key(key);
        self.text += word;
    }

    fn number(&mut self, key: &str, value: u64) {
        self.word(key, &value.to_string());
    }

    fn string(&mut self, key: &str, value: &str) {
        self.word(key, &quoted(value));
    }

    fn strings(&mut self, key: &str, list: &str) {
        let items: Vec<String> = list.split(',').map(quoted).collect();
        self.word(key, &format!("[{}]", items.join(", ")));
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
