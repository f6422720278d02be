//! The result sets of EXPLAIN: lines with their columns, or one document. Must not know how the
//! lines came about.

use selkie_plan::explain::ExplainRow;
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast;
use selkie_types::{SqlResult, SqlType, TypeKind, Value};

use crate::run::rows_out::{send, text};
use crate::{Outcome, ResultSink};

/// Columns beside those that every form has.
#[derive(Clone, Copy, Default)]
pub(super) struct Columns {
    /// `filtered`.
    pub(super) extended: bool,
    /// `partitions`.
    pub(super) partitions: bool,
    /// Numbers of the execution.
    pub(super) analyze: bool,
}

impl Columns {
    /// The columns of a statement.
    pub(super) fn of(what: &ast::Explain) -> Self {
        let ast::Explain { extended, partitions, analyze, .. } = *what;
        Self { extended, partitions, analyze }
    }
}

/// Sends a document as the only value.
pub(super) fn document(name: &str, json: &str, sink: &mut dyn ResultSink) -> SqlResult<Outcome> {
    send(sink, &[document_column(name)], &[vec![Value::bytes(json)]])
}

/// The column of a document.
pub(super) fn document_column(name: &str) -> OutputColumn {
    OutputColumn::computed(name, text(0x00FF_FFFF))
}

/// Sends the lines.
pub(super) fn lines(
    lines: &[ExplainRow],
    shown: &Columns,
    sink: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let rows: Vec<Vec<Value>> = lines.iter().map(|line| values(line, shown)).collect();
    send(sink, &columns(shown), &rows)
}

/// The lines as texts with tabs between the values, the names of the columns first.
pub(super) fn texts(lines: &[ExplainRow], shown: &Columns) -> Vec<String> {
    let names: Vec<String> = columns(shown).iter().map(|c| c.name.to_string()).collect();
    let shown_value = |value: &Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::UInt(n) => n.to_string(),
        Value::Double(n) => format!("{n:.2}"),
        _ => String::new(),
    };
    let line = |line: &ExplainRow| {
        let all: Vec<String> = values(line, shown).iter().map(shown_value).collect();
        all.join("\t")
    };
    std::iter::once(names.join("\t")).chain(lines.iter().map(line)).collect()
}

/// The columns of lines.
pub(super) fn columns(shown: &Columns) -> Vec<OutputColumn> {
    let mut number = SqlType::new(TypeKind::BigInt, 3, 0);
    number.unsigned = true;
    let share = |name| OutputColumn::computed(name, SqlType::new(TypeKind::Double, 4, 2));
    let mut columns = vec![
        OutputColumn::computed("id", number),
        OutputColumn::computed("select_type", text(19)),
        OutputColumn::computed("table", text(64)),
    ];
    if shown.partitions {
        columns.push(OutputColumn::computed("partitions", text(0x00FF_FFFF)));
    }
    columns.extend([
        OutputColumn::computed("type", text(10)),
        OutputColumn::computed("possible_keys", text(4096)),
        OutputColumn::computed("key", text(64)),
        OutputColumn::computed("key_len", text(4096)),
        OutputColumn::computed("ref", text(2048)),
        // Compat: the type is text, because ANALYZE may put two numbers there.
        OutputColumn::computed("rows", text(64)),
    ]);
    if shown.analyze {
        columns.push(OutputColumn::computed("r_rows", text(64)));
    }
    if shown.extended || shown.analyze {
        columns.push(share("filtered"));
    }
    if shown.analyze {
        columns.push(share("r_filtered"));
    }
    columns.push(OutputColumn::computed("Extra", text(255)));
    for column in &mut columns {
        let with_shares = shown.extended || shown.analyze;
        let always = match &*column.name {
            "select_type" | "Extra" => true,
            "rows" => with_shares,
            _ => false,
        };
        column.nullable &= !always;
    }
    columns
}

fn values(line: &ExplainRow, shown: &Columns) -> Vec<Value> {
    let string = |s: &Option<String>| s.as_ref().map_or(Value::Null, Value::bytes);
    let share = |n: Option<f64>| n.map_or(Value::Null, Value::Double);
    let mut values = vec![
        line.id.map_or(Value::Null, Value::UInt),
        Value::bytes(line.select_type),
        string(&line.table),
    ];
    if shown.partitions {
        values.push(string(&line.partitions));
    }
    values.extend([
        line.access.map_or(Value::Null, Value::bytes),
        string(&line.possible_keys),
        string(&line.key),
        string(&line.key_len),
        string(&line.reference),
        line.rows.map_or(Value::Null, |n| Value::bytes(n.to_string())),
    ]);
    let run = line.detail.numbers.run.unwrap_or_default();
    if shown.analyze {
        let rows = run.sorted.or(run.rows);
        values.push(rows.map_or(Value::Null, |n| Value::bytes(format!("{n:.2}"))));
    }
    if shown.extended || shown.analyze {
        values.push(share(line.filtered()));
    }
    if shown.analyze {
        values.push(share(line.run_filtered()));
    }
    // Compat: a plain INSERT has no remarks, not even empty ones.
    let remarks = line.select_type != "INSERT";
    values.push(if remarks { Value::bytes(&line.extra) } else { Value::Null });
    values
}
