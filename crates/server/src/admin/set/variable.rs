//! Assignment of one system variable: privileges, the value, and the variables that change with it.
//!
//! Must not know the meaning of a variable; `combination` has the checks that need it.

use std::sync::LazyLock;

use selkie_types::error::catalogue::*;
use selkie_types::temporal::{DateOptions, DateTime};
use selkie_types::{Charset, CollationId, Condition, Level, SqlError, SqlResult, Value};

use super::super::answer::Notes;
use super::{Target, combination};
use crate::accounts::Privileges;
use crate::binlog;
use crate::events;
use crate::replica;
use crate::session::Shared;
use crate::variables::{
    Access, Before, Kind, Link, Rule, Scope, SetValue, VarDef, VarId, VarScope, VarValue,
    assign as convert, ids, lookup, moment, registry,
};

/// A variable and its new value.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    def: &'static VarDef,
    scope: VarScope,
    value: VarValue,
    /// Name of the key cache or of the connection to a primary whose variable it is; `None` for
    /// the default one.
    instance: Option<String>,
}

impl Assignment {
    /// The value, if it is for the session's variable `name`.
    pub(super) fn of_session(&self, name: &str) -> Option<&VarValue> {
        let is_it = self.scope != VarScope::Global && self.def.name == name;
        is_it.then_some(&self.value)
    }
}

/// Checks an assignment, in the order of MariaDB's checks.
pub(super) fn check(
    shared: &Shared,
    scope: VarScope,
    instance: Option<&str>,
    name: &str,
    given: SetValue,
    notes: &mut Notes,
) -> SqlResult<Assignment> {
    let def = lookup(name)?;
    let instance = instance.filter(|i| !i.eq_ignore_ascii_case("default"));
    let is_of_connection = replica::is_of_connection(def.name);
    if instance.is_some() && !def.component && !is_of_connection {
        return Err(SqlError::new(&ER_VARIABLE_IS_NOT_STRUCT, &[&def.name]));
    }
    note_deprecated(def, notes);
    check_scope(def, scope)?;
    if scope == VarScope::Global {
        shared.access.lock().check_global(def.global_privileges)?;
    }
    let value = match &given {
        SetValue::Default => default_of(shared, def, scope)?,
        SetValue::Value(given) => given_value(shared, def, scope, given, notes)?,
    };
    if scope != VarScope::Global && def.follows {
        return Err(SqlError::new(&ER_VARIABLE_IS_READONLY, &[&"SESSION", &def.name, &"GLOBAL"]));
    }
    if scope == VarScope::Global && def.own_only {
        let what = "SESSION";
        return Err(SqlError::new(&ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&def.name, &what]));
    }
    replica::check_variable(shared, def, instance, &value, notes)?;
    if instance.is_none() {
        combination::check(shared, def, scope, &value, &given, notes)?;
    }
    Ok(Assignment { def, scope, value, instance: instance.map(str::to_owned) })
}

fn note_deprecated(def: &VarDef, notes: &mut Notes) {
    let Some(deprecated) = def.deprecated else { return };
    let name = format!("@@{}", def.name);
    let text = match deprecated.instead {
        Some(instead) => {
            SqlError::new(&ER_WARN_DEPRECATED_SYNTAX, &[&name, &format!("'@@{instead}'")])
        }
        // Compat: this text has the error number of the message with a replacement.
        None => {
            let text = SqlError::new(&ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, &[&name]);
            SqlError::with_message(&ER_WARN_DEPRECATED_SYNTAX, text.message())
        }
    };
    notes.push(Condition::from_error(Level::Warning, &text));
}

/// Fails unless the variable may be set in this scope.
fn check_scope(def: &VarDef, scope: VarScope) -> SqlResult<()> {
    let other = |what: &'static str| {
        Err(SqlError::new(&ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&def.name, &what]))
    };
    match (scope, def.scope) {
        _ if def.access == Access::ReadOnly => other("read only"),
        (VarScope::Global, Scope::SessionOnly) => {
            Err(SqlError::new(&ER_LOCAL_VARIABLE, &[&def.name]))
        }
        (VarScope::Session | VarScope::Default, Scope::Global) => {
            Err(SqlError::new(&ER_GLOBAL_VARIABLE, &[&def.name]))
        }
        _ => Ok(()),
    }
}

fn given_value(
    shared: &Shared,
    def: &VarDef,
    scope: VarScope,
    given: &Value,
    notes: &mut Notes,
) -> SqlResult<VarValue> {
    let current = current(shared, def, scope);
    let default = initial(shared, def, scope);
    let mode = shared.var(ids().sql_mode).as_u64();
    let empty_is_null = mode & selkie_types::SqlMode::EMPTY_STRING_IS_NULL.bits() != 0;
    // Compat: a set may be given as NULL then, or nobody could leave the mode by `''`.
    let empty = Value::bytes("");
    let given = match given.is_null() && matches!(def.kind, Kind::Set) && empty_is_null {
        true => &empty,
        false => given,
    };
    let assigned = convert(def, given, Before { current: &current, default: &default })?;
    if !assigned.warnings.is_empty() {
        refuse_if_strict(shared, def, given)?;
        notes.extend(assigned.warnings);
    }
    if scope != VarScope::Global && !def.own_privileges.is_empty() {
        shared.access.lock().check_global(def.own_privileges)?;
    }
    if def.rule == Some(Rule::AsOf) {
        notes.extend(cut_fraction(given));
    }
    let zone = shared.var(ids().time_zone);
    let kept = moment::kept(def, assigned.value, zone.as_str());
    // The error shows the value as it was given.
    kept.map_err(|error| match given {
        Value::Bytes(text) => {
            let text = String::from_utf8_lossy(text);
            SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&def.name, &text])
        }
        _ => error,
    })
}

/// The note that a text has more digits of a second than a time keeps.
fn cut_fraction(given: &Value) -> Option<Condition> {
    let Value::Bytes(text) = given else { return None };
    let cut = DateTime::parse(text, DateOptions::REAL).fraction_cut;
    let text = String::from_utf8_lossy(text);
    cut.then(|| Condition::note(&ER_TRUNCATED_WRONG_VALUE, &[&"datetime", &text]))
}

fn current(shared: &Shared, def: &VarDef, scope: VarScope) -> VarValue {
    match scope {
        VarScope::Global => shared.server.globals.get(def.id),
        _ => shared.var(def.id),
    }
}

/// Compat: with STRICT_ALL_TABLES a value out of range is an error.
fn refuse_if_strict(shared: &Shared, def: &VarDef, given: &Value) -> SqlResult<()> {
    let mode = shared.var(ids().sql_mode).as_u64();
    if mode & selkie_types::SqlMode::STRICT_ALL_TABLES.bits() == 0 {
        return Ok(());
    }
    let shown = match given {
        Value::Int(v) => v.to_string(),
        Value::UInt(v) => v.to_string(),
        Value::Double(v) => v.to_string(),
        Value::Decimal(v) => v.to_i64_clamped().0.to_string(),
        _ => String::new(),
    };
    Err(SqlError::new(&ER_WRONG_VALUE_FOR_VAR, &[&def.name, &shown]))
}

fn default_of(shared: &Shared, def: &VarDef, scope: VarScope) -> SqlResult<VarValue> {
    if def.no_default {
        return Err(SqlError::new(&ER_NO_DEFAULT, &[&def.name]));
    }
    // Compat: DEFAULT needs SUPER only; it ignores the other privileges a session's value may need.
    if scope != VarScope::Global && def.own_privileges == Privileges::SUPER {
        shared.access.lock().check_global(Privileges::SUPER)?;
    }
    Ok(initial(shared, def, scope))
}

/// The default of a variable: for a session, the server's value.
fn initial(shared: &Shared, def: &VarDef, scope: VarScope) -> VarValue {
    match scope {
        VarScope::Global => shared.server.globals.default_of(def.id),
        // Compat: a session does not go back to the time of all sessions.
        _ if def.rule == Some(Rule::AsOf) => shared.server.globals.default_of(def.id),
        _ => shared.server.globals.get(def.id),
    }
}

/// Makes the assignment.
pub(super) fn assign(
    shared: &Shared,
    assignment: Assignment,
    notes: &mut Notes,
) -> SqlResult<Target> {
    let Assignment { def, scope, value, instance } = assignment;
    let value = if def.momentary { VarValue::Bool(false) } else { value };
    // Names of connections are the same in any case, those of key caches are not.
    let connection = instance.as_deref().map(str::to_lowercase);
    if replica::assign_variable(shared, def, connection.as_deref(), &value, notes)? {
        return Ok(Target::Other);
    }
    if let Some(cache) = instance.filter(|_| def.component) {
        shared.server.key_caches.set(&cache, def, value);
        return Ok(Target::Other);
    }
    let value = match scope {
        VarScope::Global => {
            let value = binlog::apply(&shared.server, def, combination::raised(def, value))?;
            events::assign_variable(shared, def, &value)?;
            take_effect(shared, def, value, notes)
        }
        _ => value,
    };
    for (id, value) in linked(shared, def, scope, &value) {
        put(shared, id, scope, value);
    }
    put(shared, def.id, scope, value.clone());
    match scope {
        VarScope::Global => {
            shared.server.variable_changed(def.id);
            if combination::is_own_at_once(def, &value) {
                shared.set_var(def.id, value);
            }
            Ok(Target::Other)
        }
        _ => Ok(Target::Session(def.name, value)),
    }
}

fn put(shared: &Shared, id: VarId, scope: VarScope, value: VarValue) {
    match scope {
        VarScope::Global => shared.server.globals.set(id, value),
        _ => shared.set_var(id, value),
    }
}

/// Passes a number to the engines. If an engine accepts less, the value it accepted is stored, and
/// a warning is added.
fn take_effect(shared: &Shared, def: &VarDef, value: VarValue, notes: &mut Notes) -> VarValue {
    let wanted = match value {
        VarValue::Uint(wanted) => wanted,
        VarValue::Bool(on) if def.id == ids().userstat => {
            shared.server.sessions.users.switch(on);
            shared.server.backend.set_variable(def.name, on.into());
            return value;
        }
        _ => return value,
    };
    let got = shared.server.backend.set_variable(def.name, wanted);
    if def.name == "query_cache_size" && got < wanted {
        let sizes: [&dyn std::fmt::Display; 2] = [&wanted, &got];
        notes.push(Condition::warning(&ER_WARN_QC_RESIZE, &sizes));
    } else if got != wanted {
        notes.push(Condition::warning(
            &ER_TRUNCATED_WRONG_VALUE,
            &[&def.name, &wanted as &dyn std::fmt::Display],
        ));
    }
    VarValue::Uint(got)
}

/// Values of other variables that change with this one: aliases, and other views of the same
/// setting.
fn linked(
    shared: &Shared,
    def: &VarDef,
    scope: VarScope,
    value: &VarValue,
) -> Vec<(VarId, VarValue)> {
    let mut all: Vec<_> = links_of(def)
        .into_iter()
        .map(|(other, link)| (other.id, linked_value(shared, other, scope, value, link)))
        .collect();
    all.extend(charset_side(def).zip(side_value(def, value)));
    all.extend(combination::implied(shared, def, scope, value));
    all
}

/// All variables that may change with this one.
pub(crate) fn linked_to(def: &VarDef) -> Vec<VarId> {
    let mut all: Vec<VarId> = links_of(def).into_iter().map(|(other, _)| other.id).collect();
    all.extend(charset_side(def));
    all.extend(combination::implied_by(def));
    all
}

/// The variables that are a member of a set.
static MEMBERS: LazyLock<Vec<&'static VarDef>> = LazyLock::new(|| {
    let all = registry().all().iter();
    all.filter(|def| matches!(def.link, Some(Link::Member { .. }))).collect()
});

/// Relation of a dependent variable to the one that changes.
#[derive(Copy, Clone, Debug)]
enum Follows {
    /// It gets the same value.
    Same,
    /// It is a set that gains or loses a member.
    Member(u64, bool),
    /// It is true if the set contains a member.
    Presence(u64, bool),
}

/// The variables that depend on this one.
fn links_of(def: &VarDef) -> Vec<(&'static VarDef, Follows)> {
    let bit_of = |set: &VarDef, name: &str| {
        set.names.iter().position(|n| *n == name).map_or(0, |at| 1u64 << at)
    };
    let mut all = Vec::new();
    match def.link {
        Some(Link::Twin(other)) => {
            all.extend(registry().find(other).map(|d| (d, Follows::Same)));
        }
        Some(Link::Member { set, name, on }) => {
            all.extend(registry().find(set).map(|d| (d, Follows::Member(bit_of(d, name), on))));
        }
        None => {}
    }
    for other in MEMBERS.iter().filter(|_| def.kind == Kind::Set) {
        if let Some(Link::Member { set, name, on }) = other.link
            && set == def.name
        {
            all.push((*other, Follows::Presence(bit_of(def, name), on)));
        }
    }
    all
}

fn linked_value(
    shared: &Shared,
    other: &VarDef,
    scope: VarScope,
    value: &VarValue,
    link: Follows,
) -> VarValue {
    match link {
        Follows::Same => value.clone(),
        Follows::Member(bit, on) => {
            let bits = current(shared, other, scope).as_u64();
            VarValue::Uint(if value.as_bool() == on { bits | bit } else { bits & !bit })
        }
        Follows::Presence(bit, on) => VarValue::Bool((value.as_u64() & bit != 0) == on),
    }
}

/// The other variable of a pair of character set and collation: each determines the other.
fn charset_side(def: &VarDef) -> Option<VarId> {
    let ids = ids();
    Some(match def.name {
        "collation_connection" => ids.character_set_connection,
        "collation_server" => ids.character_set_server,
        "collation_database" => ids.character_set_database,
        "character_set_connection" => ids.collation_connection,
        "character_set_server" => ids.collation_server,
        "character_set_database" => ids.collation_database,
        _ => return None,
    })
}

fn side_value(def: &VarDef, value: &VarValue) -> Option<VarValue> {
    let name = value.as_str();
    let other = match def.rule {
        Some(Rule::Collation) => CollationId::from_name(name)?.charset().name(),
        _ => Charset::from_name(name)?.default_collation().name(),
    };
    Some(VarValue::text(other))
}
