//! SHOW CREATE of procedures, functions, triggers and events. A routine's body is shown only to its
//! definer and to accounts with the privilege for it; others get NULL.

use selkie_catalog::{ProgramContext, Routine, RoutineForm, quote_identifier};
use selkie_sql::ast::{RoutineKind, TableName};
use selkie_types::error::catalogue::{
    ER_EVENT_DOES_NOT_EXIST, ER_FEATURE_DISABLED, ER_SP_DOES_NOT_EXIST,
    ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_TRG_DOES_NOT_EXIST,
};
use selkie_types::{Privileges, SqlError, SqlMode, SqlResult, SqlType, Value};

use super::rows::{ShownRows, definition_type, text_type};
use crate::Session;
use crate::ddl::definer_clause;
use crate::event::EventTable;
use crate::query::execution::Scope;
use crate::state::control::Control;
use crate::state::session::{Access, Privilege};

/// `sql_mode` of a program.
fn mode_of(context: &ProgramContext) -> SqlMode {
    SqlMode::from_bits(context.sql_mode).unwrap_or_default()
}

fn context_columns() -> [(&'static str, SqlType); 3] {
    [
        ("character_set_client", text_type(32)),
        ("collation_connection", text_type(64)),
        ("Database Collation", text_type(64)),
    ]
}

fn context_values(context: &ProgramContext) -> [Value; 3] {
    [
        Value::bytes(&context.client_charset),
        Value::bytes(&context.connection_collation),
        Value::bytes(&context.database_collation),
    ]
}

/// Finds a routine that the account may see; error 1305 if there is none.
fn routine_of(
    Scope { instance, session }: Scope<'_>,
    kind: RoutineKind,
    name: &TableName,
) -> SqlResult<std::sync::Arc<Routine>> {
    let word = match kind {
        RoutineKind::Procedure => "PROCEDURE",
        RoutineKind::Function => "FUNCTION",
        RoutineKind::Package => "PACKAGE",
        RoutineKind::PackageBody => "PACKAGE BODY",
    };
    let schema = session.schema_of(name)?;
    let snapshot = instance.catalog.snapshot();
    let found = match kind {
        RoutineKind::Procedure => snapshot.routine(schema, false, &name.name.value),
        RoutineKind::Function => snapshot.routine(schema, true, &name.name.value),
        RoutineKind::Package => snapshot.routine_of(schema, RoutineForm::Package, &name.name.value),
        RoutineKind::PackageBody => {
            snapshot.routine_of(schema, RoutineForm::PackageBody, &name.name.value)
        }
    };
    let visible = found.filter(|r| {
        let hooks = &session.frame.hooks;
        let check = |p| hooks.check_routine(session, p, r.form(), &r.schema, &r.name).is_ok();
        definer_is(session, &r.context.definer)
            || check(Privilege::ShowRoutine)
            || check(Privilege::Any)
    });
    visible.cloned().ok_or_else(|| SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&word, &name.name.value]))
}

/// `SHOW CREATE PROCEDURE`, `SHOW CREATE FUNCTION`.
pub(super) fn create_routine(
    scope: Scope<'_>,
    kind: RoutineKind,
    name: &TableName,
) -> SqlResult<ShownRows> {
    let (session, found) = (scope.session, routine_of(scope, kind, name)?);
    // Compat: the name is shown as written in the statement.
    let routine = Routine { name: name.name.value.to_string(), ..(*found).clone() };
    let (first, second) = match routine.form() {
        RoutineForm::Function => ("Function", "Create Function"),
        RoutineForm::Procedure => ("Procedure", "Create Procedure"),
        RoutineForm::Package => ("Package", "Create Package"),
        RoutineForm::PackageBody => ("Package body", "Create Package Body"),
    };
    let hooks = &session.frame.hooks;
    let sees_body = definer_is(session, &routine.context.definer)
        || hooks
            .check_routine(
                session,
                Privilege::ShowRoutine,
                routine.form(),
                &routine.schema,
                &routine.name,
            )
            .is_ok();
    let text = sees_body.then(|| {
        let definer = definer_clause(&routine.context.definer);
        let mode = mode_of(&routine.context);
        let head = format!("{} {}", routine.created_as(), quote_identifier(&routine.name));
        let text = routine.definition();
        let rest = text.strip_prefix(&head).unwrap_or_default();
        let head = in_quotes_of(mode, format!("CREATE {definer} {head}"));
        Value::bytes(format!("{head}{rest}"))
    });
    let mut columns =
        vec![(first, text_type(64)), ("sql_mode", text_type(256)), (second, definition_type())];
    columns.extend(context_columns());
    let mut row = vec![
        Value::bytes(&routine.name),
        Value::bytes(mode_of(&routine.context).to_string()),
        text.unwrap_or_default(),
    ];
    row.extend(context_values(&routine.context));
    Ok(ShownRows { columns, rows: vec![row] })
}

/// Names in backticks as the mode of a program has them. Compat: with ANSI_QUOTES that is in double
/// quotes; a name with either quote in it stays as it is.
fn in_quotes_of(mode: SqlMode, names: String) -> String {
    let is_plain = !names.contains("``") && !names.contains('"');
    match mode.contains(SqlMode::ANSI_QUOTES) && is_plain {
        true => names.replace('`', "\""),
        false => names,
    }
}

fn definer_is(session: &Session, definer: &str) -> bool {
    *session.frame.account.account == *definer
}

/// `SHOW CREATE TRIGGER`.
pub(super) fn create_trigger(
    Scope { instance, session }: Scope<'_>,
    name: &TableName,
) -> SqlResult<ShownRows> {
    let schema = session.schema_of(name)?;
    let snapshot = instance.catalog.snapshot();
    let missing = || SqlError::new(&ER_TRG_DOES_NOT_EXIST, &[]);
    let trigger = snapshot.trigger(schema, &name.name.value).ok_or_else(missing)?;
    let denied = |_| SqlError::new(&ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&"TRIGGER"]);
    session
        .frame
        .hooks
        .check_needs(session, schema, &trigger.table, Privileges::TRIGGER)
        .map_err(denied)?;
    let definer = in_quotes_of(mode_of(&trigger.context), definer_clause(&trigger.context.definer));
    let mut columns = vec![
        ("Trigger", text_type(64)),
        ("sql_mode", text_type(256)),
        ("SQL Original Statement", definition_type()),
    ];
    columns.extend(context_columns());
    columns.push(("Created", SqlType::new(selkie_types::TypeKind::Timestamp, 22, 2)));
    let mut row = vec![
        Value::bytes(&trigger.name),
        Value::bytes(mode_of(&trigger.context).to_string()),
        Value::bytes(format!("CREATE {definer} {}", trigger.definition())),
    ];
    row.extend(context_values(&trigger.context));
    row.push(created(session, trigger.context.created));
    Ok(ShownRows { columns, rows: vec![row] })
}

/// `SHOW CREATE EVENT`.
pub(super) fn create_event(
    Scope { instance, session }: Scope<'_>,
    control: &Control,
    name: &TableName,
) -> SqlResult<ShownRows> {
    let schema = session.schema_of(name)?;
    let access = Access { privilege: Privilege::Event, schema, table: "", columns: &[] };
    session.frame.hooks.check_access(session, &access)?;
    let name = &*name.name.value;
    let found = EventTable::open(instance, control)?.find(instance, schema, name)?;
    let event = found.ok_or_else(|| SqlError::new(&ER_EVENT_DOES_NOT_EXIST, &[&name]))?;
    let head = format!(
        "CREATE {} EVENT {}",
        definer_clause(&event.context.definer),
        quote_identifier(&event.name)
    );
    // Compat: the quotes are those of the session, not of the event's mode.
    let head = in_quotes_of(session.frame.settings.expressions.sql_mode, head);
    let mut columns = vec![
        ("Event", text_type(64)),
        ("sql_mode", text_type(256)),
        ("time_zone", text_type(64)),
        ("Create Event", definition_type()),
    ];
    columns.extend(context_columns());
    let mut row = vec![
        Value::bytes(&event.name),
        Value::bytes(mode_of(&event.context).to_string()),
        Value::bytes(&event.zone),
        Value::bytes(format!("{head}{}", event.clauses()?)),
    ];
    row.extend(context_values(&event.context));
    Ok(ShownRows { columns, rows: vec![row] })
}

/// A time in the session's time zone, with hundredths of a second.
fn created(session: &Session, micros: i64) -> Value {
    let micros = micros - micros.rem_euclid(10_000);
    let time = selkie_types::DateTime::from_unix_micros(micros);
    time.map_or(Value::Null, |t| {
        Value::DateTime(session.frame.settings.expressions.time_zone.to_local(t))
    })
}

/// Error of SHOW PROCEDURE CODE, which only debug builds of MariaDB support.
pub(super) fn code() -> SqlError {
    SqlError::new(&ER_FEATURE_DISABLED, &[&"SHOW PROCEDURE|FUNCTION CODE", &"--with-debug"])
}
