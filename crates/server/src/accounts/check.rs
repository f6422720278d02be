//! Checks whether an identity may do something.
//!
//! Must not change accounts.
//!
//! Compat: global privileges are those at login or at the last SET ROLE. Privileges on the current
//! database are those at the last USE. All others are the current ones.

use std::cell::RefCell;
use std::sync::Arc;

use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult};

use super::account::{AccountName, PUBLIC};
use super::acl::{Acl, AclStore};
use super::grants::{Columns, RoutineKind};
use super::rights::{Rights, TableRights};

/// Identity of a session: its client, its account and its active role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name given at login, for `USER()`.
    pub user: String,
    /// Host the client came from, for `USER()`.
    pub host: String,
    /// Address the client came from; empty if there is none.
    pub ip: String,
    /// Account whose privileges apply, for `CURRENT_USER()`.
    pub account: AccountName,
    /// Active role.
    pub role: Option<String>,
    /// Whether the client gave a password.
    pub used_password: bool,
    /// Account that logged in before GRANT PROXY replaced it with another one, for `@@proxy_user`.
    pub proxy: Option<String>,
}

impl Identity {
    /// Whether grants to `name` apply to this identity.
    pub(super) fn is_granted_to(&self, name: &AccountName) -> bool {
        let matches = |h: &super::host::HostPattern| h.matches(&self.host, &self.ip);
        *name == self.account
            || name.user == self.account.user && name.host.as_ref().is_some_and(matches)
    }
}

/// Checks of one identity's privileges.
#[derive(Debug)]
pub struct AccessControl {
    store: Arc<AclStore>,
    identity: Identity,
    /// Whether privileges are not checked at all.
    unrestricted: bool,
    global: Privileges,
    /// The current database and the identity's privileges on it.
    current: Option<(String, Privileges)>,
    rights: RefCell<Arc<Rights>>,
}

impl AccessControl {
    /// The checks of `identity` by the accounts of `store`.
    pub fn new(store: Arc<AclStore>, identity: Identity, unrestricted: bool) -> Self {
        let mut this = Self {
            store,
            identity,
            unrestricted,
            global: Privileges::NONE,
            current: None,
            rights: RefCell::default(),
        };
        this.refresh();
        this
    }

    /// The checks of the account or role named as DEFINER; `None` if it does not exist.
    pub fn of_definer(store: &Arc<AclStore>, user: &str, host: &str) -> Option<Self> {
        let acl = store.current();
        let role = host.is_empty() && acl.has_role(user);
        let found = acl.find(user, host, "").filter(|a| a.name.user == user);
        let account = match found {
            _ if role => AccountName::role(user),
            Some(account) => account.name.clone(),
            None => acl.account(&AccountName::new(user, host))?.name.clone(),
        };
        let identity = Identity {
            user: user.to_owned(),
            host: account.host_text().to_owned(),
            ip: String::new(),
            role: role.then(|| user.to_owned()),
            account,
            used_password: false,
            proxy: None,
        };
        Some(Self::new(Arc::clone(store), identity, false))
    }

    /// The identity that is checked.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether nothing is checked.
    pub fn is_unrestricted(&self) -> bool {
        self.unrestricted
    }

    /// Replaces the identity, for COM_CHANGE_USER and the like.
    pub fn become_identity(&mut self, identity: Identity) {
        self.identity = identity;
        self.refresh();
    }

    /// Changes the active role.
    pub fn set_role(&mut self, role: Option<String>) {
        self.identity.role = role;
        self.refresh();
    }

    /// Makes `schema` the current database.
    pub fn use_database(&mut self, schema: Option<&str>) {
        self.current = None;
        self.current = schema.map(|s| (s.to_owned(), self.granted_on(s)));
    }

    fn refresh(&mut self) {
        let acl = self.store.current();
        let mut names = vec![self.identity.account.clone()];
        names.extend(self.identity.role.iter().flat_map(|r| acl.with_roles(r)));
        names.extend(acl.with_roles(PUBLIC));
        let of = |n: &AccountName| acl.account(n).map_or(Privileges::NONE, |a| a.global);
        self.global = names.iter().fold(Privileges::NONE, |all, n| all | of(n));
        *self.rights.get_mut() = Arc::default();
        let schema = self.current.take().map(|(schema, _)| schema);
        self.use_database(schema.as_deref());
    }

    /// The accounts.
    pub fn store(&self) -> &Arc<AclStore> {
        &self.store
    }

    /// The rights by the present accounts, rebuilt if the accounts have changed.
    fn rights(&self) -> Arc<Rights> {
        let version = self.store.version();
        let mut rights = self.rights.borrow_mut();
        if rights.version != version {
            *rights = Arc::new(Rights::new(self.store.current(), version, &self.identity));
        }
        Arc::clone(&rights)
    }

    /// The accounts the rights were made from.
    pub fn acl(&self) -> Arc<Acl> {
        Arc::clone(&self.rights().acl)
    }

    /// Fails (1227) unless the identity has one of the privileges `wanted` globally.
    pub fn check_global(&self, wanted: Privileges) -> SqlResult<()> {
        if self.has_global(wanted) {
            return Ok(());
        }
        let names: Vec<&str> = wanted.names().collect();
        Err(SqlError::new(&ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&names.join(", ")]))
    }

    /// Whether the identity has one of the privileges `wanted` globally.
    pub fn has_global(&self, wanted: Privileges) -> bool {
        self.global().has_any(wanted)
    }

    /// Global privileges.
    pub fn global(&self) -> Privileges {
        if self.unrestricted { Privileges::ALL } else { self.global }
    }

    /// Privileges on a database, including the global ones.
    pub fn on_database(&self, schema: &str) -> Privileges {
        match &self.current {
            Some((current, granted)) if current == schema => self.global() | *granted,
            _ => self.global() | self.granted_on(schema),
        }
    }

    fn granted_on(&self, schema: &str) -> Privileges {
        match schema.eq_ignore_ascii_case("information_schema") {
            true => Privileges::SELECT,
            false => self.rights().on_database(schema),
        }
    }

    /// Privileges on a pattern of databases, as GRANT names it.
    pub fn on_pattern(&self, pattern: &str) -> Privileges {
        self.global() | self.rights().on_pattern(pattern)
    }

    /// Privileges on a table, including those on its database but not those on its columns.
    pub fn on_table(&self, schema: &str, table: &str) -> Privileges {
        let granted = self.rights().on_table(schema, table).map(|t| t.whole);
        self.on_database(schema) | granted.unwrap_or_default()
    }

    /// Privileges on a column, including those on its table.
    pub fn on_column(&self, schema: &str, table: &str, column: &str) -> Privileges {
        let rights = self.rights();
        let granted = rights.on_table(schema, table).map(|t| t.whole | t.on_column(column));
        self.on_database(schema) | granted.unwrap_or_default()
    }

    fn on_any_column(&self, schema: &str, table: &str) -> Privileges {
        let rights = self.rights();
        rights.on_table(schema, table).map_or(Privileges::NONE, |t| t.on_any_column())
    }

    /// Privileges on a routine, including those on its database.
    pub fn on_routine(&self, kind: RoutineKind, schema: &str, name: &str) -> Privileges {
        let granted = self.rights().on_routine(kind, schema, &name.to_lowercase());
        self.on_database(schema) | granted
    }

    /// Fails (1044) unless the identity has all of `wanted` on the database.
    pub fn check_database(&self, schema: &str, wanted: Privileges) -> SqlResult<()> {
        match self.on_database(schema).has(wanted) {
            true => Ok(()),
            false => Err(self.database_denied(schema)),
        }
    }

    /// Fails (1142) unless the identity has all of `wanted` on the table itself.
    pub fn check(&self, schema: &str, table: &str, wanted: Privileges) -> SqlResult<()> {
        if self.global().has(wanted) {
            return Ok(());
        }
        let missing = wanted.without(self.on_table(schema, table));
        if missing.is_empty() { Ok(()) } else { Err(self.missing(schema, table, missing)) }
    }

    /// Like [`Self::check`], but privileges on some column are enough. Returns true if the columns
    /// that a statement uses must be checked one by one.
    pub fn check_any_column(
        &self,
        schema: &str,
        table: &str,
        wanted: Privileges,
    ) -> SqlResult<bool> {
        let missing = wanted.without(self.on_table(schema, table));
        if missing.is_empty() {
            return Ok(false);
        }
        match missing.without(self.on_any_column(schema, table)).is_empty() {
            true => Ok(true),
            false => Err(self.missing(schema, table, missing)),
        }
    }

    /// Fails (1142) unless the identity has all of `whole` on the table, and the privileges of
    /// `columns` on at least one of its columns.
    ///
    /// Compat: the error does not name a privilege the identity has on some column, unless nothing
    /// else is missing.
    pub fn check_may_pass_on(
        &self,
        (schema, table): (&str, &str),
        whole: Privileges,
        columns: &Columns,
    ) -> SqlResult<()> {
        let (has, on_columns) = (self.on_table(schema, table), self.on_any_column(schema, table));
        let listed = columns.iter().fold(Privileges::NONE, |all, (_, p)| all | *p);
        let missing = whole.without(has) | listed.without(has | on_columns);
        let told = missing.without(on_columns);
        match (missing.is_empty(), told.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => Err(self.missing(schema, table, missing)),
            (false, false) => Err(self.missing(schema, table, told)),
        }
    }

    /// Fails (1143) unless the identity has all of `wanted` on the column.
    pub fn check_column(
        &self,
        schema: &str,
        table: &str,
        column: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let missing = wanted.without(self.on_column(schema, table, column));
        if missing.is_empty() {
            return Ok(());
        }
        let (user, host) = self.at_host();
        let words = missing.refused();
        Err(SqlError::new(&ER_COLUMNACCESS_DENIED_ERROR, &[&words, &user, &host, &column, &table]))
    }

    /// Fails (1370) unless the identity has all of `wanted` on the routine.
    pub fn check_routine(
        &self,
        kind: RoutineKind,
        schema: &str,
        name: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let missing = match self.global().has(wanted) {
            true => return Ok(()),
            false => wanted.without(self.on_routine(kind, schema, name)),
        };
        if missing.is_empty() {
            return Ok(());
        }
        let word = match missing {
            m if m.has(Privileges::EXECUTE) => "execute",
            m if m.has(Privileges::ALTER_ROUTINE) => "alter routine",
            _ => "grant",
        };
        let (user, host) = self.of_account();
        let routine = format!("{schema}.{name}");
        Err(SqlError::new(&ER_PROCACCESS_DENIED_ERROR, &[&word, &user, &host, &routine]))
    }

    /// Fails (1370) unless the identity has any privilege on the routine.
    pub fn check_some_routine(&self, kind: RoutineKind, schema: &str, name: &str) -> SqlResult<()> {
        let any = Privileges::ROUTINE | Privileges::CREATE_ROUTINE;
        match self.on_routine(kind, schema, name).has_any(any) {
            true => Ok(()),
            false => self.check_routine(kind, schema, name, Privileges::EXECUTE),
        }
    }

    /// Whether the database is visible: the identity has a privilege on it or on something in it.
    pub fn sees_database(&self, schema: &str) -> bool {
        let on_databases = Privileges::DATABASE | Privileges::SHOW_DATABASES;
        let on_database = self.on_database(schema) & on_databases;
        !on_database.without(Privileges::GRANT_OPTION).is_empty()
            || self.rights().has_any_in(schema)
    }

    /// Whether a database may become the current one.
    pub fn may_use(&self, schema: &str) -> bool {
        // Privileges on the current database are looked up again: those of the last USE may be old.
        let on_database = (self.global() | self.granted_on(schema)) & Privileges::DATABASE;
        !on_database.is_empty() || self.rights().has_any_in(schema)
    }

    /// Whether the table is visible.
    pub fn sees_table(&self, schema: &str, table: &str) -> bool {
        !(self.on_table(schema, table) & Privileges::TABLE).is_empty()
            || !self.on_any_column(schema, table).is_empty()
    }

    /// Whether the columns and indexes of a table are shown. Compat: SELECT is the only privilege
    /// on the database that is enough.
    pub fn shows_table(&self, schema: &str, table: &str) -> bool {
        let some = |t: &TableRights| {
            !(t.whole & Privileges::TABLE).is_empty() || !t.on_any_column().is_empty()
        };
        self.on_database(schema).has(Privileges::SELECT)
            || self.rights().on_table(schema, table).is_some_and(some)
    }

    /// Error 1044.
    pub fn database_denied(&self, schema: &str) -> SqlError {
        let (user, host) = self.of_account();
        SqlError::new(&ER_DBACCESS_DENIED_ERROR, &[&user, &host, &schema])
    }

    /// Error 1142 about a command.
    pub fn table_denied(&self, schema: &str, table: &str, command: &str) -> SqlError {
        let (user, host) = self.at_host();
        SqlError::new(&ER_TABLEACCESS_DENIED_ERROR, &[&command, &user, &host, &schema, &table])
    }

    /// Error 1142, or 1044. Compat: a privilege that cannot be granted on a table is reported as
    /// missing on its database.
    fn missing(&self, schema: &str, table: &str, missing: Privileges) -> SqlError {
        match missing.without(Privileges::TABLE).is_empty() {
            true => self.table_denied(schema, table, &missing.refused()),
            false => self.database_denied(schema),
        }
    }

    /// Error 1045.
    pub fn denied_login(&self) -> SqlError {
        let (user, host) = self.of_account();
        let used = if self.identity.used_password { "YES" } else { "NO" };
        SqlError::new(&ER_ACCESS_DENIED_ERROR, &[&user, &host, &used])
    }

    /// Error 1698.
    pub fn denied(&self) -> SqlError {
        let (user, host) = self.of_account();
        SqlError::new(&ER_ACCESS_DENIED_NO_PASSWORD_ERROR, &[&user, &host])
    }

    fn of_account(&self) -> (&str, &str) {
        (&self.identity.account.user, self.identity.account.host_text())
    }

    /// User and host of errors. Compat: errors about tables and columns name the client's host, not
    /// the host of the account.
    fn at_host(&self) -> (&str, &str) {
        (&self.identity.account.user, &self.identity.host)
    }
}
