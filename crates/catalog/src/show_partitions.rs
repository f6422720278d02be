//! The PARTITION BY clause of SHOW CREATE TABLE, and what `information_schema` says of a partition.
//! Layout follows MariaDB 10.11.

use std::fmt::Write;

use selkie_expr::TimeZone;
use selkie_types::Value;

use crate::rotation::shown_time;
use crate::{
    Given, MethodKind, Partition, PartitionLimit, PartitionMethod, PartitionOptions,
    PartitionValue, Partitioning, quote_identifier,
};

/// The clause, which begins with a line break. `engine`: the name to show, if it is shown. Times
/// are shown in `zone`.
pub fn partition_clause(
    partitions: &Partitioning,
    engine: Option<&str>,
    zone: &TimeZone,
) -> String {
    let mut out = format!("\n PARTITION BY {}", method_clause(&partitions.method, zone));
    if partitions.given == Given::Count {
        let _ = write!(out, "\nPARTITIONS {}", partitions.parts.len());
    }
    if let Some(sub) = &partitions.sub {
        let _ = write!(out, "\nSUBPARTITION BY {}", method_clause(sub, zone));
        if partitions.subs_given == Given::Count {
            let _ = write!(out, "\nSUBPARTITIONS {}", partitions.leaves_each());
        }
    }
    match partitions.given {
        Given::Nothing | Given::Count => {}
        Given::List => {
            let parts = partitions
                .parts
                .iter()
                .map(|part| part_clause(part, partitions.subs_given, engine));
            let _ = write!(out, "\n({})", parts.collect::<Vec<_>>().join(",\n "));
        }
    }
    out
}

fn method_clause(method: &PartitionMethod, zone: &TimeZone) -> String {
    let linear = if method.linear { "LINEAR " } else { "" };
    let columns = method.shown_expression();
    match method.kind {
        MethodKind::Range => format!("RANGE ({columns})"),
        MethodKind::List => format!("LIST ({columns})"),
        // Compat: two blanks.
        MethodKind::RangeColumns => format!("RANGE  COLUMNS({columns})"),
        MethodKind::ListColumns => format!("LIST  COLUMNS({columns})"),
        MethodKind::Hash => format!("{linear}HASH ({columns})"),
        MethodKind::Key => {
            // Compat: only the older algorithm is shown.
            let older = method.algorithm == Some(1);
            let algorithm = if older { "ALGORITHM = 1 " } else { "" };
            format!("{linear}KEY {algorithm}({columns})")
        }
        // Compat: a blank, whatever follows.
        MethodKind::SystemTime => {
            let rotation = method.rotation.as_ref().map(|rotation| rotation.clause(zone));
            format!("SYSTEM_TIME {}", rotation.unwrap_or_default())
        }
    }
}

fn part_clause(part: &Partition, subs: Given, engine: Option<&str>) -> String {
    let mut out = format!("PARTITION {}", quote_identifier(&part.name));
    out.push_str(&limit_clause(&part.limit));
    if subs != Given::List {
        put_options(&mut out, &part.options, engine);
        return out;
    }
    let subs = part.subs.iter().map(|sub| {
        let mut out = format!("SUBPARTITION {}", quote_identifier(&sub.name));
        put_options(&mut out, &sub.options, engine);
        out
    });
    let _ = write!(out, "\n ({})", subs.collect::<Vec<_>>().join(",\n  "));
    out
}

fn limit_clause(limit: &PartitionLimit) -> String {
    match limit {
        PartitionLimit::Slot => String::new(),
        PartitionLimit::Default => " DEFAULT".into(),
        PartitionLimit::History(_) => " HISTORY".into(),
        PartitionLimit::Current => " CURRENT".into(),
        PartitionLimit::In(tuples) => format!(" VALUES IN ({})", tuple_list(tuples)),
        PartitionLimit::LessThan(bounds) => format!(" VALUES LESS THAN {}", bounds_clause(bounds)),
    }
}

/// Compat: MAXVALUE of an expression has no parentheses; its text is empty to tell it apart from
/// the bound of a single column.
fn bounds_clause(bounds: &[Option<PartitionValue>]) -> String {
    if bounds.is_empty() { "MAXVALUE".into() } else { format!("({})", bounds_text(bounds)) }
}

fn bounds_text(bounds: &[Option<PartitionValue>]) -> String {
    let text = |bound: &Option<PartitionValue>| match bound {
        Some(value) => value.text.clone(),
        None => "MAXVALUE".into(),
    };
    bounds.iter().map(text).collect::<Vec<_>>().join(",")
}

fn tuple_list(tuples: &[Vec<PartitionValue>]) -> String {
    let tuple = |values: &Vec<PartitionValue>| {
        let texts: Vec<&str> = values.iter().map(|value| &*value.text).collect();
        if texts.len() == 1 { texts.concat() } else { format!("({})", texts.join(",")) }
    };
    tuples.iter().map(tuple).collect::<Vec<_>>().join(",")
}

fn put_options(out: &mut String, options: &PartitionOptions, engine: Option<&str>) {
    for (name, value) in &options.before {
        let _ = write!(out, " {name} = {value}");
    }
    if !options.comment.is_empty() {
        let _ = write!(out, " COMMENT = {}", escaped(&options.comment));
    }
    if let Some(engine) = engine {
        let _ = write!(out, " ENGINE = {engine}");
    }
    for (name, value) in &options.after {
        let _ = write!(out, " {name} = {value}");
    }
}

/// Compat: quotes in a comment are escaped, not doubled.
fn escaped(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// The name of a method in `information_schema`.
pub(crate) fn method_name(method: &PartitionMethod) -> String {
    let name = match method.kind {
        MethodKind::Range => "RANGE",
        MethodKind::List => "LIST",
        MethodKind::RangeColumns => "RANGE COLUMNS",
        MethodKind::ListColumns => "LIST COLUMNS",
        MethodKind::Hash => "HASH",
        MethodKind::Key => "KEY",
        MethodKind::SystemTime => "SYSTEM_TIME",
    };
    format!("{}{name}", if method.linear { "LINEAR " } else { "" })
}

/// The values of a partition as `information_schema` shows them, times in `zone`.
pub(crate) fn description(
    method: &PartitionMethod,
    limit: &PartitionLimit,
    zone: &TimeZone,
) -> Option<String> {
    Some(match limit {
        PartitionLimit::Slot | PartitionLimit::History(None) => return None,
        PartitionLimit::History(Some(end)) => shown_time(*end, zone),
        PartitionLimit::Current => "CURRENT".into(),
        PartitionLimit::LessThan(bounds) if bounds.is_empty() => "MAXVALUE".into(),
        PartitionLimit::LessThan(bounds) if method.kind == MethodKind::Range => {
            bounds.iter().flatten().map(signed).collect()
        }
        PartitionLimit::LessThan(bounds) => bounds_text(bounds),
        PartitionLimit::In(tuples) if method.kind == MethodKind::List => {
            tuples.iter().flatten().map(signed).collect::<Vec<_>>().join(",")
        }
        PartitionLimit::In(tuples) => tuple_list(tuples),
        // Compat: as if it had one value: the greatest, or 0.
        PartitionLimit::Default if method.kind == MethodKind::List => "0".into(),
        PartitionLimit::Default => match method.columns.len() {
            1 => "MAXVALUE".into(),
            columns => format!("({})", vec!["MAXVALUE"; columns].join(",")),
        },
    })
}

/// Compat: a value above the signed range is shown as a negative number.
fn signed(value: &PartitionValue) -> String {
    match value.value {
        Value::UInt(number) => (number as i64).to_string(),
        _ => value.text.clone(),
    }
}
