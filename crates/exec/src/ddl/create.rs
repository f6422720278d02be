//! CREATE TABLE in its three forms.

use std::sync::Arc;

use selkie_catalog::{ColumnInfo, DefaultValue, Namespace, Snapshot, TableInfo, TableKind};
use selkie_plan::define::{define_like, define_selected, define_table, selected_column};
use selkie_plan::physical::OutputColumn;
use selkie_sql::ast::{
    ColumnRef, CreateSelect, CreateSource, CreateTable, Ident, Insert, InsertSource, OnDuplicate,
    Query, Statement, TableElement, TableName,
};
use selkie_types::error::catalogue::{
    ER_IT_IS_A_VIEW, ER_TABLE_EXISTS_ERROR, ER_TABLE_NOT_LOCKED, ER_WRONG_OBJECT,
};
use selkie_types::{CollationId, Condition, SqlError, SqlResult, SqlType, TypeKind};

use super::Ddl;
use super::change::{
    Change, begin_in, commit_now, create_storage_now, drop_storage_now, is_temporary, with_new_id,
};
use crate::dml::implicit_default;
use crate::error::from_engine;
use crate::session::Privilege;
use crate::{Instance, NullSink, Outcome, execute_statement, planning};

impl Ddl<'_> {
    pub(super) fn create_table(&mut self, create: &CreateTable) -> SqlResult<Outcome> {
        let (schema, name) = self.resolve(&create.name)?;
        let privilege =
            if create.temporary { Privilege::CreateTemporary } else { Privilege::Create };
        self.check(privilege, &schema, name)?;
        if let CreateSource::Like(source) = &create.source {
            let (schema, name) = self.resolve(source)?;
            let known = schema.eq_ignore_ascii_case("information_schema")
                || self.session.temporary.get(&schema, name).is_some();
            if !known {
                self.check(Privilege::Select, &schema, name)?;
            }
        }
        self.check_new_defaults(create)?;
        if !create.temporary {
            self.check_path(&schema, name)?;
            self.check_listed(&schema, name)?;
            self.session.commit()?;
            // What exists is not waited for.
            let snapshot = self.instance.catalog.snapshot();
            if !create.or_replace && self.exists(&snapshot, create, &schema, name) {
                return self.already(create, name);
            }
        }
        let _lock = (!create.temporary).then(|| self.lock(&schema, name)).transpose()?;
        let _parents = self.lock_parents_of_create(create)?;
        let snapshot = self.instance.catalog.snapshot();
        if snapshot.schema(&schema).is_none() {
            return Err(SqlError::unknown_database(&schema));
        }
        if self.exists(&snapshot, create, &schema, name) {
            if create.if_not_exists || !create.or_replace {
                return self.already(create, name);
            }
            if !create.temporary {
                let view = |t: &Arc<TableInfo>| matches!(t.kind, TableKind::View(_));
                if snapshot.table(&schema, name).is_some_and(view) {
                    return Err(SqlError::new(&ER_IT_IS_A_VIEW, &[&format!("{schema}.{name}")]));
                }
                self.check_unreferenced((&schema, name), None)?;
            }
            self.drop_one(&schema, name, create.temporary)?;
        }
        let snapshot = self.instance.catalog.snapshot();
        let mut like = None;
        let (table, next) = match &create.source {
            CreateSource::Like(source) => {
                let (table, original) = self.like(&snapshot, create, source, &schema)?;
                like = Some(original);
                (table, None)
            }
            CreateSource::Elements(_) => {
                let table = self.with_context(&snapshot, |c| define_table(c, create, &schema));
                self.explain_foreign(name, table)?
            }
        };
        match &create.select {
            Some(_) => self.create_selected(create, table, next),
            None => {
                let table = with_new_id(self.instance, table)?;
                self.check_sequence(&table)?;
                self.create_storage(&table, next)?;
                self.begin_sequence(&table, like.as_deref())?;
                self.publish_table(table)?;
                Ok(Outcome::ok())
            }
        }
    }

    /// The answer where there is a table of the name already.
    fn already(&self, create: &CreateTable, name: &str) -> SqlResult<Outcome> {
        if !create.if_not_exists {
            return Err(SqlError::new(&ER_TABLE_EXISTS_ERROR, &[&name]));
        }
        self.note(Condition::note(&ER_TABLE_EXISTS_ERROR, &[&name]));
        Ok(Outcome::ok())
    }

    /// Fails unless the account may take the numbers that the columns' defaults name.
    fn check_new_defaults(&self, create: &CreateTable) -> SqlResult<()> {
        let CreateSource::Elements(elements) = &create.source else { return Ok(()) };
        self.check_defaults(elements.iter().filter_map(|element| match element {
            TableElement::Column(column) => Some(&**column),
            _ => None,
        }))
    }

    fn exists(&self, snapshot: &Snapshot, create: &CreateTable, schema: &str, name: &str) -> bool {
        match create.temporary {
            true => self.session.temporary.get(schema, name).is_some(),
            false => snapshot.table(schema, name).is_some(),
        }
    }

    fn like(
        &self,
        snapshot: &Snapshot,
        create: &CreateTable,
        source: &TableName,
        schema: &str,
    ) -> SqlResult<(TableInfo, Arc<TableInfo>)> {
        let (source_schema, source_name) = self.resolve(source)?;
        let source = self.base_table(snapshot, &source_schema, source_name)?;
        if self.session.locked_tables.is_some()
            && source.kind == TableKind::Base
            && self.session.lock_of(source.schema(), source.name()).is_none()
        {
            return Err(SqlError::new(&ER_TABLE_NOT_LOCKED, &[&source.name()]));
        }
        if source.engine.is_empty() || matches!(source.kind, TableKind::View(_)) {
            let arguments: [&dyn std::fmt::Display; 3] =
                [&source_schema, &source_name, &"BASE TABLE"];
            return Err(SqlError::new(&ER_WRONG_OBJECT, &arguments));
        }
        let name = &create.name.name.value;
        let made = self
            .with_context(snapshot, |c| define_like(c, &source, schema, name, create.temporary))?;
        Ok((made, source))
    }

    /// Storage for a complete definition, not yet published.
    pub(super) fn create_storage(&self, table: &TableInfo, next: Option<u64>) -> SqlResult<()> {
        create_storage_now(self.instance, table)?;
        set_auto_increment(self.instance, table, next)
    }

    /// Makes a table whose storage is complete known.
    pub(super) fn publish_table(&mut self, table: TableInfo) -> SqlResult<()> {
        if is_temporary(&table) {
            self.session.temporary.put(Arc::new(table));
            return Ok(());
        }
        let change = Change::begin(self.instance)?;
        change.put_table(&table)?;
        change.commit(|snapshot| snapshot.put_table(Arc::new(table)))
    }

    /// The column made of a column of a query. One of a table keeps its default and comment.
    fn selected(&self, snapshot: &Snapshot, output: &OutputColumn) -> ColumnInfo {
        let mut new = selected_column(&output.name, stored_type(output), output.nullable);
        let names = Namespace { snapshot, temporary: &self.session.temporary };
        let source = names.table(&output.schema, &output.org_table);
        let source = source.filter(|t| matches!(t.kind, TableKind::Base | TableKind::Temporary));
        let Some((source, at)) =
            source.and_then(|t| t.column_position(&output.org_name).map(|at| (t, at)))
        else {
            return new;
        };
        let column = &source.columns[at];
        new.comment = column.comment.clone();
        if column.generated.is_some() {
            return new;
        }
        new.on_update_now = column.on_update_now;
        new.default = match column.auto_increment {
            true => DefaultValue::Literal(implicit_default(&column.ty)),
            false => column.default.clone(),
        };
        new
    }

    /// CREATE TABLE ... SELECT: the rows are copied into storage nobody knows (DDL-2).
    fn create_selected(
        &mut self,
        create: &CreateTable,
        table: TableInfo,
        next: Option<u64>,
    ) -> SqlResult<Outcome> {
        let Some(select) = &create.select else { return Ok(Outcome::ok()) };
        let output = self.query_columns(&select.query)?;
        if !create.temporary {
            self.session.commit()?;
        }
        let snapshot = self.instance.catalog.snapshot();
        let selected: Vec<_> = output.iter().map(|c| self.selected(&snapshot, c)).collect();
        let table = self.with_context(&snapshot, |c| define_selected(c, create, &table, selected));
        let table = self
            .explain_foreign(&create.name.name.value, table)
            .and_then(|table| with_new_id(self.instance, table))?;
        self.check_sequence(&table)?;
        self.create_storage(&table, next)?;
        let columns = output.iter().map(|c| ColumnRef::bare(Ident::new(&*c.name))).collect();
        let result = self.insert_selected(&table, columns, select);
        match result {
            Ok(outcome) => {
                self.publish_table(table)?;
                Ok(outcome)
            }
            Err(error) => {
                let engine = self.instance.engine(&table.engine)?;
                drop_storage_now(&**engine, table.def.id)?;
                Err(error)
            }
        }
    }
}

impl Ddl<'_> {
    /// The columns of a query's result.
    pub(super) fn query_columns(&mut self, query: &Query) -> SqlResult<Vec<OutputColumn>> {
        let statement = Statement::Query(Box::new(query.clone()));
        let types: Vec<SqlType> = self.values.iter().map(|(_, ty)| ty.clone()).collect();
        let parameters = (&types[..], types.len());
        let plan = planning::plan(self.instance, self.session, &statement, self.text, parameters)?;
        Ok(plan.output.to_vec())
    }

    /// Inserts a query's rows into a table that only this session knows, under its name, meanwhile.
    fn insert_selected(
        &mut self,
        table: &TableInfo,
        columns: Vec<ColumnRef>,
        select: &CreateSelect,
    ) -> SqlResult<Outcome> {
        // Under a name that the query cannot use: it may read a table of this name.
        let key = format!("#new {}", table.name());
        let name = TableName { schema: Some(Ident::new(table.schema())), name: Ident::new(&*key) };
        let insert = Statement::Insert(Box::new(Insert {
            replace: select.duplicates == OnDuplicate::Replace,
            priority: None,
            ignore: select.duplicates == OnDuplicate::Ignore,
            table: name,
            partitions: Vec::new(),
            columns: Some(columns),
            source: InsertSource::Query(Box::new(select.query.clone())),
            on_duplicate: Vec::new(),
            returning: Vec::new(),
        }));
        let own = TableInfo { kind: TableKind::Temporary, ..table.clone() };
        self.session.temporary.put_as(&key, Arc::new(own));
        let (instance, text, values) = (self.instance, self.text, self.values);
        let sink = &mut NullSink;
        let said = self.session.diagnostics.present();
        let result = execute_statement(instance, self.session, &insert, text, values, sink);
        self.session.diagnostics.put_first(said, self.session.settings.max_error_count);
        self.session.temporary.remove(table.schema(), &key);
        let outcome = result.inspect_err(|_| self.session.diagnostics.take_error())?;
        if !is_temporary(table) {
            self.session.commit()?;
        }
        Ok(outcome)
    }
}

/// The type of a column made from a query's column: results without a type become BINARY(0).
fn stored_type(output: &OutputColumn) -> SqlType {
    let computed = output.org_table.is_empty();
    match output.ty.kind {
        TypeKind::Null => {
            let mut out = SqlType::new(TypeKind::Char, 0, 0);
            out.collation = CollationId::BINARY;
            out
        }
        // Compat: the empty text is a CHAR, any other result of an expression a VARCHAR.
        TypeKind::VarChar if computed && output.ty.length == 0 && !output.nullable => {
            SqlType { kind: TypeKind::Char, ..output.ty.clone() }
        }
        // A variable's decimal has more digits than a column may have.
        TypeKind::Decimal if output.ty.length > 65 => SqlType { length: 65, ..output.ty.clone() },
        TypeKind::Char if computed => SqlType { kind: TypeKind::VarChar, ..output.ty.clone() },
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
    let handle = engine.open_table(&table.def).map_err(|e| from_engine(e, &table.def))?;
    handle.set_auto_increment(&*trx, next).map_err(|e| from_engine(e, &table.def))?;
    commit_now(&*engine, trx)
}
