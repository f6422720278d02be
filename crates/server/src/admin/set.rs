//! SET: all assignments are checked one by one, then made one by one.
//!
//! Must not evaluate expressions: values come evaluated. [`Target`] tells the session which of its
//! variables have changed.

mod binlog;
mod charset;
mod combination;
mod variable;

use selkie_sql::ast::{SetItem, VarScope as Said};
use selkie_types::{SqlError, SqlResult};

use super::answer::Notes;
use super::{accounts, roles};
use crate::accounts::Privileges;
use crate::session::Shared;
use crate::variables::{SetValue, VarScope, VarValue, ids};

pub(crate) use binlog::parsed;
pub(crate) use variable::{Assignment, linked_to};

/// Target of an assignment that was made, for the session to follow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// A session variable has this value now.
    Session(&'static str, VarValue),
    /// Not a variable of this session.
    Other,
}

/// An assignment that passed its check.
#[derive(Debug)]
pub(crate) enum Checked {
    /// A system variable gets a value.
    Variable(Assignment),
    /// Anything else that SET does; it is checked when it is done.
    Other,
}

impl Checked {
    /// The number that the session's `binlog_format` gets.
    pub(crate) fn format_of_session(&self) -> Option<u64> {
        match self {
            Self::Variable(assignment) => assignment.of_session("binlog_format"),
            Self::Other => None,
        }
        .map(VarValue::as_u64)
    }
}

/// Checks one assignment.
pub(crate) fn check_item(
    shared: &Shared,
    item: &SetItem,
    value: Option<SetValue>,
    notes: &mut Notes,
) -> SqlResult<Checked> {
    match item {
        SetItem::SystemVar { scope, instance, name, .. } => {
            let instance = instance.as_ref().map(|i| &*i.value);
            let value = value.unwrap_or(SetValue::Default);
            let scope = scope_of(*scope);
            variable::check(shared, scope, instance, &name.value, value, notes)
                .map(Checked::Variable)
        }
        _ => Ok(Checked::Other),
    }
}

/// Checks one assignment inside of a function or trigger.
pub(crate) fn check_item_inside_function(
    shared: &Shared,
    item: &SetItem,
    value: Option<SetValue>,
    notes: &mut Notes,
) -> SqlResult<Checked> {
    let checked = check_item(shared, item, value, notes);
    match item {
        SetItem::SystemVar { scope, name, .. } if scope_of(*scope) != VarScope::Global => {
            binlog::inside_function(&name.value.to_ascii_lowercase(), checked)
        }
        _ => checked,
    }
}

/// Makes a checked assignment.
pub(crate) fn set_item(
    shared: &Shared,
    item: &SetItem,
    checked: Checked,
    notes: &mut Notes,
) -> SqlResult<Target> {
    if let Checked::Variable(assignment) = checked {
        return variable::assign(shared, assignment, notes);
    }
    match item {
        SetItem::Names { charset, collation } => {
            charset::set_names(shared, charset.as_deref(), collation.as_deref())?;
        }
        SetItem::CharacterSet(charset) => {
            charset::set_character_set(shared, charset.as_deref())?;
        }
        SetItem::Password { account, password } => {
            accounts::set_password(shared, account.as_ref(), password)?;
        }
        SetItem::Role(role) => roles::set_role(shared, role.as_deref())?,
        SetItem::DefaultRole { role, account } => {
            roles::set_default_role(shared, role.as_ref(), account.as_ref())?;
        }
        SetItem::Transaction { scope, isolation, read_only } => {
            set_transaction(shared, scope_of(*scope), *isolation, *read_only)?;
        }
        SetItem::SystemVar { .. } | SetItem::UserVar { .. } | SetItem::Local { .. } => {
            return Err(SqlError::internal("an assignment that was not checked"));
        }
    }
    Ok(Target::Other)
}

fn scope_of(said: Option<Said>) -> VarScope {
    match said {
        Some(Said::Global) => VarScope::Global,
        Some(Said::Session) => VarScope::Session,
        None => VarScope::Default,
    }
}

/// SET GLOBAL or SESSION TRANSACTION. Settings for only the next transaction belong to the session.
fn set_transaction(
    shared: &Shared,
    scope: VarScope,
    isolation: Option<selkie_sql::ast::IsolationLevel>,
    read_only: Option<bool>,
) -> SqlResult<()> {
    if scope == VarScope::Global {
        shared.access.lock().check_global(Privileges::SUPER)?;
    }
    let put = |id, value| match scope {
        VarScope::Global => shared.server.globals.set(id, value),
        _ => shared.set_var(id, value),
    };
    if let Some(level) = isolation {
        put(ids().tx_isolation, VarValue::Enum(level as u16));
    }
    if let Some(read_only) = read_only {
        put(ids().tx_read_only, VarValue::Bool(read_only));
    }
    Ok(())
}
