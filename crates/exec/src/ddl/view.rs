//! CREATE VIEW and ALTER VIEW. Only the text of the query and its columns are stored; each use of
//! the view plans the query again. The query must not read the view itself.

use std::sync::Arc;

use selkie_catalog::{Snapshot, TableInfo, TableKind};
use selkie_plan::define::{ViewColumn, ViewSession, check_view_query, define_view};
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{AccountName, CreateView, QueryBody, TableName, TableRef};
use selkie_types::error::catalogue::{
    ER_NO_SUCH_USER, ER_REMOVED_SPACES, ER_TABLE_EXISTS_ERROR, ER_WRONG_OBJECT, ER_WRONG_USAGE,
};
use selkie_types::{Condition, Privileges, SqlError, SqlResult};

use super::Ddl;
use super::change::with_new_id;
use crate::Outcome;
use crate::query::planning::PlanEnvironment;
use crate::state::session::Privilege;

impl Ddl<'_> {
    pub(super) fn create_view(&mut self, create: &CreateView) -> SqlResult<Outcome> {
        if create.or_replace && create.if_not_exists {
            return Err(SqlError::new(&ER_WRONG_USAGE, &[&"OR REPLACE", &"IF NOT EXISTS"]));
        }
        let (schema, name) = self.resolve(&create.name)?;
        self.check_no_lock_tables()?;
        self.check_has_some_access(create)?;
        self.session.commit()?;
        let _lock = self.lock(&schema, name)?;
        let snapshot = self.instance.catalog.snapshot();
        if snapshot.schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        let old = snapshot.table(&schema, name).map(|old| &**old);
        if create.if_not_exists && old.is_some() {
            self.query_columns(&create.query)?;
            self.session.commit()?;
            self.note(Condition::note(&ER_TABLE_EXISTS_ERROR, &[&name]));
            return Ok(Outcome::ok());
        }
        check_replaced(create, old, &schema, name)?;
        let view = self.view(create, old, &snapshot, &schema)?;
        let view = with_new_id(self.instance, view)?;
        if let TableKind::View(stored) = &view.kind {
            self.say_view(create, &stored.definer);
        }
        let change = self.begin_change()?;
        if let Some(old) = old {
            change.remove_table(old.def.id)?;
        }
        change.put_table(&view)?;
        change.commit(|snapshot| snapshot.put_table(Arc::new(view)))?;
        Ok(Outcome::ok())
    }

    /// Fails (1142) if the account has no privilege at all on the rows of a table that the query
    /// reads. Compat: tables of subqueries are not looked at, and the message names no privilege.
    fn check_has_some_access(&self, create: &CreateView) -> SqlResult<()> {
        let rows = [Privileges::SELECT, Privileges::INSERT, Privileges::UPDATE, Privileges::DELETE];
        let common = create.query.with.iter().flat_map(|with| &with.tables);
        let common: Vec<&str> = common.map(|table| &*table.name.value).collect();
        let mut read = Vec::new();
        read_by_body(&create.query.body, &mut read);
        let current = self.session.frame.schema.as_deref();
        let frame = &self.session.frame;
        let (hooks, who) = (&frame.hooks, frame.acting_as.as_deref());
        for name in read {
            let table = &*name.name.value;
            if name.schema.is_none() && common.iter().any(|own| own.eq_ignore_ascii_case(table)) {
                continue;
            }
            let Some(schema) = name.schema.as_ref().map(|s| &*s.value).or(current) else {
                continue;
            };
            let has = |wanted| hooks.check_table(self.session, who, schema, table, wanted).is_ok();
            if !rows.into_iter().any(has) {
                return Err(hooks.table_denied(self.session, who, (schema, table), "ANY"));
            }
        }
        Ok(())
    }

    /// Fails if the query is not allowed in a view.
    pub(super) fn check_view_form(&self, create: &CreateView) -> SqlResult<()> {
        let snapshot = self.instance.catalog.snapshot();
        let current = self.session.frame.schema.as_deref();
        self.with_context(&snapshot, |c| check_view_query(c, current, &create.query))
    }

    /// Definition to store, without an identity.
    pub(super) fn view(
        &mut self,
        create: &CreateView,
        old: Option<&TableInfo>,
        snapshot: &Snapshot,
        schema: &str,
    ) -> SqlResult<TableInfo> {
        // ALTER VIEW keeps the definer; naming another account's definer needs a privilege.
        let kept = match old.map(|old| &old.kind) {
            Some(TableKind::View(view)) if create.alter && create.definer.is_none() => {
                self.check_definer_named(&view.definer)?;
                Some(view.definer.clone())
            }
            _ => None,
        };
        let plan = self.query_plan(&create.query)?;
        // By itself or by views that read it. Compat: it counts as removed already.
        if let Some(old) = old.filter(|old| plan.tables.iter().any(|t| t.def.id == old.def.id)) {
            return Err(SqlError::no_such_table(schema, old.name()));
        }
        let output = plan.output.to_vec();
        self.session.commit()?;
        let columns = output.into_iter().map(view_column).collect();
        let settings = &self.session.frame.settings;
        let session = ViewSession {
            schema: self.session.frame.schema.as_deref(),
            environment: &PlanEnvironment { session: self.session, snapshot, values: &[] },
            definer: match kept {
                Some(definer) => definer,
                None => self.definer_named(create.definer.as_ref())?,
            },
            client_charset: settings.charsets.client.name().to_owned(),
            connection_collation: settings.expressions.collation_connection.name().to_owned(),
        };
        let of_text = |c: &&Condition| c.code == ER_REMOVED_SPACES.code;
        self.with_context(snapshot, |c| {
            plan.warnings.conditions.iter().filter(of_text).for_each(|w| c.eval.push(w.clone()));
            define_view(c, &session, create, schema, columns)
        })
    }

    /// `user@host` of the definer. A definer other than the current user needs a privilege.
    pub(super) fn definer_named(&self, definer: Option<&AccountName>) -> SqlResult<String> {
        let wanted = self.account_named(definer);
        self.check_definer_named(&wanted)?;
        Ok(wanted)
    }

    /// `user@host` that a DEFINER clause means.
    pub(super) fn account_named(&self, definer: Option<&AccountName>) -> String {
        match definer {
            Some(AccountName::Named { user, host, .. }) => {
                format!("{user}@{}", host.as_deref().unwrap_or("%"))
            }
            _ => selkie_expr::Session::current_user(&*self.session),
        }
    }

    /// Fails (1227) unless the account may set this definer.
    pub(super) fn check_may_define(&self, wanted: &str) -> SqlResult<()> {
        match wanted == selkie_expr::Session::current_user(&*self.session) {
            true => Ok(()),
            false => self.check(Privilege::SetUser, "", ""),
        }
    }

    /// Fails (1227) unless the account may set this definer; a note if there is none.
    fn check_definer_named(&self, wanted: &str) -> SqlResult<()> {
        self.check_may_define(wanted)?;
        if wanted == selkie_expr::Session::current_user(&*self.session) {
            return Ok(());
        }
        if !self.session.frame.hooks.account_exists(wanted) {
            let (user, host) = wanted.rsplit_once('@').unwrap_or((wanted, ""));
            self.note(Condition::note(&ER_NO_SUCH_USER, &[&user, &host]));
        }
        Ok(())
    }
}

/// Fails unless an existing object of the name may be replaced: it must be a view, under OR REPLACE
/// or ALTER. ALTER fails if there is none.
fn check_replaced(
    create: &CreateView,
    old: Option<&TableInfo>,
    schema: &str,
    name: &str,
) -> SqlResult<()> {
    match old {
        None if create.alter => Err(SqlError::no_such_table(schema, name)),
        Some(_) if !create.alter && !create.or_replace => {
            Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&name]))
        }
        Some(old) if !matches!(old.kind, TableKind::View(_)) => {
            Err(SqlError::new(&ER_WRONG_OBJECT, &[&schema, &name, &"VIEW"]))
        }
        _ => Ok(()),
    }
}

fn view_column(column: OutputColumn) -> ViewColumn {
    let is_of_table = !column.org_name.is_empty() && !column.org_table.is_empty();
    ViewColumn {
        origin: is_of_table.then(|| {
            ((&*column.schema).into(), (&*column.org_table).into(), (&*column.org_name).into())
        }),
        name: (&*column.name).into(),
        ty: column.ty,
        nullable: column.nullable,
    }
}

/// Tables that a query reads outside of subqueries.
fn read_by_body<'q>(body: &'q QueryBody, read: &mut Vec<&'q TableName>) {
    match body {
        QueryBody::Select(select) => select.from.iter().for_each(|table| read_by(table, read)),
        QueryBody::Nested(query) => read_by_body(&query.body, read),
        QueryBody::Combined { first, rest } => {
            read_by_body(first, read);
            rest.iter().for_each(|operand| read_by_body(&operand.body, read));
        }
        QueryBody::Values(_) => {}
    }
}

fn read_by<'q>(table: &'q TableRef, read: &mut Vec<&'q TableName>) {
    match table {
        TableRef::Table(factor) => read.push(&factor.name),
        TableRef::Join(join) => {
            read_by(&join.left, read);
            read_by(&join.right, read);
        }
        TableRef::Derived(_) | TableRef::JsonTable(_) => {}
    }
}
