//! CREATE, ALTER and DROP of servers: rows of `mysql.servers`. No engine reads them.
//!
//! Compat: the statements are not logged, and no transaction undoes them.

use selkie_engine::LockMode as RowLock;
use selkie_sql::ast::{DefineServer, DropStored, ServerAction, ServerOptions};
use selkie_types::error::catalogue::{
    ER_CANNOT_LOAD_FROM_TABLE_V2, ER_CANT_CREATE_FEDERATED_TABLE, ER_DATA_OUT_OF_RANGE,
    ER_FOREIGN_SERVER_DOESNT_EXIST, ER_FOREIGN_SERVER_EXISTS,
};
use selkie_types::{Condition, SqlError, SqlResult, TypeKind, Value};

use super::Ddl;
use crate::Outcome;
use crate::state::metadata::LockMode;
use crate::state::own_table::{OwnShape, OwnTable};
use crate::state::own_transaction::{begin_in, commit_now};
use crate::state::session::{Access, Privilege};

const TABLE: (&str, &str) = ("mysql", "servers");

const SHAPE: OwnShape = OwnShape { name: TABLE.1, columns: &COLUMNS, kinds: &KINDS, key: &[0] };

const COLUMNS: [&str; 9] =
    ["Server_name", "Host", "Db", "Username", "Password", "Port", "Socket", "Wrapper", "Owner"];

const KINDS: [TypeKind; 9] = [
    TypeKind::Char,
    TypeKind::VarChar,
    TypeKind::Char,
    TypeKind::Char,
    TypeKind::Char,
    TypeKind::Int,
    TypeKind::Char,
    TypeKind::Char,
    TypeKind::VarChar,
];

/// Position of the port among the columns.
const PORT: usize = 5;

/// Position of the wrapper among the columns.
const WRAPPER: usize = 7;

impl Ddl<'_> {
    pub(super) fn define_server(&mut self, define: &DefineServer) -> SqlResult<Outcome> {
        self.begin_server_statement()?;
        if define.options.port.is_some_and(|port| i32::try_from(port).is_err()) {
            return Err(SqlError::new(&ER_DATA_OUT_OF_RANGE, &[&"port", &"INT"]));
        }
        let _lock = self.lock_as(TABLE.0, TABLE.1, LockMode::Write)?;
        let table = self.servers()?;
        let name = fitted(&table, 0, &define.name);
        let old = find(self.instance, &table, &name)?;
        match (&define.action, old) {
            (ServerAction::Alter, None) => {
                Err(SqlError::new(&ER_FOREIGN_SERVER_DOESNT_EXIST, &[&define.name]))
            }
            (ServerAction::Alter, Some(row)) => {
                self.store(&table, changed(&table, row, &define.options))?;
                Ok(Outcome::changed(1))
            }
            (ServerAction::Create { if_not_exists, or_replace: false, .. }, Some(_)) => {
                if !if_not_exists {
                    return Err(SqlError::new(&ER_FOREIGN_SERVER_EXISTS, &[&define.name]));
                }
                self.note(Condition::note(&ER_FOREIGN_SERVER_EXISTS, &[&define.name]));
                Ok(Outcome::ok())
            }
            (ServerAction::Create { wrapper, .. }, _) => {
                let row = created(&table, name, wrapper, &define.options)?;
                self.store(&table, row)?;
                Ok(Outcome::ok())
            }
        }
    }

    pub(super) fn drop_server(&mut self, drop: &DropStored) -> SqlResult<Outcome> {
        self.begin_server_statement()?;
        let _lock = self.lock_as(TABLE.0, TABLE.1, LockMode::Write)?;
        let table = self.servers()?;
        let name = fitted(&table, 0, &drop.name.name.value);
        match (find(self.instance, &table, &name)?, drop.if_exists) {
            (Some(_), _) => {
                let (engine, trx) = begin_in(self.instance, &table.info)?;
                table.remove(&*trx, &[name])?;
                commit_now(&*engine, trx)?;
                Ok(Outcome::changed(1))
            }
            (None, true) => Ok(Outcome::ok()),
            (None, false) => {
                let name = &drop.name.name.value;
                Err(SqlError::new(&ER_FOREIGN_SERVER_DOESNT_EXIST, &[name]))
            }
        }
    }

    fn begin_server_statement(&mut self) -> SqlResult<()> {
        self.said.suppress();
        let privilege = Privilege::Federated;
        let access = Access { privilege, schema: "", table: "", columns: &[] };
        self.session.frame.hooks.check_access(self.session, &access)?;
        self.session.commit()
    }

    /// The table; 1728 if it is another than it is to be.
    fn servers(&self) -> SqlResult<OwnTable<'_>> {
        let table = OwnTable::open_begun(self.instance, self.control, &SHAPE)?;
        table.ok_or_else(|| SqlError::new(&ER_CANNOT_LOAD_FROM_TABLE_V2, &[&TABLE.0, &TABLE.1]))
    }

    fn store(&self, table: &OwnTable<'_>, row: Vec<Value>) -> SqlResult<()> {
        let (engine, trx) = begin_in(self.instance, &table.info)?;
        table.put(&*trx, &row, SHAPE.key.len())?;
        commit_now(&*engine, trx)
    }
}

/// The row of a name, which may be written in any case.
fn find(
    instance: &crate::Instance,
    table: &OwnTable<'_>,
    name: &Value,
) -> SqlResult<Option<Vec<Value>>> {
    let (_, trx) = begin_in(instance, &table.info)?;
    let set = table.rows(&*trx, std::slice::from_ref(name), RowLock::None)?;
    let row = set.rows.iter().next().map(|row| table.values(row));
    row.transpose()
}

/// A text as column `at` keeps it: cut to its length.
fn fitted(table: &OwnTable<'_>, at: usize, text: &str) -> Value {
    let most = table.info.columns[at].ty.length as usize;
    Value::bytes(text.chars().take(most).collect::<String>())
}

fn created(
    table: &OwnTable<'_>,
    name: Value,
    wrapper: &str,
    options: &ServerOptions,
) -> SqlResult<Vec<Value>> {
    /// Port of servers of MariaDB.
    const DEFAULT_PORT: i64 = 3306;
    let is_own_kind = wrapper.eq_ignore_ascii_case("mysql");
    if is_own_kind && options.host.is_none() && options.socket.is_none() {
        let missing = "either HOST or SOCKET must be set";
        return Err(SqlError::new(&ER_CANT_CREATE_FEDERATED_TABLE, &[&missing]));
    }
    let mut row = vec![Value::bytes(""); COLUMNS.len()];
    row.resize(table.info.columns.len(), Value::Null);
    row[0] = name;
    row[PORT] = Value::Int(if is_own_kind { DEFAULT_PORT } else { 0 });
    row[WRAPPER] = fitted(table, WRAPPER, wrapper);
    Ok(changed(table, row, options))
}

/// A row with the options that a statement gives.
fn changed(table: &OwnTable<'_>, mut row: Vec<Value>, options: &ServerOptions) -> Vec<Value> {
    let texts = [
        (1, &options.host),
        (2, &options.database),
        (3, &options.user),
        (4, &options.password),
        (6, &options.socket),
        (8, &options.owner),
    ];
    for (at, text) in texts {
        if let Some(text) = text {
            row[at] = fitted(table, at, text);
        }
    }
    if let Some(port) = options.port {
        row[PORT] = Value::Int(port as i64);
    }
    row
}
