//! Options of partitions, in the order in which they are shown. Their engine is read with the
//! table's.

use selkie_catalog::PartitionOptions;
use selkie_sql::ast::PartitionOption;
use selkie_types::error::catalogue::{ER_TOO_LONG_TABLE_PARTITION_COMMENT, ER_WRONG_ARGUMENTS};
use selkie_types::{SqlError, SqlResult, quote_string};

const MOST_COMMENT: usize = 1024;
/// Names in the order in which they are shown.
const ORDER: &[&str] = &["NODEGROUP", "MAX_ROWS", "MIN_ROWS", "DATA DIRECTORY", "INDEX DIRECTORY"];

/// The options that are given.
pub(super) fn read(given: &[PartitionOption]) -> SqlResult<PartitionOptions> {
    let mut out = PartitionOptions::default();
    for option in given {
        let (name, value) = match option {
            PartitionOption::Engine(_) | PartitionOption::Tablespace(_) => continue,
            PartitionOption::Comment(text) => {
                out.comment = comment(text)?;
                continue;
            }
            PartitionOption::DataDirectory(path) => ("DATA DIRECTORY", directory(path, "DATA")?),
            PartitionOption::IndexDirectory(path) => ("INDEX DIRECTORY", directory(path, "INDEX")?),
            PartitionOption::MaxRows(n) => ("MAX_ROWS", n.to_string()),
            PartitionOption::MinRows(n) => ("MIN_ROWS", n.to_string()),
            PartitionOption::NodeGroup(n) => ("NODEGROUP", n.to_string()),
            PartitionOption::Other(option) => {
                let value = option.value.as_deref().unwrap_or("DEFAULT").to_owned();
                out.after.push((option.name.value.to_string(), value));
                continue;
            }
        };
        put(&mut out, name, value);
    }
    Ok(out)
}

fn put(out: &mut PartitionOptions, name: &str, value: String) {
    out.before.retain(|(other, _)| other != name);
    out.before.push((name.to_owned(), value));
    let rank = |name: &str| ORDER.iter().position(|known| *known == name);
    out.before.sort_by_key(|(name, _)| rank(name));
}

/// The options of a subpartition: its own before those of its partition.
pub(super) fn over(mut own: PartitionOptions, part: &PartitionOptions) -> PartitionOptions {
    if own.comment.is_empty() {
        own.comment.clone_from(&part.comment);
    }
    for (name, value) in &part.before {
        if !own.before.iter().any(|(given, _)| given == name) {
            put(&mut own, name, value.clone());
        }
    }
    own
}

fn comment(text: &str) -> SqlResult<String> {
    match text.chars().count() > MOST_COMMENT {
        true => Err(SqlError::new(&ER_TOO_LONG_TABLE_PARTITION_COMMENT, &[&text, &MOST_COMMENT])),
        false => Ok(text.to_owned()),
    }
}

fn directory(path: &str, which: &str) -> SqlResult<String> {
    match path.starts_with('/') {
        true => Ok(quote_string(path)),
        false => {
            let what = format!("{which} DIRECTORY");
            Err(SqlError::new(&ER_WRONG_ARGUMENTS, &[&what]))
        }
    }
}
