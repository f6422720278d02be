//! CREATE TABLE in its three forms. The forms are a list of elements, LIKE, and AS SELECT. A new
//! table is filled while no definition knows it (DDL-2); a failure drops its storage.
//! [`create_filled`](Ddl::create_filled) serves CREATE SEQUENCE too.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, DefaultValue, Namespace, Snapshot, TableInfo, TableKind};
use selkie_plan::define::{
    DefineContext, column_of_variable, define_like, define_selected, define_table, selected_column,
};
use selkie_plan::physical::{OutputColumn, Plan};
use selkie_plan::{shown_functions, shown_parameters, shown_values};
use selkie_sql::ast::{
    ColumnRef, CreateSelect, CreateSource, CreateTable, Ident, Insert, InsertOrigin, InsertSource,
    OnDuplicate, Query, Statement, TableElement, TableName,
};
use selkie_types::error::catalogue::{
    ER_COLUMNACCESS_DENIED_ERROR, ER_NONUNIQ_TABLE, ER_TABLE_EXISTS_ERROR, ER_TABLE_NOT_LOCKED,
    ER_TABLEACCESS_DENIED_ERROR, ER_VERS_TABLE_MUST_HAVE_COLUMNS, ER_WRONG_OBJECT,
};
use selkie_types::{
    CollationId, Condition, JsonRole, SqlError, SqlResult, SqlType, TypeKind, Value,
};

use super::Ddl;
use super::change::{create_storage_now, drop_storage_now, is_temporary, with_new_storage};
use crate::query::log_form::creates_by_text;
use crate::query::running::{Fill, Running};
use crate::run::count_definition;
use crate::state::binlog::WITH_TEMPORARY;
use crate::state::error::from_engine;
use crate::state::own_transaction::{begin_in, commit_now};
use crate::{Instance, NullSink, Outcome, execute_statement};

impl Ddl<'_> {
    pub(super) fn create_table(&mut self, create: &CreateTable) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&create.name)?;
        self.check_new_defaults(create)?;
        if !create.temporary {
            self.check_path(&schema, name)?;
            self.check_listed(&schema, name)?;
            self.session.commit()?;
            // A table that exists is reported without waiting for a lock on it.
            let exists = self.instance.catalog.snapshot().table(&schema, name).is_some();
            if !create.or_replace && exists {
                self.check_selected(create)?;
                return self.already(create, name);
            }
        }
        let _lock = (!create.temporary).then(|| self.lock(&schema, name)).transpose()?;
        let _parents = self.lock_parents_of_create(create)?;
        let snapshot = self.instance.catalog.snapshot();
        if snapshot.schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        let old = self.existing_table(&snapshot, create.temporary, &schema, name);
        if let Some(old) = old.as_ref().filter(|_| create.if_not_exists || !create.or_replace) {
            if create.if_not_exists && create.temporary {
                self.log_existing(old)?;
            }
            return self.already(create, name);
        }
        self.define_and_create(create, (&schema, name), old)
    }

    /// Creates a table, in place of `old` if there is one.
    fn define_and_create(
        &mut self,
        create: &CreateTable,
        (schema, name): (&str, &str),
        old: Option<Arc<TableInfo>>,
    ) -> SqlResult<Outcome> {
        let output = match &create.select {
            Some(select) => self.selected_columns(create, select, old.as_deref())?,
            None => Arc::default(),
        };
        let source = match &create.source {
            CreateSource::Like(source) => Some(self.like_source(create, source, (schema, name))?),
            CreateSource::Elements(_) => None,
        };
        self.check_replaceable(old.as_deref())?;
        self.check_versioned(create, schema, &output, old.as_ref())?;
        self.replacing(old, |ddl, old| {
            ddl.define_and_fill(create, (schema, name), source.as_deref(), (&output, old))
        })
    }

    /// Compat: a query whose columns cannot be those of a versioned table leaves the table that is
    /// to be replaced, unlike other errors of a definition.
    fn check_versioned(
        &self,
        create: &CreateTable,
        schema: &str,
        output: &[OutputColumn],
        old: Option<&Arc<TableInfo>>,
    ) -> SqlResult<()> {
        let is_unversioned = |element: &TableElement| match element {
            TableElement::Column(column) => column.system_versioning == Some(false),
            _ => false,
        };
        let CreateSource::Elements(elements) = &create.source else { return Ok(()) };
        if old.is_none() || create.select.is_none() || !elements.iter().any(is_unversioned) {
            return Ok(());
        }
        let snapshot = self.snapshot_without(old);
        let selected = output.iter().map(|c| self.selected(&snapshot, c)).collect();
        let defined = self.with_context(&snapshot, |context| {
            let (table, _) = define_table(context, create, schema)?;
            define_selected(context, create, &table, selected)
        });
        match defined {
            Err(error) if error.is(&ER_VERS_TABLE_MUST_HAVE_COLUMNS) => Err(error),
            _ => Ok(()),
        }
    }

    fn define_and_fill(
        &mut self,
        create: &CreateTable,
        (schema, name): (&str, &str),
        source: Option<&TableInfo>,
        (output, old): (&[OutputColumn], Option<&Arc<TableInfo>>),
    ) -> SqlResult<Outcome> {
        let snapshot = self.snapshot_without(old);
        let (table, next) = match source {
            Some(source) => {
                let like =
                    |c: &DefineContext<'_>| define_like(c, source, schema, name, create.temporary);
                (self.with_context(&snapshot, like)?, None)
            }
            None => {
                let table = self.with_context(&snapshot, |c| define_table(c, create, schema));
                self.explain_foreign(name, table)?
            }
        };
        if let Some(select) = &create.select {
            let selected = output.iter().map(|c| self.selected(&snapshot, c)).collect();
            let table =
                self.with_context(&snapshot, |c| define_selected(c, create, &table, selected));
            let table = self.explain_foreign(name, table)?;
            let columns = output.iter().map(|c| ColumnRef::bare(Ident::new(&*c.name))).collect();
            return self.create_filled((table, next), old, |ddl, table| {
                let outcome = ddl.insert_selected(create, table, (columns, select))?;
                // Return AUTO_INCREMENT values that were reserved and not used.
                set_auto_increment(ddl.instance, table, next.or(Some(1)))?;
                Ok(outcome)
            });
        }
        if source.is_some_and(|source| !self.may_say_source(source)) {
            // No replica has the temporary table.
            match create.temporary {
                true => self.said.lacks_text = true,
                false => self.say(self.text_of_new(create, &table)),
            }
        }
        self.create_filled((table, next), old, |ddl, table| {
            ddl.begin_sequence(table, source).map(|()| Outcome::ok())
        })
    }

    /// Creates the storage of a definition, fills it while no definition knows it (DDL-2), then
    /// publishes the table, in place of `old` if there is one.
    pub(super) fn create_filled(
        &mut self,
        (table, next): (TableInfo, Option<u64>),
        old: Option<&Arc<TableInfo>>,
        fill: impl FnOnce(&mut Self, &TableInfo) -> SqlResult<Outcome>,
    ) -> SqlResult<Outcome> {
        let table = with_new_storage(self.instance, self.with_row_format(table))?;
        self.check_sequence(&table)?;
        create_storage_now(self.instance, &table)?;
        let filled = set_auto_increment(self.instance, &table, next);
        let filled = filled.and_then(|()| fill(self, &table));
        match filled.and_then(|outcome| self.check_still_free(&table, old).map(|()| outcome)) {
            Ok(outcome) => {
                count_definition(self.session, &table);
                self.publish_table(table, old)?;
                Ok(outcome)
            }
            Err(error) => {
                self.instance.close_table(table.def.id);
                drop_storage_now(self.instance, &table)?;
                Err(error)
            }
        }
    }

    /// Fails (1142, 1143) unless the account may read the selected columns, even if no table is
    /// created.
    fn check_selected(&mut self, create: &CreateTable) -> SqlResult<()> {
        let Some(select) = &create.select else { return Ok(()) };
        let denied = |error: &SqlError| {
            error.is(&ER_TABLEACCESS_DENIED_ERROR) || error.is(&ER_COLUMNACCESS_DENIED_ERROR)
        };
        match self.query_plan(&select.query) {
            Err(error) if denied(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Outcome if a table of the name exists: an error, or a note under IF NOT EXISTS.
    fn already(&self, create: &CreateTable, name: &str) -> SqlResult<Outcome> {
        if !create.if_not_exists {
            return Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&name]));
        }
        self.note(Condition::note(&ER_TABLE_EXISTS_ERROR, &[&name]));
        Ok(Outcome::ok())
    }

    /// Fails unless the account may use the sequences that column defaults refer to.
    fn check_new_defaults(&self, create: &CreateTable) -> SqlResult<()> {
        let CreateSource::Elements(elements) = &create.source else { return Ok(()) };
        self.check_defaults(elements.iter().filter_map(|element| match element {
            TableElement::Column(column) => Some(&**column),
            _ => None,
        }))
    }

    /// The source table of CREATE TABLE ... LIKE.
    fn like_source(
        &self,
        create: &CreateTable,
        source: &TableName,
        target: (&str, &str),
    ) -> SqlResult<Arc<TableInfo>> {
        let (schema, name) = self.resolve(source)?;
        if create.or_replace && (&*schema, name) == target {
            return Err(SqlError::new(&ER_NONUNIQ_TABLE, &[&name]));
        }
        let source = self.base_table(&self.instance.catalog.snapshot(), &schema, name)?;
        if self.session.locked_tables.is_some()
            && source.kind == TableKind::Base
            && self.session.lock_of(source.schema(), source.name()).is_none()
        {
            return Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&source.name()]));
        }
        if source.engine.name.is_empty() || matches!(source.kind, TableKind::View(_)) {
            let arguments: [&dyn std::fmt::Display; 3] = [&schema, &name, &"BASE TABLE"];
            return Err(SqlError::new(&ER_WRONG_OBJECT, &arguments));
        }
        Ok(source)
    }

    /// Publishes a table whose storage is complete, in place of `old` if there is one.
    /// Fails if a function in the query has created a temporary table of the same name.
    fn check_still_free(&self, table: &TableInfo, old: Option<&Arc<TableInfo>>) -> SqlResult<()> {
        let (schema, name) = (table.schema(), table.name());
        let now = self.session.frame.temporary.get(schema, name);
        let is_taken = now.is_some_and(|now| old.is_none_or(|old| old.def.id != now.def.id));
        match is_temporary(table) && is_taken {
            true => Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&name])),
            false => Ok(()),
        }
    }

    fn publish_table(&mut self, table: TableInfo, old: Option<&Arc<TableInfo>>) -> SqlResult<()> {
        if is_temporary(&table) {
            return self.publish_temporary(table, old);
        }
        let mut change = self.begin_change()?;
        if let Some(old) = old {
            self.remove(&mut change, old)?;
        }
        change.put_table(&table)?;
        let replaces = old.is_some();
        change.commit(|snapshot| {
            if replaces {
                snapshot.set_triggers(table.schema(), table.name(), Vec::new());
            }
            snapshot.put_table(Arc::new(table));
        })?;
        if let Some(old) = old {
            self.forget_statistics([old]);
            self.session.frame.hooks.dropped(self.session, old.schema(), old.name());
        }
        Ok(())
    }

    /// The column created for a column of a query. A table's column keeps its default and comment.
    fn selected(&self, snapshot: &Snapshot, output: &OutputColumn) -> ColumnInfo {
        let mut new = selected_column(&output.name, output.ty.clone(), output.nullable);
        let names = Namespace { snapshot, temporary: &self.session.frame.temporary };
        let source = names.table(&output.schema, &output.org_table);
        let source = source.filter(|t| matches!(t.kind, TableKind::Base | TableKind::Temporary));
        let Some((source, at)) =
            source.and_then(|t| t.column_position(&output.org_name).map(|at| (t, at)))
        else {
            // Compat: MariaDB keeps a UNION, and a derived table that is not merged, in a temporary
            // table, whose computed columns have the zero of their type as a default.
            let of_table = output.kept && output.org_table.is_empty();
            if of_table && !output.org_name.is_empty() && !new.nullable && !new.ty.is_text_or_blob()
            {
                new.default = DefaultValue::Literal(Value::zero_of(&new.ty));
            }
            return new;
        };
        let column = &source.columns[at];
        new.comment = column.comment.clone();
        new.compressed = column.compressed;
        if column.generated.is_some() {
            return new;
        }
        new.on_update_now = column.on_update_now;
        new.default = match column.auto_increment {
            true => DefaultValue::Literal(Value::zero_of(&column.ty)),
            false => column.default.clone(),
        };
        new
    }
}

impl Ddl<'_> {
    /// The columns of a query's result.
    pub(super) fn query_columns(&mut self, query: &Query) -> SqlResult<Vec<OutputColumn>> {
        Ok(self.query_plan(query)?.output.to_vec())
    }

    pub(super) fn query_plan(&mut self, query: &Query) -> SqlResult<Plan> {
        let statement = Statement::Query(Box::new(query.clone()));
        self.scope().plan_running(&statement, self.running)
    }

    /// Columns selected by CREATE TABLE ... SELECT; the query must not read the table it replaces.
    fn selected_columns(
        &mut self,
        create: &CreateTable,
        select: &CreateSelect,
        old: Option<&TableInfo>,
    ) -> SqlResult<Arc<[OutputColumn]>> {
        let plan = self.query_plan(&select.query)?;
        if let Some(old) = old {
            self.check_not_read(old, &select.query, &plan)?;
        }
        if !create.temporary {
            self.session.commit()?;
        }
        let variables = shown_parameters(plan.output.len(), &plan.root);
        let in_program = self.running.fill == Fill::Locals;
        let values = self.running.values;
        let mut output = plan.output.to_vec();
        let functions = shown_functions(plan.output.len(), &plan.root);
        let computed = shown_values(plan.output.len(), &plan.root);
        for (column, made) in output.iter_mut().zip(&*plan.root.columns) {
            // A computed BIT is shown as a number, but stored as it is. An extreme is shown with
            // the length of any number of its type.
            let is_small = made.ty.is_integer() && made.ty.kind != TypeKind::BigInt;
            if made.ty.kind == TypeKind::Bit || is_small && made.ty.kind == column.ty.kind {
                column.ty = made.ty.clone();
            }
        }
        for ((column, variable), function) in output.iter_mut().zip(variables).zip(&functions) {
            let is_variable = variable.is_some() && in_program;
            // Compat: the value of a parameter is known, that of a program's variable may change.
            if !in_program && let Some((value, _)) = variable.and_then(|at| values.get(at)) {
                column.nullable = value.is_null();
            }
            let is_function = function.is_some() && column.table.is_empty();
            // Compat: a list of members becomes a text; other results keep their types.
            let is_list = is_function && column.ty.members.is_some();
            column.ty = match is_variable || is_list {
                true => column_of_variable(column.ty.clone()),
                false if is_function => column.ty.clone(),
                false => stored_type(column),
            };
        }
        for ((column, value), function) in output.iter_mut().zip(computed).zip(functions) {
            if value.is_some() && function.is_none() {
                long_text(&mut column.ty);
            }
        }
        Ok(output.into())
    }

    /// Whether the log gets the statement in place of the new table's rows.
    fn is_created_by_text(&mut self, table: &TableInfo, select: &CreateSelect) -> SqlResult<bool> {
        if self.session.log().is_none() {
            return Ok(false);
        }
        let plan = self.query_plan(&select.query)?;
        if plan.tables.iter().any(|table| is_temporary(table)) {
            self.said.header |= WITH_TEMPORARY;
        }
        let is_plain =
            select.duplicates == OnDuplicate::Error && table.def.auto_increment.is_none();
        let planned = (&plan, self.running);
        Ok(creates_by_text(self.instance, self.session, planned, is_plain))
    }

    /// Inserts the query's rows into the new table, which only this session knows meanwhile.
    fn insert_selected(
        &mut self,
        create: &CreateTable,
        table: &TableInfo,
        (columns, select): (Vec<ColumnRef>, &CreateSelect),
    ) -> SqlResult<Outcome> {
        // The table gets a name that the query cannot use: the query may read another table of the
        // real name.
        let key = format!("#new {}", table.name());
        let name = TableName { schema: Some(Ident::new(table.schema())), name: Ident::new(&*key) };
        let insert = Statement::Insert(Box::new(Insert {
            replace: select.duplicates == OnDuplicate::Replace,
            priority: None,
            ignore: select.duplicates == OnDuplicate::Ignore,
            table: name,
            partitions: Vec::new(),
            columns: Some(columns),
            origin: InsertOrigin::Create,
            source: InsertSource::Query(Box::new(select.query.clone())),
            on_duplicate: Vec::new(),
            returning: Vec::new(),
        }));
        let logs = !is_temporary(table);
        let is_by_text = self.is_created_by_text(table, select)?;
        if !logs {
            self.said.lacks_text = !is_by_text;
        } else if !is_by_text {
            let text = self.text_of_new(create, table);
            self.session.begin_filling(table, text.as_bytes())?;
        }
        let own = TableInfo { kind: TableKind::Temporary, ..table.clone() };
        self.session.frame.temporary.put_as(&key, Arc::new(own));
        let (instance, Running { text, values, .. }) = (self.instance, self.running);
        let sink = &mut NullSink;
        let said = self.session.diagnostics.present();
        let result = execute_statement(instance, self.session, &insert, text, values, sink);
        self.session.diagnostics.put_first(said, self.session.frame.settings.notes.max_error_count);
        self.session.frame.temporary.remove(table.schema(), &key);
        let filled = self.session.filled(table.engine).filter(|_| result.is_ok());
        let outcome = result.inspect_err(|_| self.session.diagnostics.take_error())?;
        if let Some(uses) = self.instance.uses().of(table) {
            uses.changed(outcome.affected);
        }
        if logs {
            self.said.group.replace(filled);
            self.session.commit()?;
        }
        Ok(outcome)
    }
}

/// Compat: a computed text that may have more than 512 characters becomes a TEXT.
fn long_text(ty: &mut SqlType) {
    if !matches!(ty.kind, TypeKind::Char | TypeKind::VarChar) || ty.length <= 512 {
        return;
    }
    (ty.kind, ty.length) = match u64::from(ty.length) * ty.collation.charset().max_len() as u64 {
        0..=0xffff => (TypeKind::Text, 0xffff),
        0x1_0000..=0xff_ffff => (TypeKind::MediumText, 0xff_ffff),
        _ => (TypeKind::LongText, u32::MAX),
    };
}

/// Type of a column created for a query's column; a result without a type becomes BINARY(0).
fn stored_type(output: &OutputColumn) -> SqlType {
    let computed = output.org_table.is_empty();
    let is_json = output.ty.json == JsonRole::Document;
    match output.ty.kind {
        TypeKind::Null => {
            let mut out = SqlType::new(TypeKind::Char, 0, 0);
            out.collation = CollationId::BINARY;
            out
        }
        // Compat: an empty string becomes CHAR, any other expression of type CHAR becomes VARCHAR.
        TypeKind::VarChar if computed && output.ty.length == 0 && !is_json => {
            SqlType { kind: TypeKind::Char, ..output.ty.clone() }
        }
        // The DECIMAL of a user variable has more digits than a column may have.
        TypeKind::Decimal if output.ty.length > 65 => SqlType { length: 65, ..output.ty.clone() },
        // A user variable is announced with less.
        TypeKind::LongText => SqlType { length: u32::MAX, ..output.ty.clone() },
        TypeKind::Char if computed && !output.kept => {
            SqlType { kind: TypeKind::VarChar, ..output.ty.clone() }
        }
        _ => output.ty.clone(),
    }
}

/// Starts the counter of a new table at `next`.
pub(super) fn set_auto_increment(
    instance: &Instance,
    table: &TableInfo,
    next: Option<u64>,
) -> SqlResult<()> {
    let Some(next) = next.filter(|n| *n > 0 && table.def.auto_increment.is_some()) else {
        return Ok(());
    };
    let (engine, trx) = begin_in(instance, table)?;
    let handle = instance.open_storage(table)?;
    handle.set_auto_increment(&*trx, next).map_err(|e| from_engine(e, &table.def))?;
    commit_now(&*engine, trx)
}
