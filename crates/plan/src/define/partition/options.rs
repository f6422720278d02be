//! Options of partitions, in the order in which they are shown. Their engine is read with the
//! table's.

use selkie_catalog::{PartitionOptions, Partitioning};
use selkie_sql::ast::PartitionOption;
use selkie_types::error::catalogue::{
    ER_TOO_LONG_TABLE_PARTITION_COMMENT, ER_WRONG_ARGUMENTS, WARN_OPTION_IGNORED,
};
use selkie_types::{Condition, Level, SqlError, SqlMode, SqlResult, quote_string};

use crate::define::DefineContext;

const MOST_COMMENT: usize = 1024;
/// Names in the order in which they are shown.
const ORDER: &[&str] = &["NODEGROUP", "MAX_ROWS", "MIN_ROWS", "DATA DIRECTORY", "INDEX DIRECTORY"];

/// The options that are given. Some SQL mode leaves out directories.
pub(super) fn read(
    context: &DefineContext<'_>,
    given: &[PartitionOption],
) -> SqlResult<PartitionOptions> {
    let mut out = PartitionOptions::default();
    let without_directories = context.sql_mode().contains(SqlMode::NO_DIR_IN_CREATE);
    for option in given {
        if without_directories && let Some(name) = directory_name(option) {
            context.eval.warn(&WARN_OPTION_IGNORED, &[&name]);
            continue;
        }
        let (name, value) = match option {
            PartitionOption::Engine(_) | PartitionOption::Tablespace(_) => continue,
            PartitionOption::Comment(text) => {
                out.comment = text.to_string();
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

fn directory_name(option: &PartitionOption) -> Option<&'static str> {
    match option {
        PartitionOption::DataDirectory(_) => Some("DATA DIRECTORY"),
        PartitionOption::IndexDirectory(_) => Some("INDEX DIRECTORY"),
        _ => None,
    }
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

/// Cuts comments that are too long, or fails in a strict SQL mode. Compat: those of partitions that
/// are added to others stay as they are.
pub(super) fn check_comments(
    context: &DefineContext<'_>,
    partitioning: &mut Partitioning,
) -> SqlResult<()> {
    let check = |name: &str, comment: &mut String| {
        if comment.chars().count() <= MOST_COMMENT {
            return Ok(());
        }
        let error = SqlError::new(&ER_TOO_LONG_TABLE_PARTITION_COMMENT, &[&name, &MOST_COMMENT]);
        if context.sql_mode().is_strict() {
            return Err(error);
        }
        context.eval.push(Condition::from_error(Level::Warning, &error));
        *comment = comment.chars().take(MOST_COMMENT).collect();
        Ok(())
    };
    for part in &mut partitioning.parts {
        let whole = part.options.comment.clone();
        check(&part.name, &mut part.options.comment)?;
        for sub in &mut part.subs {
            match sub.options.comment == whole {
                true => sub.options.comment.clone_from(&part.options.comment),
                false => check(&sub.name, &mut sub.options.comment)?,
            }
        }
    }
    Ok(())
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
