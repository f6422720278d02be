//! The engine of a new table: lookup by name, and checks of its limits.
//!
//! Compat: limits are those of MariaDB's engine of that name, whatever stores the rows. Must not
//! compare engine names; it reads properties from personalities.

use selkie_catalog::ColumnInfo;
use selkie_engine::Personality;
use selkie_types::error::catalogue::{
    ER_CHECK_NOT_IMPLEMENTED, ER_OPTION_PREVENTS_STATEMENT, ER_TABLE_CANT_HANDLE_AUTO_INCREMENT,
    ER_TABLE_CANT_HANDLE_BLOB, ER_TOO_MANY_FIELDS, ER_UNKNOWN_STORAGE_ENGINE,
    ER_UNSUPPORTED_ENGINE_FOR_GENERATED_COLUMNS, ER_WARN_USING_OTHER_HANDLER,
};
use selkie_types::{Condition, SqlError, SqlMode, SqlResult};

use super::{DefineContext, record};

/// Maximum size of names, comments and members in a definition, in bytes.
const DEFINITION_MAX: usize = 65_535;

/// Fixed size of a definition in bytes; the second constant is the size per column.
const DEFINITION_HEAD: usize = 288;
const DEFINITION_COLUMN: usize = 17;

/// The engine with a name. An unknown name is an error, or means the default engine with a warning
/// if substitution is allowed.
pub(super) fn named(
    context: &DefineContext<'_>,
    wanted: Option<&str>,
    table: &str,
) -> SqlResult<&'static Personality> {
    let wanted = wanted.unwrap_or(context.default_engine);
    if let Some(engine) = context.engine(wanted) {
        return enforced(context, engine, table);
    }
    if context.sql_mode().contains(SqlMode::NO_ENGINE_SUBSTITUTION) {
        return Err(unknown(wanted));
    }
    let default = context.engine(context.default_engine).ok_or_else(|| unknown(wanted))?;
    context.eval.warn(&ER_UNKNOWN_STORAGE_ENGINE, &[&wanted]);
    context.eval.warn(&ER_WARN_USING_OTHER_HANDLER, &[&context.default_engine, &table]);
    Ok(default)
}

fn unknown(name: &str) -> SqlError {
    SqlError::new(&ER_UNKNOWN_STORAGE_ENGINE, &[&name])
}

/// The engine, or the one that `enforce_storage_engine` substitutes.
fn enforced(
    context: &DefineContext<'_>,
    engine: &'static Personality,
    table: &str,
) -> SqlResult<&'static Personality> {
    let Some(enforced) = context.enforced_engine.filter(|name| !engine.is_called(name)) else {
        return Ok(engine);
    };
    if context.sql_mode().contains(SqlMode::NO_ENGINE_SUBSTITUTION) {
        let option = "NO_ENGINE_SUBSTITUTION";
        return Err(SqlError::new(&ER_OPTION_PREVENTS_STATEMENT, &[&option]));
    }
    let note = Condition::note(&ER_WARN_USING_OTHER_HANDLER, &[&enforced, &table]);
    context.eval.push(note);
    context.engine(enforced).ok_or_else(|| unknown(enforced))
}

/// An error for columns that `engine` does not support.
pub(super) fn check_columns(engine: &Personality, columns: &[ColumnInfo]) -> SqlResult<()> {
    let (limits, engine) = (&engine.columns, engine.name);
    let computed = |c: &ColumnInfo| c.generated.is_some() && !c.system.is_bound();
    if !limits.generated && columns.iter().any(computed) {
        return Err(SqlError::new(&ER_UNSUPPORTED_ENGINE_FOR_GENERATED_COLUMNS, &[&engine]));
    }
    if !limits.blobs && columns.iter().any(|c| c.ty.geometry.is_some()) {
        return Err(SqlError::new(&ER_CHECK_NOT_IMPLEMENTED, &[&"GEOMETRY"]));
    }
    if !limits.blobs && columns.iter().any(|c| c.ty.is_text_or_blob()) {
        return Err(SqlError::new(&ER_TABLE_CANT_HANDLE_BLOB, &[&engine]));
    }
    if !limits.auto_increment && columns.iter().any(|c| c.auto_increment) {
        return Err(SqlError::new(&ER_TABLE_CANT_HANDLE_AUTO_INCREMENT, &[&engine]));
    }
    record::check(columns)
}

/// An error for nullable columns if `engine` does not support NULL.
pub(super) fn check_nulls(engine: &Personality, columns: &[ColumnInfo]) -> SqlResult<()> {
    if !engine.columns.nulls && columns.iter().any(|c| c.nullable) {
        return Err(SqlError::new(&ER_CHECK_NOT_IMPLEMENTED, &[&"nullable columns"]));
    }
    Ok(())
}

/// Compat: the total size of names, comments and members of all columns is limited.
pub(super) fn check_size(columns: &[ColumnInfo]) -> SqlResult<()> {
    let members = |c: &ColumnInfo| {
        let lengths = c.ty.members.iter().flat_map(|m| m.iter()).map(|m| m.len() + 1);
        lengths.sum::<usize>() + 2 * usize::from(c.ty.members.is_some())
    };
    let bytes =
        |c: &ColumnInfo| DEFINITION_COLUMN + c.name.len() + 1 + c.comment.len() + members(c);
    let total = DEFINITION_HEAD + 2 + columns.iter().map(bytes).sum::<usize>();
    if total > DEFINITION_MAX {
        return Err(SqlError::with_message(&ER_TOO_MANY_FIELDS, "Table definition is too large"));
    }
    Ok(())
}
