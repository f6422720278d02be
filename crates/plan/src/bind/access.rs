//! Privileges on tables and columns, checked while names are resolved.
//!
//! A table is checked before it is looked up, so that an account without privileges does not learn
//! what exists. A column is checked when it is found. Inside a view the definer's privileges count,
//! unless the view has SQL SECURITY INVOKER. Columns are checked one by one only if the privilege
//! on the whole table is missing.

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult};

use super::Binder;
use super::scope::Source;

/// Use of the tables that are being bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Privileges that each table needs, at least on one column.
    pub tables: Privileges,
    /// Privileges that are sufficient too; an error names `tables`.
    pub instead: Option<Privileges>,
}

impl Wanted {
    /// Tables are used with these privileges.
    pub(crate) const fn all(tables: Privileges) -> Self {
        Self { tables, instead: None }
    }
}

/// A table whose columns are not all freely usable.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    who: Option<Arc<str>>,
    schema: Box<str>,
    table: Box<str>,
    /// Privileges on every column.
    has: Privileges,
}

/// Compat: these tables need no privilege.
fn is_for_everybody(schema: &str, table: &str) -> bool {
    schema == "performance_schema"
        && ["global_status", "session_status", "session_account_connect_attrs"].contains(&table)
}

impl Binder<'_> {
    /// An error unless the table may be used as `wanted`. The table need not exist.
    pub(super) fn check_table(&self, schema: &str, table: &str) -> SqlResult<()> {
        if schema.eq_ignore_ascii_case("information_schema") {
            return self.check_computed(schema);
        }
        if self.names.tables.temporary.get(schema, table).is_some() {
            return Ok(());
        }
        if is_for_everybody(schema, table) && self.wanted.tables == Privileges::SELECT {
            return Ok(());
        }
        let check = |wanted| {
            self.names.environment.permissions().check_table(
                self.who.as_deref(),
                schema,
                table,
                wanted,
            )
        };
        match self.wanted.instead.map(check) {
            Some(Ok(())) => Ok(()),
            _ => check(self.wanted.tables),
        }
    }

    /// An error (1044) unless a computed table is only read.
    fn check_computed(&self, schema: &str) -> SqlResult<()> {
        let changes = self.wanted.instead.unwrap_or(self.wanted.tables);
        match changes.without(Privileges::SELECT).is_empty() {
            true => Ok(()),
            false => {
                let permissions = self.names.environment.permissions();
                Err(permissions.schema_denied(self.who.as_deref(), schema))
            }
        }
    }

    /// An error unless the table or one of its columns may be used as `wanted`.
    pub(super) fn check_target_access(
        &self,
        guard: Option<&Guard>,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let Some(guard) = guard.filter(|g| !g.has.has(wanted)) else { return Ok(()) };
        let permissions = self.names.environment.permissions();
        permissions.check_table(guard.who.as_deref(), &guard.schema, &guard.table, wanted)
    }

    /// The guard for the columns of a table; `None` if no column needs a check.
    pub(super) fn guard(&self, info: &TableInfo) -> Option<Arc<Guard>> {
        let (schema, table) = (info.schema(), info.name());
        let is_free = match info.kind {
            TableKind::Temporary => true,
            TableKind::System => schema != "performance_schema" || is_for_everybody(schema, table),
            _ => false,
        };
        if is_free {
            return None;
        }
        let has = self.names.environment.permissions().granted(self.who.as_deref(), schema, table);
        let whole = Privileges::COLUMN.without(Privileges::REFERENCES) | Privileges::DELETE;
        (!has.has(whole)).then(|| {
            let who = self.who.clone();
            Arc::new(Guard { who, schema: schema.into(), table: table.into(), has })
        })
    }

    /// An error (1143) unless the column may be used as `wanted`.
    pub(super) fn check_column(
        &self,
        guard: Option<&Guard>,
        column: &str,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let Some(guard) = guard.filter(|g| !g.has.has(wanted)) else { return Ok(()) };
        let (schema, table) = (&guard.schema, &guard.table);
        let who = guard.who.as_deref();
        self.names.environment.permissions().check_column(who, schema, table, column, wanted)
    }

    /// An error unless all of `columns` may be used as `wanted`.
    ///
    /// Compat: the error names the column only if no column before it needed a privilege of its
    /// own.
    pub(super) fn check_all_columns<'c>(
        &self,
        guard: Option<&Guard>,
        columns: impl Iterator<Item = &'c str>,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let Some(guard) = guard.filter(|g| !g.has.has(wanted)) else { return Ok(()) };
        for (at, column) in columns.enumerate() {
            if let Err(error) = self.check_column(Some(guard), column, wanted) {
                return Err(match at {
                    0 => error,
                    _ => self.names.environment.permissions().table_denied(
                        guard.who.as_deref(),
                        &guard.schema,
                        &guard.table,
                        wanted,
                    ),
                });
            }
        }
        Ok(())
    }

    /// The error for an unknown column. If the privilege is missing, the error says that instead,
    /// so that an account without privileges does not learn which columns exist.
    pub(super) fn missing_column(&self, name: &ast::ColumnRef, error: SqlError) -> SqlError {
        if !error.is(&ER_BAD_FIELD_ERROR) {
            return error;
        }
        let sources = self.scopes.last().map(|s| s.sources.as_slice()).unwrap_or_default();
        let names = self.table_names();
        let guarded = |s: &&Source| names.is_of(s, name) && s.guard.is_some();
        let denied = sources.iter().filter(guarded).find_map(|source| {
            let column = &name.name.value;
            self.check_column(source.guard.as_deref(), column, self.column_use).err()
        });
        denied.unwrap_or(error)
    }

    /// Binds with another use of columns than reading.
    pub(super) fn using_columns<T>(
        &mut self,
        wanted: Privileges,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = std::mem::replace(&mut self.column_use, wanted);
        let bound = bind(self);
        self.column_use = before;
        bound
    }

    /// Binds with the given use of tables.
    pub(super) fn using_tables<T>(
        &mut self,
        wanted: Wanted,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = std::mem::replace(&mut self.wanted, wanted);
        let bound = bind(self);
        self.wanted = before;
        bound
    }

    /// The guard of the table with an alias in the current block.
    pub(super) fn guard_of(&self, alias: &str) -> Option<Arc<Guard>> {
        let sources = &self.scopes.last()?.sources;
        sources.iter().find(|s| self.table_names().is_same(&s.name, alias))?.guard.clone()
    }
}
