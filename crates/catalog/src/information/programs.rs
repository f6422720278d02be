//! ROUTINES, PARAMETERS, TRIGGERS and `mysql.proc`. All but `mysql.proc` hide bodies from sessions
//! that may not see them.

use std::sync::Arc;

use selkie_types::temporal::DateTime;
use selkie_types::{CollationId, Privileges, SqlMode, SqlType, Value};

use super::columns::type_values;
use super::{InformationRow, InformationSource, optional, text};
use crate::{ProgramContext, Routine};

impl<'a> InformationSource<'a> {
    /// The requested routines that the session may see.
    fn routines(&self) -> impl Iterator<Item = &'a Arc<Routine>> {
        self.requested_routines().filter(|r| (self.routine_visible)(r))
    }

    /// The routines of the requested schema and name. Compat: the name of the schema is compared
    /// byte by byte, as in the key of `mysql.proc`.
    pub fn requested_routines(&self) -> impl Iterator<Item = &'a Arc<Routine>> {
        let (schema, name) = (self.asked.schema, self.asked.table);
        let all = self.names.snapshot.routines();
        let of_schema = all.filter(move |r| schema.is_none_or(|schema| *schema == *r.schema));
        of_schema.filter(move |r| name.is_none_or(|name| same_name(name, &r.name)))
    }
}

/// Whether two names of routines are the same, as in the key of `mysql.proc`.
fn same_name(a: &str, b: &str) -> bool {
    CollationId::UTF8MB3_GENERAL_CI.equal(a.as_bytes(), b.as_bytes())
}

fn mode(context: &ProgramContext) -> Value {
    text(SqlMode::from_bits(context.sql_mode).map(|m| m.to_string()).unwrap_or_default())
}

/// An instant in the session's time zone, rounded down to a multiple of `unit` microseconds.
fn local(source: &InformationSource<'_>, at: i64, unit: i64) -> Value {
    source.zone.local_from_micros(at - at.rem_euclid(unit)).map_or(Value::Null, Value::DateTime)
}

/// An instant rounded down to seconds, for a TIMESTAMP column.
fn second(at: i64) -> Value {
    let at = at - at.rem_euclid(1_000_000);
    DateTime::from_unix_micros(at).map_or(Value::Null, Value::DateTime)
}

/// DATA_TYPE up to DTD_IDENTIFIER of a type, or of the columns whose type is taken; an empty name
/// and NULLs if there is neither.
fn described(ty: Option<&SqlType>, like: &str, mode: SqlMode) -> Vec<Value> {
    match ty {
        Some(ty) => {
            // Compat: lengths are signed here and unsigned in COLUMNS.
            let mut values = type_values(ty, mode);
            for value in &mut values[1..5] {
                if let Value::UInt(v) = value {
                    *value = Value::Int(i64::try_from(*v).unwrap_or(i64::MAX));
                }
            }
            values
        }
        None => {
            let kind = match like {
                _ if like.ends_with("%TYPE") => "TYPE OF",
                _ if like.ends_with("%ROWTYPE") => "ROW TYPE OF",
                _ => like.split(" `").next().unwrap_or_default(),
            };
            let whole = if like.is_empty() { Value::Null } else { text(like) };
            [vec![text(kind)], vec![Value::Null; 7], vec![whole]].concat()
        }
    }
}

pub(super) fn routines(source: &InformationSource<'_>) -> Vec<InformationRow> {
    source.routines().map(|routine| routine_row(source, routine)).collect()
}

fn routine_row(source: &InformationSource<'_>, routine: &Routine) -> InformationRow {
    let context = &routine.context;
    let shown = (source.routine_body_visible)(routine).then_some(&routine.body);
    let mut row = vec![
        text(&routine.name),
        text("def"),
        text(&routine.schema),
        text(&routine.name),
        text(routine.kind()),
    ];
    row.extend(described(routine.returns.ty.as_ref(), "", source.sql_mode));
    row.extend([
        text("SQL"),
        optional(shown),
        Value::Null,
        Value::Null,
        text("SQL"),
        text(if routine.deterministic { "YES" } else { "NO" }),
        text(&routine.data_access),
        Value::Null,
        text(if routine.invoker { "INVOKER" } else { "DEFINER" }),
        local(source, context.created, 1_000_000),
        local(source, context.modified, 1_000_000),
        mode(context),
        text(&routine.comment),
        text(&context.definer),
        text(&context.client_charset),
        text(&context.connection_collation),
        text(&context.database_collation),
    ]);
    row
}

pub(super) fn parameters(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for routine in source.routines().filter(|routine| routine.part.is_none()) {
        let head = |at: usize, mode: Value, name: Value| {
            vec![
                text("def"),
                text(&routine.schema),
                text(&routine.name),
                Value::Int(at as i64),
                mode,
                name,
            ]
        };
        let mut put = |mut row: Vec<Value>, ty: Option<&SqlType>, like: &str| {
            row.extend(described(ty, like, source.sql_mode));
            row.push(text(routine.kind()));
            rows.push(row);
        };
        if routine.function {
            put(head(0, Value::Null, Value::Null), routine.returns.ty.as_ref(), "");
        }
        for (at, parameter) in routine.parameters.iter().enumerate() {
            let row = head(at + 1, text(&parameter.mode), text(&parameter.name));
            put(row, parameter.ty.as_ref(), &parameter.like);
        }
    }
    rows
}

pub(super) fn triggers(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let all = source.names.snapshot.all_triggers();
    let seen = all.filter_map(|t| {
        let privileges = (source.on_table)(&t.schema, &t.table);
        // Compat: an account that may change rows sees that the trigger exists, but not its body.
        let shown = Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE;
        let whole = privileges.has(Privileges::TRIGGER);
        (whole || privileges.has_any(shown)).then_some((t, whole))
    });
    seen.map(|(trigger, whole)| {
        let context = &trigger.context;
        let known = |value: &str| if whole { text(value) } else { Value::Null };
        vec![
            text("def"),
            text(&trigger.schema),
            text(&trigger.name),
            text(&trigger.event),
            text("def"),
            text(&trigger.schema),
            text(&trigger.table),
            Value::Int(trigger.order.into()),
            Value::Null,
            known(&trigger.body),
            text("ROW"),
            text(if trigger.before { "BEFORE" } else { "AFTER" }),
            Value::Null,
            Value::Null,
            text("OLD"),
            text("NEW"),
            local(source, context.created, 10_000),
            mode(context),
            known(&context.definer),
            text(&context.client_charset),
            text(&context.connection_collation),
            text(&context.database_collation),
        ]
    })
    .collect()
}

/// `mysql.proc`.
pub(super) fn proc(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let all = source.names.snapshot.routines();
    let row = |routine: &Arc<Routine>| {
        let context = &routine.context;
        vec![
            text(&routine.schema),
            text(&routine.name),
            text(routine.kind()),
            text(&routine.name),
            text("SQL"),
            text(routine.data_access.replace(' ', "_")),
            text(if routine.deterministic { "YES" } else { "NO" }),
            text(if routine.invoker { "INVOKER" } else { "DEFINER" }),
            text(&routine.parameters_text),
            text(&routine.returns.text),
            text(&routine.body),
            text(&context.definer),
            second(context.created),
            second(context.modified),
            mode(context),
            text(&routine.comment),
            text(&context.client_charset),
            text(&context.connection_collation),
            text(&context.database_collation),
            text(&routine.body),
            text(if routine.returns.aggregate { "GROUP" } else { "NONE" }),
        ]
    };
    all.map(row).collect()
}
