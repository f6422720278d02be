//! Current values: one set for the server, and the differences of each session.
//!
//! Must not validate. Sessions share the server's set as it was at their start, and store only the
//! values they have changed: a copy would be most of the memory of an idle connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use super::assign::parse_option;
use super::def::{Kind, Scope, VarDef, VarId};
use super::registry::registry;
use super::value::VarValue;
use selkie_types::error::catalogue::*;
use selkie_types::{SqlError, SqlResult};

/// Scope named in a statement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum VarScope {
    /// `@@global.` or SET GLOBAL.
    Global,
    /// `@@session.`, `@@local.` or SET SESSION.
    Session,
    /// No scope.
    Default,
}

type Values = Arc<Vec<VarValue>>;

/// The server's values.
#[derive(Debug)]
pub struct Globals {
    current: RwLock<Values>,
    startup: Values,
    version: AtomicU64,
}

impl Globals {
    /// The values at start; `startup` are also the values of DEFAULT for texts.
    pub fn new(startup: Vec<VarValue>) -> Self {
        let startup = Arc::new(startup);
        Self { current: RwLock::new(Arc::clone(&startup)), startup, version: AtomicU64::new(1) }
    }

    /// The value of a variable.
    pub fn get(&self, id: VarId) -> VarValue {
        self.current.read()[usize::from(id.0)].clone()
    }

    /// The value that `SET GLOBAL ... = DEFAULT` stores. Compat: texts return to their value at the
    /// start. Other values return to MariaDB's built-in default, whatever the options were.
    pub fn default_of(&self, id: VarId) -> VarValue {
        let def = registry().def(id);
        let built_in = def.default.filter(|_| def.kind != Kind::Text);
        match built_in.map(|text| parse_option(def, text)) {
            Some(Ok((value, _))) => value,
            _ => self.startup[usize::from(id.0)].clone(),
        }
    }

    /// The value a variable had when the server was started.
    pub fn at_start(&self, id: VarId) -> VarValue {
        self.startup[usize::from(id.0)].clone()
    }

    /// Stores a value.
    pub fn set(&self, id: VarId, value: VarValue) {
        let mut current = self.current.write();
        Arc::make_mut(&mut current)[usize::from(id.0)] = value;
        self.version.fetch_add(1, Ordering::Release);
    }

    /// A number that changes with every change of a value.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// All values.
    pub fn snapshot(&self) -> Arc<Vec<VarValue>> {
        Arc::clone(&self.current.read())
    }
}

/// A session's values.
#[derive(Clone, Debug)]
pub struct SessionVars {
    inherited: Values,
    /// Values set since the session's start, sorted by identity.
    own: Vec<(VarId, VarValue)>,
}

impl SessionVars {
    /// The values of a session that starts now.
    pub fn new(globals: &Globals) -> Self {
        let mut vars = Self { inherited: globals.snapshot(), own: Vec::new() };
        let ids = super::ids();
        if vars.get(ids.max_join_size).as_u64() != u64::MAX {
            // Compat: a limit switches SQL_BIG_SELECTS off.
            vars.set(ids.sql_big_selects, VarValue::Bool(false));
        }
        vars
    }

    /// The session's value of a variable with a session scope.
    pub fn get(&self, id: VarId) -> &VarValue {
        match self.place(id) {
            Ok(at) => &self.own[at].1,
            Err(_) => &self.inherited[usize::from(id.0)],
        }
    }

    /// The server's values at the session's start, by identity.
    pub(crate) fn inherited(&self) -> &Arc<Vec<VarValue>> {
        &self.inherited
    }

    /// The values set since then, sorted by identity.
    pub(crate) fn own(&self) -> &[(VarId, VarValue)] {
        &self.own
    }

    fn place(&self, id: VarId) -> Result<usize, usize> {
        self.own.binary_search_by_key(&id.0, |(own, _)| own.0)
    }

    /// Stores a value for this session.
    pub fn set(&mut self, id: VarId, value: VarValue) {
        match self.place(id) {
            Ok(at) => self.own[at].1 = value,
            Err(at) => self.own.insert(at, (id, value)),
        }
    }

    /// The value `SELECT @@scope.name` reads.
    pub fn read(&self, globals: &Globals, scope: VarScope, def: &VarDef) -> SqlResult<VarValue> {
        match (scope, def.scope) {
            (VarScope::Global, Scope::SessionOnly) => Err(of_other_scope(def, "SESSION")),
            (VarScope::Session, Scope::Global) => Err(of_other_scope(def, "GLOBAL")),
            (VarScope::Global, _) | (_, Scope::Global) => Ok(globals.get(def.id)),
            _ => Ok(self.get(def.id).clone()),
        }
    }
}

/// Compat: reading in the wrong scope gives the error about assigning.
fn of_other_scope(def: &VarDef, what: &'static str) -> SqlError {
    SqlError::new(&ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&def.name, &what])
}

/// The definition of a variable named in a statement; fails (1193) if there is none.
pub(crate) fn lookup(name: &str) -> SqlResult<&'static VarDef> {
    registry().find(name).ok_or_else(|| SqlError::new(&ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))
}
