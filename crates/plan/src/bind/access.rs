//! Who may use which table and column: asked as names are resolved.
//!
//! A table is asked for before it is looked up, so that nobody learns what exists; a column when it
//! is found. Inside a view it is the view's definer who is asked about, unless the view says its
//! invoker. Columns are asked for one by one only where the whole table is not granted.

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind};
use selkie_sql::ast;
use selkie_types::error::catalogue::*;
use selkie_types::{Privileges, SqlError, SqlResult};

use super::Binder;
use super::scope::Source;

/// What tables are used for while they are bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Privileges each needs, on some column at least.
    pub tables: Privileges,
    /// These would do as well; it is `tables` that is missing.
    pub instead: Option<Privileges>,
}

impl Wanted {
    /// Tables are used with these privileges.
    pub(crate) const fn all(tables: Privileges) -> Self {
        Self { tables, instead: None }
    }
}

/// A table of which not every column may be used freely.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    who: Option<Arc<str>>,
    schema: Box<str>,
    table: Box<str>,
    /// What may be done with every column.
    has: Privileges,
}

impl Binder<'_> {
    /// Fails unless the table may be used as wanted. It need not exist.
    pub(super) fn check_table(&self, schema: &str, table: &str) -> SqlResult<()> {
        if schema.eq_ignore_ascii_case("information_schema") {
            return self.check_computed(schema);
        }
        if self.names.tables.temporary.get(schema, table).is_some() {
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

    /// Fails (1044) unless what is computed is only read.
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

    /// Fails unless the whole of the table, or some column of it, may be used so.
    pub(super) fn check_target_access(
        &self,
        guard: Option<&Guard>,
        wanted: Privileges,
    ) -> SqlResult<()> {
        let Some(guard) = guard.filter(|g| !g.has.has(wanted)) else { return Ok(()) };
        let permissions = self.names.environment.permissions();
        permissions.check_table(guard.who.as_deref(), &guard.schema, &guard.table, wanted)
    }

    /// What has to be asked about columns of a table; `None` if nothing.
    pub(super) fn guard(&self, info: &TableInfo) -> Option<Arc<Guard>> {
        if matches!(info.kind, TableKind::Temporary | TableKind::System) {
            return None;
        }
        let (schema, table) = (info.schema(), info.name());
        let has = self.names.environment.permissions().granted(self.who.as_deref(), schema, table);
        let whole = Privileges::COLUMN.without(Privileges::REFERENCES) | Privileges::DELETE;
        (!has.has(whole)).then(|| {
            let who = self.who.clone();
            Arc::new(Guard { who, schema: schema.into(), table: table.into(), has })
        })
    }

    /// Fails (1143) unless a column may be used so.
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

    /// Fails unless all of `columns` may be used so.
    ///
    /// Compat: which column is not granted is told only if none before it needed a grant of its
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

    /// The error about a column that is not there: that it is not granted, if so, since what a
    /// table has is nobody's business who may not use it.
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

    /// Binds with columns being used in another way than read.
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

    /// Binds with tables being used as wanted.
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

    /// Privileges on the table an alias of the current block names.
    pub(super) fn guard_of(&self, alias: &str) -> Option<Arc<Guard>> {
        let sources = &self.scopes.last()?.sources;
        sources.iter().find(|s| self.table_names().is_same(&s.name, alias))?.guard.clone()
    }
}
