//! Tables that the functions and triggers of a statement, or of the tables of LOCK TABLES, may use,
//! and those that they run in turn.
//!
//! Compat: MariaDB locks them all before the statement begins. Must not fail: what is wrong with a
//! program is an error where it runs.

use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::{ForeignKey, RoutineForm, Snapshot, TableInfo, TableKind, Trigger};
use selkie_plan::physical::Plan;
use selkie_sql::ast::Statement;
use selkie_types::stack;

use super::{compile, package};
use crate::Session;
use crate::query::execution::Scope;
use crate::state::packages;
use crate::state::programs::{Compiled, ReachedTable, Touched, TouchedTable};

/// So many programs are followed. Those behind them lock their tables when they run.
const MOST_PROGRAMS: usize = 1000;

/// All events of triggers.
const EVENTS: &[&str] = &["INSERT", "UPDATE", "DELETE"];

/// The tables of the functions and triggers that a plan may run.
pub(super) fn of_plan(scope: Scope<'_>, plan: &Plan) -> Vec<ReachedTable> {
    let snapshot = scope.instance.catalog.snapshot();
    let mut walk = Walk::new(scope, &snapshot);
    plan.uses.functions.iter().for_each(|(schema, name)| walk.function((schema, name)));
    plan.changes.triggers.iter().for_each(|trigger| walk.trigger(trigger));
    walk.end()
}

/// The tables that are used with these of LOCK TABLES, of which some are changed: by their
/// triggers, by the functions of views, and by foreign keys.
pub(crate) fn of_locks(scope: Scope<'_>, locked: &[(Arc<TableInfo>, bool)]) -> Vec<ReachedTable> {
    let snapshot = scope.instance.catalog.snapshot();
    let mut walk = Walk::new(scope, &snapshot);
    for (table, is_changed) in locked {
        match &table.kind {
            // The tables of its query are locked too, under the names that it gives them.
            TableKind::View(view) => {
                if let Ok(Statement::Query(query)) = compile::parse(&view.select, 0) {
                    let touched = Touched { tables: Vec::new(), ..Touched::of_query(*query) };
                    walk.names(&touched, table.schema(), None);
                }
            }
            _ if *is_changed => walk.changed(table),
            _ => {}
        }
    }
    walk.end()
}

struct Walk<'a> {
    scope: Scope<'a>,
    snapshot: &'a Snapshot,
    /// Programs whose names are still to be looked up.
    waiting: Vec<Arc<Compiled>>,
    /// Addresses of programs and views that were met.
    seen: HashSet<usize>,
    tables: Vec<ReachedTable>,
}

impl<'a> Walk<'a> {
    fn new(scope: Scope<'a>, snapshot: &'a Snapshot) -> Self {
        let (waiting, seen, tables) = (Vec::new(), HashSet::new(), Vec::new());
        Self { scope, snapshot, waiting, seen, tables }
    }

    /// Follows the programs that were met. Returns all tables that were met.
    fn end(mut self) -> Vec<ReachedTable> {
        let mut count = 0;
        while let Some(program) = self.waiting.pop() {
            count += 1;
            if count > MOST_PROGRAMS {
                break;
            }
            let touched = program.touched.get_or_init(|| Touched::of_body(&program.body));
            let setting = program.setting.as_ref();
            let schema = setting.map_or("", |setting| &setting.schema);
            self.names(touched, schema, program.key.package());
        }
        self.tables
    }

    /// Meets what any change of a table's rows comes to.
    fn changed(&mut self, table: &TableInfo) {
        let triggers = self.snapshot.triggers(table.schema(), table.name());
        triggers.iter().for_each(|trigger| self.trigger(trigger));
        for child in self.snapshot.children(table.schema(), table.name()) {
            let refers = |key: &&ForeignKey| key.refers_to(table.schema(), table.name());
            let mut keys = child.foreign_keys.iter().filter(refers);
            let is_changed = keys.any(ForeignKey::cascades);
            // The lowest bit of an address is free: a child may be met by keys of both kinds.
            if !self.seen.insert(Arc::as_ptr(child).addr() | usize::from(is_changed)) {
                continue;
            }
            let (table, alias) = (Arc::clone(child), child.name().into());
            self.tables.push(ReachedTable { table, alias, is_changed });
            if is_changed && stack::check().is_ok() {
                self.changed(child);
            }
        }
    }

    fn session(&self) -> &Session {
        self.scope.session
    }

    fn program(&mut self, program: Arc<Compiled>) {
        if self.seen.insert(Arc::as_ptr(&program).addr()) {
            self.waiting.push(program);
        }
    }

    fn routine(&mut self, form: RoutineForm, (schema, name): (&str, &str)) {
        let found = package::member(self.session(), self.snapshot, form, (schema, name));
        if let Ok(Some((program, _))) = found {
            return self.program(program);
        }
        let is_function = form == RoutineForm::Function;
        if let Some(routine) = self.snapshot.routine(schema, is_function, name)
            && let Ok(program) = compile::routine(self.session(), routine)
        {
            self.program(program);
        }
    }

    fn function(&mut self, name: (&str, &str)) {
        self.routine(RoutineForm::Function, name);
    }

    fn trigger(&mut self, trigger: &Arc<Trigger>) {
        if let Ok(program) = compile::trigger(self.session(), trigger) {
            self.program(program);
        }
    }

    /// Looks up the names in a text whose names without a schema are of `schema`, or of a package.
    fn names(&mut self, touched: &Touched, schema: &str, package: Option<(&str, &str)>) {
        for TouchedTable { name, alias, events } in &touched.tables {
            let schema = name.schema.as_ref().map_or(schema, |schema| &*schema.value);
            if let Ok(table) = self.scope.table(schema, &name.name.value) {
                let alias = alias.clone().unwrap_or_else(|| table.name().into());
                self.table(table, alias, events);
            }
        }
        let functions = touched.functions.iter().map(|name| (RoutineForm::Function, name));
        let procedures = touched.procedures.iter().map(|name| (RoutineForm::Procedure, name));
        for (form, (written, name)) in functions.chain(procedures) {
            let wanted = (written.as_deref(), &**name);
            if let (None, Some((schema, package))) = (written, package) {
                self.routine(form, (schema, &format!("{package}.{name}")));
            }
            match packages::resolve(self.session(), self.snapshot, form, wanted) {
                Ok(Some((schema, name))) => self.routine(form, (&schema, &name)),
                _ => self.routine(form, (wanted.0.unwrap_or(schema), name)),
            }
        }
    }

    fn table(&mut self, table: Arc<TableInfo>, alias: Box<str>, events: &[&str]) {
        let is_changed = !events.is_empty();
        if let TableKind::View(view) = &table.kind {
            if self.seen.insert(Arc::as_ptr(&table).addr())
                && let Ok(Statement::Query(query)) = compile::parse(&view.select, 0)
            {
                let mut touched = Touched::of_query(*query);
                // The tables of a view that is changed are changed.
                touched.tables.iter_mut().filter(|_| is_changed).for_each(|t| t.events = EVENTS);
                self.names(&touched, table.schema(), None);
            }
            return self.tables.push(ReachedTable { table, alias, is_changed });
        }
        for trigger in self.snapshot.triggers(table.schema(), table.name()) {
            if events.contains(&&*trigger.event) {
                self.trigger(trigger);
            }
        }
        self.tables.push(ReachedTable { table, alias, is_changed });
    }
}
