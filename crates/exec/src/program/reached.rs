//! Tables that the functions and triggers of a statement may use, and those that they run in turn.
//!
//! Compat: MariaDB locks them all before the statement begins. Must not fail: what is wrong with a
//! program is an error where it runs.

use std::sync::Arc;

use hashbrown::HashSet;
use selkie_catalog::{RoutineForm, Snapshot, TableInfo, TableKind, Trigger};
use selkie_plan::physical::Plan;
use selkie_sql::ast::Statement;

use super::{compile, package};
use crate::Session;
use crate::query::execution::Scope;
use crate::state::packages;
use crate::state::programs::{Compiled, ReachedTable, Touched};

/// So many programs are followed. Those behind them lock their tables when they run.
const MOST_PROGRAMS: usize = 1000;

/// The tables of the functions and triggers that a plan may run.
pub(super) fn of_plan(scope: Scope<'_>, plan: &Plan) -> Vec<ReachedTable> {
    let snapshot = scope.instance.catalog.snapshot();
    let mut walk = Walk {
        scope,
        snapshot: &snapshot,
        waiting: Vec::new(),
        seen: HashSet::new(),
        tables: Vec::new(),
    };
    plan.uses.functions.iter().for_each(|(schema, name)| walk.function((schema, name)));
    plan.changes.triggers.iter().for_each(|trigger| walk.trigger(trigger));
    let mut count = 0;
    while let Some(program) = walk.waiting.pop() {
        count += 1;
        if count > MOST_PROGRAMS {
            break;
        }
        let touched = program.touched.get_or_init(|| Touched::of_body(&program.body));
        let setting = program.setting.as_ref();
        walk.names(touched, setting.map_or("", |setting| &setting.schema), program.key.package());
    }
    walk.tables
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

impl Walk<'_> {
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
        for (name, events) in &touched.tables {
            let schema = name.schema.as_ref().map_or(schema, |schema| &*schema.value);
            if let Ok(table) = self.scope.table(schema, &name.name.value) {
                self.table(table, events);
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

    fn table(&mut self, table: Arc<TableInfo>, events: &[&str]) {
        if let TableKind::View(view) = &table.kind {
            if self.seen.insert(Arc::as_ptr(&table).addr())
                && let Ok(Statement::Query(query)) = compile::parse(&view.select, 0)
            {
                let mut touched = Touched::of_query(*query);
                // The tables of a view that is changed are changed.
                let is_changed = !events.is_empty();
                let all: &[&str] = &["INSERT", "UPDATE", "DELETE"];
                touched.tables.iter_mut().filter(|_| is_changed).for_each(|(_, e)| *e = all);
                self.names(&touched, table.schema(), None);
            }
            return;
        }
        for trigger in self.snapshot.triggers(table.schema(), table.name()) {
            if events.contains(&&*trigger.event) {
                self.trigger(trigger);
            }
        }
        self.tables.push(ReachedTable { table, is_changed: !events.is_empty() });
    }
}
