//! HELP: looks a name up in the tables `mysql.help_*`.
//!
//! A name, which may have wildcards, is searched in topics, then keywords, then categories. A
//! single topic is shown whole; for several topics only the names are listed. Every account may use
//! HELP; no privilege is checked. The tables are empty unless an administrator fills them.

use selkie_catalog::TableInfo;
use selkie_engine::{RowSet, Scan};
use selkie_plan::physical::OutputColumn;
use selkie_types::{BATCH_ROWS, CollationId, SqlError, SqlResult, Value};

use crate::query::execution::Execution;
use crate::run::rows_out::{send, text};
use crate::state::control::Control;
use crate::state::error::{corrupt, from_engine};
use crate::state::own_transaction::begin_in;
use crate::{Instance, Outcome, ResultSink};

/// Values of some columns of a table.
type Rows = Vec<Vec<Value>>;

/// Runs `HELP 'mask'`.
pub(crate) fn run(execution: &mut Execution<'_>, mask: &str) -> SqlResult<Outcome> {
    let Execution { instance, control, sink, .. } = execution;
    let (shelf, sink) = (Shelf { instance, control }, &mut **sink);
    let topics = shelf.topics(mask)?;
    match &topics[..] {
        [] => shelf.category(mask, sink),
        [topic] => {
            let columns = [("name", 64), ("description", 1000), ("example", 1000)];
            let row = vec![topic[1].clone(), topic[3].clone(), topic[4].clone()];
            send(
                sink,
                &columns.map(|(name, length)| OutputColumn::computed(name, text(length))),
                &[row],
            )
        }
        _ => {
            let categories = shelf.find("help_category", &CATEGORY, |row| like(&row[1], mask))?;
            let mut rows = listed(&topics, "N", None);
            rows.extend(listed(&categories, "Y", None));
            send_names(false, &rows, sink)
        }
    }
}

const TOPIC: [&str; 5] = ["help_topic_id", "name", "help_category_id", "description", "example"];
const KEYWORD: [&str; 2] = ["help_keyword_id", "name"];
const RELATION: [&str; 2] = ["help_topic_id", "help_keyword_id"];
const CATEGORY: [&str; 3] = ["help_category_id", "name", "parent_category_id"];

fn like(name: &Value, mask: &str) -> bool {
    let Value::Bytes(name) = name else { return false };
    CollationId::UTF8MB3_GENERAL_CI.like(name, mask.as_bytes(), Some('\\'.into()))
}

/// Sorted names, each with whether it is a category, and with the source category `of` if given.
fn listed(rows: &Rows, category: &str, of: Option<&Value>) -> Rows {
    let mut names: Vec<&Value> = rows.iter().map(|row| &row[1]).collect();
    names.sort_by_key(|name| match name {
        Value::Bytes(bytes) => &bytes[..],
        _ => &[],
    });
    let row = |name: &Value| {
        of.into_iter().chain([name, &Value::bytes(category)]).cloned().collect::<Vec<_>>()
    };
    names.into_iter().map(row).collect()
}

fn send_names(
    of_category: bool,
    rows: &[Vec<Value>],
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let mut columns = vec![
        OutputColumn::computed("name", text(64)),
        OutputColumn::computed("is_it_category", text(1)),
    ];
    if of_category {
        columns.insert(0, OutputColumn::computed("source_category_name", text(64)));
    }
    send(sink, &columns, rows)
}

/// Reader of the help tables.
struct Shelf<'a> {
    instance: &'a Instance,
    control: &'a Control,
}

impl Shelf<'_> {
    /// Topics that match the name, or else the topics of the only keyword that matches.
    fn topics(&self, mask: &str) -> SqlResult<Rows> {
        let topics = self.find("help_topic", &TOPIC, |row| like(&row[1], mask))?;
        if !topics.is_empty() {
            return Ok(topics);
        }
        let keywords = self.find("help_keyword", &KEYWORD, |row| like(&row[1], mask))?;
        let [keyword] = &keywords[..] else { return Ok(Vec::new()) };
        let related = self.find("help_relation", &RELATION, |row| row[1] == keyword[0])?;
        let is_related = |id: &Value| related.iter().any(|row| row[0] == *id);
        self.find("help_topic", &TOPIC, |row| is_related(&row[0]))
    }

    /// Sends the contents of the only category that matches, or the names of several.
    fn category(&self, mask: &str, sink: &mut dyn ResultSink) -> SqlResult<Outcome> {
        let found = self.find("help_category", &CATEGORY, |row| like(&row[1], mask))?;
        let [category] = &found[..] else {
            return send_names(false, &listed(&found, "Y", None), sink);
        };
        let (id, name) = (&category[0], Some(&category[1]));
        let topics = self.find("help_topic", &TOPIC, |row| row[2] == *id)?;
        let inner = self.find("help_category", &CATEGORY, |row| row[2] == *id)?;
        let mut rows = listed(&topics, "N", name);
        rows.extend(listed(&inner, "Y", name));
        send_names(true, &rows, sink)
    }

    /// Rows of a table for which `wanted` holds, with the values of `columns`.
    fn find(
        &self,
        table: &str,
        columns: &[&str],
        wanted: impl Fn(&[Value]) -> bool,
    ) -> SqlResult<Rows> {
        let snapshot = self.instance.catalog.snapshot();
        let found = snapshot.table("mysql", table);
        let table = found.ok_or_else(|| SqlError::no_such_table("mysql", table))?;
        let missing = || SqlError::internal("a help table lacks a column");
        let places: Option<Vec<usize>> =
            columns.iter().map(|name| table.column_position(name)).collect();
        let (places, mut rows) = (places.ok_or_else(missing)?, Vec::new());
        let (_, trx) = begin_in(self.instance, table)?;
        let handle = self.instance.open_table(table)?;
        let error = |e| from_engine(e, &table.def);
        let mut cursor = handle.table.scan(&*trx, self.control, &Scan::default()).map_err(error)?;
        let mut set = RowSet::default();
        loop {
            set.clear();
            let more = cursor.next_batch(&mut set, BATCH_ROWS).map_err(error)?;
            let read = values(table, &places, &set)?;
            rows.extend(read.into_iter().filter(|row| wanted(row)));
            if !more {
                return Ok(rows);
            }
        }
    }
}

fn values(table: &TableInfo, places: &[usize], set: &RowSet) -> SqlResult<Rows> {
    let decode = |at: &usize| table.def.layout.decode(&set.rows, *at).map_err(corrupt);
    let columns: Vec<_> = places.iter().map(decode).collect::<SqlResult<_>>()?;
    let row = |at| columns.iter().map(|column| column.value(at)).collect();
    Ok((0..set.rows.len()).map(row).collect())
}
