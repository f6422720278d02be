//! SHOW CREATE SEQUENCE. The definition comes from the sequence's row, which ALTER SEQUENCE
//! changes; the catalog does not have it.

use selkie_catalog::{TableKind, quote_identifier};
use selkie_sql::ast::TableName;
use selkie_types::error::catalogue::{ER_NOT_SEQUENCE, ER_TABLEACCESS_DENIED_ERROR};
use selkie_types::{SqlError, SqlResult, Value, quote_string};

use super::rows::{ShownRows, definition_type, locked_table, text_type};
use crate::query::execution::Scope;
use crate::run::sequence;
use crate::state::control::Control;
use crate::state::session::{Access, Privilege};

pub(super) fn create(
    scope: Scope<'_>,
    control: &Control,
    name: &TableName,
) -> SqlResult<ShownRows> {
    let Scope { instance, session } = scope;
    let table = locked_table(scope, name)?;
    let (schema, name) = (table.schema(), table.name());
    if table.kind != TableKind::Temporary {
        let access = Access { privilege: Privilege::Any, schema, table: name, columns: &[] };
        if session.frame.hooks.check_access(session, &access).is_err() {
            let account = &session.frame.account;
            let arguments: [&dyn std::fmt::Display; 5] =
                [&"SHOW", &account.user, &account.host, &schema, &name];
            return Err(SqlError::new(&ER_TABLEACCESS_DENIED_ERROR, &arguments));
        }
    }
    if !table.is_sequence() {
        return Err(SqlError::new(&ER_NOT_SEQUENCE, &[&schema, &name]));
    }
    let def = sequence::read_row(instance, session, control, &table)?;
    let mut statement = def.show(&quote_identifier(name));
    statement.push_str(&format!(" ENGINE={}", table.engine.name));
    if !table.options.comment.is_empty() {
        statement.push_str(&format!(" COMMENT={}", quote_string(&table.options.comment)));
    }
    Ok(ShownRows {
        columns: vec![("Table", text_type(64)), ("Create Table", definition_type())],
        rows: vec![vec![Value::bytes(name), Value::bytes(statement)]],
    })
}
