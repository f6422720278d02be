//! The list of the tables that have column groups, in a file of the data directory: after a restart
//! they get their groups again without having to be read by rows first.
//!
//! It is a hint and nothing more. What it names need not exist, and a file that cannot be read or
//! written is passed over. A table whose groups are being built is not in the file, so that a
//! build that ends the server does not end each start.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::Instance;

/// A table that had groups.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) schema: String,
    pub(super) table: String,
    /// The columns that were read, a bit for each of the first 64.
    pub(super) columns: u64,
}

/// The list as it is to be written: the tables that have groups, and those that wait for them.
#[derive(Default)]
pub(super) struct ColumnList {
    /// Without a file, nothing is listed.
    file: Option<PathBuf>,
    waiting: VecDeque<Listed>,
    /// The text of the file.
    written: Option<String>,
}

impl ColumnList {
    /// The list in a file.
    pub(super) fn open(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        Self { file: Some(file.to_owned()), waiting: parse(&text), written: Some(text) }
    }

    /// The next table that waits for its groups, which the file does not name from now on.
    pub(super) fn take(&mut self, instance: &Instance) -> Option<Listed> {
        let next = self.waiting.pop_front()?;
        self.save(instance);
        Some(next)
    }

    /// Writes the list, if it has changed.
    pub(super) fn save(&mut self, instance: &Instance) {
        let Some(file) = &self.file else { return };
        let text = print(tables_with_groups(instance).iter().chain(&self.waiting));
        if self.written.as_ref() == Some(&text) {
            return;
        }
        match write(file, &text) {
            Ok(()) => self.written = Some(text),
            Err(error) => tracing::debug!("{} is not written: {error}", file.display()),
        }
    }
}

fn tables_with_groups(instance: &Instance) -> Vec<Listed> {
    let (built, snapshot) = (instance.upkeep.columns.take_built(), instance.catalog.snapshot());
    let tables = snapshot.stored_tables().filter(|table| built.contains(&table.def.id));
    let listed = |table: &std::sync::Arc<selkie_catalog::TableInfo>| {
        let handle = instance.look_into(table)?;
        let source = handle.table.columns().filter(|source| source.state().groups > 0)?;
        Some(Listed {
            schema: table.schema().to_owned(),
            table: table.name().to_owned(),
            columns: source.wanted(),
        })
    };
    tables.filter_map(listed).collect()
}

/// Replaces the file. It is not synced: after a failure of the machine it may be empty.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, file)
}

/// A line for each table: a JSON array of schema, table and columns.
fn print<'l>(tables: impl Iterator<Item = &'l Listed>) -> String {
    let line = |listed: &Listed| {
        format!("{}\n", serde_json::json!([listed.schema, listed.table, listed.columns]))
    };
    tables.map(line).collect()
}

fn parse(text: &str) -> VecDeque<Listed> {
    let listed = |line: &str| {
        let (schema, table, columns) = serde_json::from_str(line).ok()?;
        Some(Listed { schema, table, columns })
    };
    text.lines().filter_map(listed).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn listed() -> impl Strategy<Value = Listed> {
        let fields = (any::<String>(), any::<String>(), any::<u64>());
        fields.prop_map(|(schema, table, columns)| Listed { schema, table, columns })
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_it_was_written(all in proptest::collection::vec(listed(), 0..5)) {
            prop_assert_eq!(parse(&print(all.iter())), all);
        }

        #[test]
        fn any_text_is_a_list(text in any::<String>()) {
            parse(&text);
        }
    }

    #[test]
    fn damaged_lines_are_passed_over() {
        let one = Listed { schema: "a".to_owned(), table: "b".to_owned(), columns: 5 };
        assert_eq!(parse("[\"a\",\"b\n[\"a\",\"b\",5]\n[1,2,3]\n\n[\"a\",\"b\"]"), [one]);
    }
}
