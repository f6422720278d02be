//! Values of rows that an error quotes. Compat: an account that may read no column of a table does
//! not learn which value has no partition there.

use selkie_sql::ast::{Statement, TableName, TableRef};
use selkie_types::error::catalogue::{
    ER_NO_PARTITION_FOR_GIVEN_VALUE, ER_NO_PARTITION_FOR_GIVEN_VALUE_SILENT,
};
use selkie_types::{Privileges, SqlError, SqlResult};

use crate::Outcome;
use crate::state::session::Session;

/// The result of a statement that began at the mark `begun`, without values that the account may
/// not see; nor are they in the conditions raised since.
pub(super) fn values(
    session: &Session,
    statement: &Statement,
    begun: u64,
    result: SqlResult<Outcome>,
) -> SqlResult<Outcome> {
    let quoting = &ER_NO_PARTITION_FOR_GIVEN_VALUE;
    let fails = result.as_ref().is_err_and(|error| error.is(quoting));
    if !fails && !session.diagnostics.has_code_since(begun, quoting.code) {
        return result;
    }
    let Some(name) = target(statement) else { return result };
    let Ok(schema) = session.schema_of(name) else { return result };
    let hooks = &session.frame.hooks;
    if hooks.check_needs(session, schema, &name.name.value, Privileges::SELECT).is_ok() {
        return result;
    }
    let text = ER_NO_PARTITION_FOR_GIVEN_VALUE_SILENT.text;
    session.diagnostics.reword_since(begun, quoting.code, text);
    match fails {
        true => Err(SqlError::with_message(quoting, text.to_owned())),
        false => result,
    }
}

/// The one table that a statement fills.
fn target(statement: &Statement) -> Option<&TableName> {
    match statement {
        Statement::Insert(insert) => Some(&insert.table),
        Statement::LoadData(load) => Some(&load.table),
        Statement::AlterTable(alter) => Some(&alter.table),
        Statement::Update(update) => match &update.tables[..] {
            [TableRef::Table(table)] => Some(&table.name),
            _ => None,
        },
        _ => None,
    }
}
