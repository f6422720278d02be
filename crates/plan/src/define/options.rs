//! Table options: those of all engines, those of one engine, and unknown ones.
//!
//! Must not decide an option's effect: options are only checked here, and kept to be shown.

use selkie_engine::{OptionValues, OwnOption, Personality};
use selkie_sql::ast::{EngineOption, RowFormat, TableOption};
use selkie_types::error::catalogue::{
    ER_BAD_OPTION_VALUE, ER_TOO_LONG_TABLE_COMMENT, ER_UNKNOWN_OPTION,
};
use selkie_types::{CollationId, ErrorDef, SqlError, SqlMode, SqlResult};

use super::{DefineContext, charset};

/// Maximum length of a table comment, in characters.
const TABLE_COMMENT_MAX: usize = 2048;

/// Maximum length of a comment on a column or an index, in characters.
pub(super) const COMMENT_MAX: usize = 1024;

/// The options of a table.
#[derive(Default)]
pub(super) struct Options {
    pub(super) engine: Option<Box<str>>,
    pub(super) collation: Option<CollationId>,
    pub(super) auto_increment: Option<u64>,
    pub(super) comment: Option<Box<str>>,
    /// Name and value as shown. The value is `None` if the option is reset to its default.
    pub(super) shown: Vec<(String, Option<String>)>,
}

/// Order in which options are shown, independent of the statement; others come last.
const SHOWN_ORDER: &[&str] = &[
    "MIN_ROWS",
    "MAX_ROWS",
    "AVG_ROW_LENGTH",
    "PACK_KEYS",
    "STATS_PERSISTENT",
    "STATS_AUTO_RECALC",
    "STATS_SAMPLE_PAGES",
    "CHECKSUM",
    "PAGE_CHECKSUM",
    "DELAY_KEY_WRITE",
    "ROW_FORMAT",
    "TRANSACTIONAL",
    "KEY_BLOCK_SIZE",
    "CONNECTION",
    "SEQUENCE",
];

impl Options {
    /// As [`Self::read_in`], for a new table of a schema with the collation `default`.
    pub(super) fn read(options: &[TableOption], default: CollationId) -> SqlResult<Self> {
        Self::read_in(options, default, default)
    }

    /// Reads options in order; of several equal options the last one counts. `default` is the
    /// collation of the table, `around` that of its schema.
    pub(super) fn read_in(
        options: &[TableOption],
        default: CollationId,
        around: CollationId,
    ) -> SqlResult<Self> {
        let mut out = Self::default();
        let mut clauses = charset::Clauses::default();
        for option in options {
            match option {
                TableOption::Engine(name) => out.engine = Some(name.value.clone()),
                TableOption::AutoIncrement(next) => out.auto_increment = Some(*next),
                TableOption::Charset(name) => clauses.charset(name)?,
                TableOption::Collate(name) => clauses.collate(name),
                TableOption::Comment(text) => out.comment = Some(text.clone()),
                other => out.shown.extend(shown_option(other)?),
            }
        }
        if !clauses.is_empty() {
            out.collation = Some(clauses.resolve_in(default, around)?);
        }
        Ok(out)
    }

    /// Merges these options into `shown`; they replace earlier ones of the same name.
    pub(super) fn merge_shown(&self, shown: &mut Vec<(String, String)>) {
        for (name, value) in &self.shown {
            shown.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            shown.extend(value.iter().map(|value| (name.clone(), value.clone())));
        }
        let rank = |name: &str| SHOWN_ORDER.iter().position(|known| *known == name);
        shown.sort_by_key(|(name, _)| rank(name).unwrap_or(SHOWN_ORDER.len()));
    }
}

/// An option as shown by SHOW CREATE TABLE, even if an engine ignores it, as in MariaDB. Options
/// that would change the table's behaviour are errors.
fn shown_option(option: &TableOption) -> SqlResult<Option<(String, Option<String>)>> {
    let flag = |on: &bool| Some(u8::from(*on).to_string());
    // Compat: larger numbers are cut to 32 bits.
    let number = |n: &u64| (*n > 0).then(|| (*n).min(u32::MAX.into()).to_string());
    let (name, value) = match option {
        TableOption::AvgRowLength(n) => ("AVG_ROW_LENGTH", number(n)),
        TableOption::Checksum(on) => ("CHECKSUM", flag(on).filter(|_| *on)),
        TableOption::PageChecksum(on) => ("PAGE_CHECKSUM", flag(on)),
        TableOption::Transactional(on) => ("TRANSACTIONAL", on.as_ref().and_then(flag)),
        TableOption::DelayKeyWrite(on) => ("DELAY_KEY_WRITE", flag(on).filter(|_| *on)),
        TableOption::KeyBlockSize(n) => ("KEY_BLOCK_SIZE", number(n)),
        TableOption::MaxRows(n) => ("MAX_ROWS", number(n)),
        TableOption::MinRows(n) => ("MIN_ROWS", number(n)),
        TableOption::PackKeys(on) => ("PACK_KEYS", on.as_ref().and_then(flag)),
        TableOption::RowFormat(format) => ("ROW_FORMAT", row_format(*format).map(str::to_owned)),
        TableOption::StatsAutoRecalc(on) => ("STATS_AUTO_RECALC", on.as_ref().and_then(flag)),
        TableOption::StatsPersistent(on) => ("STATS_PERSISTENT", on.as_ref().and_then(flag)),
        TableOption::StatsSamplePages(n) => ("STATS_SAMPLE_PAGES", n.as_ref().and_then(number)),
        TableOption::Connection(text) => {
            let text = String::from_utf8_lossy(&text.bytes);
            let shown = (!text.is_empty()).then(|| selkie_types::quote_string(&text));
            ("CONNECTION", shown)
        }
        TableOption::Other(option) => return Ok(Some(engine_option(option))),
        TableOption::Sequence(yes) => ("SEQUENCE", yes.then(|| "1".to_owned())),
        TableOption::DataDirectory(_) | TableOption::IndexDirectory(_) => {
            return Err(SqlError::not_supported("DATA DIRECTORY"));
        }
        _ => return Ok(None),
    };
    Ok(Some((name.to_owned(), value)))
}

fn row_format(format: RowFormat) -> Option<&'static str> {
    Some(match format {
        RowFormat::Default => return None,
        RowFormat::Dynamic => "DYNAMIC",
        RowFormat::Fixed => "FIXED",
        RowFormat::Compressed => "COMPRESSED",
        RowFormat::Redundant => "REDUNDANT",
        RowFormat::Compact => "COMPACT",
        RowFormat::Page => "PAGE",
    })
}

/// An option whose name is not a word of the language: name and value are quoted.
fn engine_option(option: &EngineOption) -> (String, Option<String>) {
    let value = option.value.as_deref().map(selkie_types::quote_string);
    (selkie_catalog::quote_identifier(&option.name.value), value)
}

fn accepts(values: &OptionValues, value: &str) -> bool {
    let is_one_of = |words: &[&str]| words.iter().any(|w| w.eq_ignore_ascii_case(value));
    match values {
        OptionValues::Boolean => is_one_of(&["0", "1", "NO", "YES", "OFF", "ON"]),
        OptionValues::Number(least, most) => {
            value.parse::<u64>().is_ok_and(|n| (*least..=*most).contains(&n))
        }
        OptionValues::Word(words) => is_one_of(words),
    }
}

/// Checks the options in `statement` for a table of `engine`.
pub(super) fn check_table(
    context: &DefineContext<'_>,
    engine: &'static Personality,
    statement: &[TableOption],
) -> SqlResult<()> {
    for option in statement {
        if let TableOption::Transactional(Some(_)) = option
            && !engine.shown.transactional
        {
            unknown(context, context.is_strict(), "transactional")?;
        }
    }
    let others = statement.iter().filter_map(|option| match option {
        TableOption::Other(option) => Some(option),
        _ => None,
    });
    check(context, others, engine.shown.options)
}

/// Checks options of a column or an index. No engine has any.
pub(super) fn check_part(context: &DefineContext<'_>, options: &[EngineOption]) -> SqlResult<()> {
    check(context, options.iter(), &[])
}

/// The options of a column to be shown: those with a value.
pub(super) fn shown_of_part(options: &[EngineOption]) -> Vec<(String, String)> {
    let shown = options.iter().map(engine_option);
    shown.filter_map(|(name, value)| Some((name, value?))).collect()
}

fn check<'o>(
    context: &DefineContext<'_>,
    options: impl Iterator<Item = &'o EngineOption>,
    known: &[OwnOption],
) -> SqlResult<()> {
    let lenient = context.sql_mode().contains(SqlMode::IGNORE_BAD_TABLE_OPTIONS);
    for option in options {
        let Some(value) = option.value.as_deref() else { continue };
        let rule = known.iter().find(|known| option.name.is(known.name));
        match rule {
            None => unknown(context, !lenient, &option.name.value)?,
            Some(OwnOption { name, values }) if !accepts(values, value) => {
                let arguments: [&dyn std::fmt::Display; 2] = [&value, name];
                if !lenient {
                    return Err(SqlError::new(&ER_BAD_OPTION_VALUE, &arguments));
                }
                context.eval.warn(&ER_BAD_OPTION_VALUE, &arguments);
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn unknown(context: &DefineContext<'_>, is_error: bool, name: &str) -> SqlResult<()> {
    if is_error {
        return Err(SqlError::new(&ER_UNKNOWN_OPTION, &[&name]));
    }
    context.eval.warn(&ER_UNKNOWN_OPTION, &[&name]);
    Ok(())
}

/// The comment of a table.
pub(super) fn table_comment(
    context: &DefineContext<'_>,
    comment: Option<&str>,
    table: &str,
) -> SqlResult<String> {
    fitted(context, comment, TABLE_COMMENT_MAX, &ER_TOO_LONG_TABLE_COMMENT, table)
}

/// A comment of at most `most` characters. A longer one is an error in strict mode, otherwise it is
/// cut.
pub(super) fn fitted(
    context: &DefineContext<'_>,
    comment: Option<&str>,
    most: usize,
    error: &'static ErrorDef,
    name: &str,
) -> SqlResult<String> {
    let comment = comment.unwrap_or_default();
    let Some((end, _)) = comment.char_indices().nth(most) else { return Ok(comment.to_owned()) };
    if context.is_strict() {
        return Err(SqlError::new(error, &[&name, &most]));
    }
    context.eval.warn(error, &[&name, &most]);
    Ok(comment[..end].to_owned())
}
