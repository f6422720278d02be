//! Accounts and grants in the tables of the `mysql` database, in MariaDB's format.
//!
//! Must not decide about privileges. A change is written in one transaction, so that it happens
//! completely or not at all.

mod definitions;
mod read;
mod write;

use std::sync::Arc;

use parking_lot::Mutex;
use selkie_exec::session::{Account, Session, SessionHooks};
use selkie_exec::{Instance, Outcome, ResultSink, execute_text};
use selkie_expr::VariableScope;
use selkie_plan::physical::OutputColumn;
use selkie_types::{Batch, SqlResult, Value};

use crate::accounts::{Acl, AclStore, Persist};
use crate::variables::{VarValue, lookup, startup_values};

/// The privilege tables, and an internal session that reads and writes them.
pub(super) struct AccountTables {
    instance: Arc<Instance>,
    session: Mutex<Session>,
}

impl AccountTables {
    /// Creates the missing tables in the schema `mysql`, which exists.
    pub(super) fn open(instance: &Arc<Instance>) -> SqlResult<Self> {
        let hooks = Unattended::new();
        let session = Session::new(0, Account::default(), Arc::new(hooks));
        let this = Self { instance: Arc::clone(instance), session: Mutex::new(session) };
        let snapshot = instance.catalog.snapshot();
        let is_missing = |name: &str| snapshot.table("mysql", name).is_none();
        for (_, text) in definitions::tables().filter(|(name, _)| is_missing(name)) {
            this.run(text)?;
        }
        if is_missing(definitions::VIEW) {
            this.run(&definitions::view())?;
        }
        Ok(this)
    }

    /// Loads the accounts into `store`, and makes `store` save its later changes here. A new
    /// database gets the accounts that the store already has.
    pub(super) fn attach(self, store: &Arc<AclStore>) -> SqlResult<()> {
        let loaded = self.load()?;
        if loaded.accounts().next().is_none() {
            self.replace(&Acl::default(), &store.current())?;
        } else {
            store.reload(loaded);
        }
        store.attach(Arc::new(self));
        Ok(())
    }

    fn run(&self, text: &str) -> SqlResult<Outcome> {
        self.run_into(text, &mut selkie_exec::NullSink)
    }

    fn run_into(&self, text: &str, sink: &mut dyn ResultSink) -> SqlResult<Outcome> {
        let mut session = self.session.lock();
        execute_text(&self.instance, &mut session, text.as_bytes(), sink)
    }

    /// All rows of a query, each value as text.
    fn rows(&self, text: &str) -> SqlResult<Vec<Vec<String>>> {
        let mut sink = TextRows::default();
        self.run_into(text, &mut sink)?;
        Ok(sink.rows)
    }
}

impl Persist for AccountTables {
    fn replace(&self, old: &Acl, new: &Acl) -> SqlResult<()> {
        let statements = write::statements(old, new);
        if statements.is_empty() {
            return Ok(());
        }
        self.run("START TRANSACTION")?;
        for text in &statements {
            if let Err(error) = self.run(text) {
                self.run("ROLLBACK")?;
                return Err(error);
            }
        }
        self.run("COMMIT").map(|_| ())
    }

    fn load(&self) -> SqlResult<Acl> {
        AccountTables::load(self)
    }
}

/// Hooks of an internal session: no privileges, MariaDB's defaults for variables.
pub(super) struct Unattended {
    values: Vec<VarValue>,
}

impl Unattended {
    pub(super) fn new() -> Self {
        Self { values: startup_values() }
    }
}

impl SessionHooks for Unattended {
    fn variable(&self, _: &Session, _: VariableScope, name: &str) -> SqlResult<Value> {
        let def = lookup(name)?;
        let value = self.values.get(usize::from(def.id.0)).cloned().unwrap_or(VarValue::null());
        Ok(value.select(def).0)
    }
}

/// Collects rows as text.
#[derive(Default)]
struct TextRows {
    types: Vec<selkie_types::SqlType>,
    rows: Vec<Vec<String>>,
}

impl ResultSink for TextRows {
    fn columns(&mut self, columns: &[OutputColumn]) -> SqlResult<()> {
        self.types = columns.iter().map(|c| c.ty.clone()).collect();
        Ok(())
    }

    fn batch(&mut self, batch: &Batch) -> SqlResult<()> {
        for row in 0..batch.rows() {
            let values = self.types.iter().enumerate().map(|(at, ty)| {
                let mut text = Vec::new();
                let value: Value = batch.value(at, row);
                selkie_types::write_value(ty, &value, &mut text);
                String::from_utf8_lossy(&text).into_owned()
            });
            self.rows.push(values.collect());
        }
        Ok(())
    }
}
