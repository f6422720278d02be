//! TRUNCATE of the tables of `performance_schema`, which their owner empties or refuses.
//! [`crate::dml`] makes their other changes; nothing here may change a row.

use selkie_sql::ast::{Statement, TableName};
use selkie_types::{Privileges, SqlResult};

use crate::query::execution::Execution;
use crate::state::computed::Change;
use crate::{Outcome, Session};

const SCHEMA: &str = "performance_schema";

/// The table that a statement of this file empties.
pub(super) fn emptied<'s>(session: &Session, statement: &'s Statement) -> Option<&'s TableName> {
    let Statement::Truncate { table, .. } = statement else { return None };
    let schema = table.schema.as_ref().map(|s| &*s.value).or(session.frame.schema.as_deref());
    (schema == Some(SCHEMA)).then_some(table)
}

/// Empties a table.
pub(super) fn truncate(execution: &mut Execution<'_>, name: &TableName) -> SqlResult<Outcome> {
    let hooks = execution.session.frame.hooks.clone();
    hooks.check_needs(execution.session, SCHEMA, &name.name.value, Privileges::DROP)?;
    let table = execution.scope().table(SCHEMA, &name.name.value)?;
    execution.session.commit()?;
    hooks.change_computed(execution.session, table.name(), Change::Truncate)?;
    Ok(Outcome::ok())
}
