//! Plans of INSERT, UPDATE and DELETE around the plan of their source rows. A source that could
//! read its own changes must be materialized first.

use std::sync::Arc;

use selkie_catalog::{TableInfo, TableKind, Trigger};
use selkie_expr::Expr;
use selkie_types::{SqlMode, SqlResult, Value};

use super::foreign::{Changes, foreign_tables, with_generated};
use super::{Draft, PlanContext, portion};
use crate::bind::{
    Binder, BoundDelete, BoundInsert, BoundPortion, BoundTarget, BoundUpdate, BoundView, Known,
    Meaning, Named, resolve,
};
use crate::build::place;
use crate::logical::{ColumnId, ColumnSet, Logical, RelationId};
use crate::physical::{
    Access, Assignment, ColumnType, ComputedColumns, Delete, DeleteTarget, DuplicateUpdate,
    ForeignTables, Insert, InsertMode, Operator, OutputColumn, OwnValue, Plan, PlanNode,
    RowChanges, Update, UpdateTarget, ViewRules,
};

pub(super) fn insert(
    mut bound: BoundInsert,
    mut draft: Draft,
    context: &PlanContext<'_>,
) -> SqlResult<Plan> {
    let table = bound.table.clone();
    let checks = bound.view.iter().flat_map(|v| &v.check).map(|c| c.condition.clone());
    draft.row_exprs.checks.extend(checks);
    draft.row_exprs.assigned = std::mem::take(&mut bound.on_duplicate);
    draft.row_exprs.returned = std::mem::take(&mut bound.returning);
    draft.row_exprs.own = std::mem::take(&mut bound.own.values);
    draft.settle_rows(&table)?;
    let mut done = draft.finish(bound.source, &bound.source_columns, context);
    let mut made = std::mem::take(&mut done.draft.row_exprs);
    place_own(&mut made.own, bound.own.first, &table);
    let view = bound.view.map(|view| inserted_view(view, &table, made.checks, &done.draft));
    let mut node = done.root.node.clone();
    if reads(&node, &table) {
        node = materialized(node);
    }
    let mut updated = made.assigned.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    let updated_empty = updated.is_empty();
    if !updated_empty {
        updated.extend(updated_now(&table));
        updated.extend(set_by_triggers(&table, context));
        updated = with_generated(&table, updated);
    }
    let deleted = bound.mode == InsertMode::Replace;
    let changes = Changes { inserted: true, deleted, updated };
    let foreign = foreign_tables(vec![(table.clone(), changes)], context)?;
    let on_duplicate = bound.rows.map(|(existing, new)| {
        let width = table.columns.len();
        let layout: Vec<ColumnId> = (existing..existing + width)
            .chain(new..new + width)
            .chain(bound.source_columns.iter().copied())
            .collect();
        let simultaneous = context.types.sql_mode.contains(SqlMode::SIMULTANEOUS_ASSIGNMENT);
        DuplicateUpdate { assignments: placed(&made.assigned, &layout), simultaneous }
    });
    let (returning, output) = returned(&made.returned, bound.returning_first, &table, &done.draft);
    let insert = Insert {
        table: table.clone(),
        is_query: bound.is_query,
        values: bound.values,
        own: made.own,
        default_flags: bound.default_flags,
        mode: bound.mode,
        on_duplicate,
        rules: bound.rules,
        parts: bound.parts,
        view,
        returning,
        on_update_now: updated_now(&table)
            .into_iter()
            .filter(|at| made.assigned.iter().all(|(assigned, _)| assigned != at))
            .collect(),
        source: node,
    };
    let rows = insert.source.rows;
    let cost = insert.source.cost;
    let operator = Operator::Insert(Box::new(insert));
    let events: &[&str] = match (deleted, !updated_empty) {
        (true, _) => &["INSERT", "DELETE"],
        (_, true) => &["INSERT", "UPDATE"],
        _ => &["INSERT"],
    };
    let triggers = triggers(&table, events, context);
    let changes = with_triggers(triggers);
    Ok(Plan { foreign, changes, ..wrap(done, operator, rows, cost, output) })
}

/// Gives values that read the new row the positions of its columns; the number of the first column
/// is `first`.
fn place_own(own: &mut [OwnValue], first: ColumnId, table: &TableInfo) {
    let row: Vec<ColumnId> = (first..first + table.columns.len()).collect();
    let values = own.iter_mut().flat_map(|own| &mut own.values);
    values.for_each(|value| *value = place(value, &row));
}

impl Draft {
    /// Columns read by the expressions of a plan, including their subqueries.
    fn columns_read(&self, plan: &Logical) -> ColumnSet {
        let mut read = ColumnSet::default();
        plan.for_each_expr_deep(&mut |e| read.union(&self.outer_columns(e)));
        read
    }

    /// Drops computed columns of the target tables that an UPDATE does not read.
    fn compute_updated(
        &mut self,
        source: &Logical,
        targets: &[BoundTarget],
        context: &PlanContext<'_>,
    ) {
        let mut read = self.columns_read(source);
        for (_, value) in targets.iter().flat_map(|t| &t.assignments) {
            value.iter().for_each(|e| read.add_expr(e));
        }
        self.row_exprs.checks.iter().for_each(|check| read.union(&self.outer_columns(check)));
        for target in targets {
            self.compute_changed(target.relation, &["UPDATE"], &read, context);
        }
    }

    /// Drops computed columns of the target tables that a DELETE does not read.
    fn compute_deleted(
        &mut self,
        source: &Logical,
        targets: &[(RelationId, ColumnId)],
        (returning, returning_first): (&[(Named, Expr)], ColumnId),
        context: &PlanContext<'_>,
    ) {
        let mut read = self.columns_read(source);
        if let Some((relation, _)) = targets.first() {
            let first = self.columns.relations[*relation].first;
            let mut add = |id| read.insert(id - returning_first + first);
            returning.iter().for_each(|(_, e)| e.for_each_column(&mut add));
        }
        for (relation, _) in targets {
            self.compute_changed(*relation, &["DELETE"], &read, context);
        }
    }

    /// Drops computed columns of a changed table that neither `read` nor the change itself needs.
    fn compute_changed(
        &mut self,
        relation: RelationId,
        events: &[&str],
        read: &ColumnSet,
        context: &PlanContext<'_>,
    ) {
        let info = &mut self.columns.relations[relation];
        if info.computed.is_empty() {
            return;
        }
        let mut read = read.clone();
        let triggers = triggers(&info.table, events, context);
        for (at, column) in info.table.columns.iter().enumerate() {
            if triggers.iter().any(|trigger| trigger.may_name(&column.name)) {
                read.insert(info.first + at);
            }
        }
        info.compute_only(&read);
    }
}

/// Changes of rows with these triggers.
/// A table that is changed under two aliases has its triggers once.
fn with_triggers(mut triggers: Vec<Arc<Trigger>>) -> RowChanges {
    let mut seen: Vec<*const Trigger> = Vec::with_capacity(triggers.len());
    triggers.retain(|trigger| {
        let is_new = !seen.contains(&Arc::as_ptr(trigger));
        seen.push(Arc::as_ptr(trigger));
        is_new
    });
    RowChanges { triggers, computed: Vec::new() }
}

/// The changed tables that have columns which are computed when rows are read.
pub(super) fn computed(plan: &Plan, context: &PlanContext<'_>) -> SqlResult<Vec<ComputedColumns>> {
    let tables: Vec<&Arc<TableInfo>> = match &plan.root.operator {
        Operator::Insert(insert) => vec![&insert.table],
        Operator::Update(update) => update.targets.iter().map(|t| &t.table).collect(),
        Operator::Delete(delete) => delete.targets.iter().map(|t| &t.table).collect(),
        _ => return Ok(Vec::new()),
    };
    computed_columns(&tables, context)
}

/// Those of `tables` that have columns which are computed when rows are read.
pub(super) fn computed_columns(
    tables: &[&Arc<TableInfo>],
    context: &PlanContext<'_>,
) -> SqlResult<Vec<ComputedColumns>> {
    let is_computed =
        |table: &&Arc<TableInfo>| (0..table.columns.len()).any(|at| table.is_computed(at));
    let names = context.names();
    let of = |table: &Arc<TableInfo>| {
        let mut binder = Binder::new(names, context.settings, context.types, 0);
        let columns = binder.computed_columns(table)?;
        Ok(ComputedColumns { table: Arc::clone(table), columns })
    };
    tables.iter().copied().filter(is_computed).map(of).collect()
}

/// Triggers of a table for the given events.
pub(super) fn triggers(
    table: &TableInfo,
    events: &[&str],
    context: &PlanContext<'_>,
) -> Vec<Arc<Trigger>> {
    if table.kind != TableKind::Base {
        return Vec::new();
    }
    let all = context.tables.snapshot.triggers(table.schema(), table.name());
    all.iter().filter(|t| events.contains(&&*t.event)).cloned().collect()
}

/// Columns to which triggers may assign in an UPDATE that does not name them.
fn set_by_triggers(table: &TableInfo, context: &PlanContext<'_>) -> Vec<usize> {
    let triggers = triggers(table, &["UPDATE"], context);
    let columns = table.columns.iter().enumerate();
    let named = columns.filter(|(_, c)| triggers.iter().any(|trigger| trigger.may_name(&c.name)));
    named.map(|(at, _)| at).collect()
}

/// The view of an INSERT. Other tables of a join view have no row yet, so their columns are NULL.
fn inserted_view(
    view: BoundView,
    table: &TableInfo,
    checks: Vec<Expr>,
    draft: &Draft,
) -> Box<ViewRules> {
    let own = view.first..view.first + table.columns.len();
    let condition = checks.into_iter().next().map(|mut condition| {
        resolve(&mut condition, &view.meaning);
        condition.substitute_columns(&mut |id| {
            let ty = &draft.columns.get(id).ty;
            (!own.contains(&id)).then(|| Expr::literal(Value::Null, ty.clone()))
        });
        selkie_expr::cast::to_condition(&mut condition);
        place(&condition, &own.clone().collect::<Vec<ColumnId>>())
    });
    Box::new(ViewRules {
        schema: view.schema,
        name: view.name,
        condition,
        shows_auto_increment: view.shows_auto_increment,
    })
}

fn placed(list: &[(usize, Option<Expr>)], layout: &[ColumnId]) -> Vec<Assignment> {
    let assignment = |(column, value): &(usize, Option<Expr>)| Assignment {
        column: *column,
        value: value.as_ref().map(|e| place(e, layout)),
    };
    list.iter().map(assignment).collect()
}

fn updated_now(table: &TableInfo) -> Vec<usize> {
    let columns = table.columns.iter().enumerate();
    columns.filter(|(_, c)| c.on_update_now).map(|(at, _)| at).collect()
}

/// RETURNING over the table's row, with its result columns.
fn returned(
    list: &[(Named, Expr)],
    first: ColumnId,
    table: &TableInfo,
    draft: &Draft,
) -> (Vec<Expr>, Vec<OutputColumn>) {
    let layout: Vec<ColumnId> = (first..first + table.columns.len()).collect();
    let mut exprs = Vec::with_capacity(list.len());
    let mut output = Vec::with_capacity(list.len());
    for (named, expr) in list {
        exprs.push(place(expr, &layout));
        let ty = ColumnType { ty: expr.ty.clone(), nullable: expr.nullable };
        output.push(named.output(&draft.columns, &ty, Known::Nothing));
    }
    (exprs, output)
}

fn wrap(
    done: super::Done,
    operator: Operator,
    rows: f64,
    cost: f64,
    output: Vec<OutputColumn>,
) -> Plan {
    let columns =
        output.iter().map(|c| ColumnType { ty: c.ty.clone(), nullable: c.nullable }).collect();
    let mut plan = done.into_plan(output);
    plan.root = PlanNode::new(operator, columns, rows, cost);
    plan
}

fn materialized(node: PlanNode) -> PlanNode {
    let (columns, rows, cost) = (node.columns.clone(), node.rows, node.cost);
    PlanNode::new(Operator::Materialize(Box::new(node)), columns, rows, cost)
}

/// Whether a plan reads `table`.
fn reads(node: &PlanNode, table: &TableInfo) -> bool {
    let mut found = false;
    node.visit(&mut |n| {
        found |= match &n.operator {
            Operator::TableScan(scan) => scan.table.def.id == table.def.id,
            Operator::IndexJoin(join) => join.lookup.table.def.id == table.def.id,
            _ => false,
        }
    });
    found
}

/// Notes what views check, and adds the columns that they read.
fn add_checks(
    targets: &[BoundTarget],
    meaning: &Meaning,
    draft: &mut Draft,
    ids: &mut Vec<ColumnId>,
) -> SqlResult<()> {
    for check in targets.iter().flat_map(|t| &t.check) {
        let mut condition = check.condition.clone();
        resolve(&mut condition, meaning);
        super::refuse_rank(&condition)?;
        draft.row_exprs.checks.push(condition.clone());
        let outer = draft.outer_columns(&condition);
        ids.extend(outer.iter().filter(|c| !ids.contains(c)).collect::<Vec<_>>());
    }
    Ok(())
}

pub(super) fn update(
    bound: BoundUpdate,
    mut draft: Draft,
    context: &PlanContext<'_>,
) -> SqlResult<Plan> {
    let BoundUpdate { source, mut targets, ignore, multiple, ordered, meaning } = bound;
    let (source, mut ids) = update_source(source, &mut targets, &mut draft);
    let has_portion = targets.iter().any(|target| target.portion.is_some());
    targets.iter().flat_map(|t| &t.portion).for_each(|p| portion::add_columns(p, &mut ids));
    add_checks(&targets, &meaning, &mut draft, &mut ids)?;
    let mut known: ColumnSet = ids.iter().copied().collect();
    for (_, value) in targets.iter().flat_map(|target| &target.assignments) {
        for id in value.iter().flat_map(Expr::columns).filter(|id| !known.contains(*id)) {
            ids.push(id);
        }
        known.union(&value.iter().flat_map(Expr::columns).collect());
    }
    draft.compute_updated(&source, &targets, context);
    let simultaneous =
        multiple || context.types.sql_mode.contains(SqlMode::SIMULTANEOUS_ASSIGNMENT);
    let done = draft.finish(source, &ids, context);
    let mut node = done.root.node.clone();
    let inserts = has_portion && portion::may_meet(&node);
    let moves = targets.iter().any(|t| moves_rows(&node, t, &done.draft));
    let finds_first = !multiple && (ordered || moves);
    if multiple || inserts || moves {
        node = materialized(node);
    }
    let mut conditions = done.draft.row_exprs.checks.clone().into_iter();
    let made = targets.iter().map(|target| {
        let view = target.check.as_ref().map(|check| {
            let condition = conditions.next().map(|mut condition| {
                resolve(&mut condition, &meaning);
                selkie_expr::cast::to_condition(&mut condition);
                place(&condition, &ids)
            });
            let (schema, name) = (check.schema.clone(), check.view.clone());
            Box::new(ViewRules { schema, name, condition, shows_auto_increment: true })
        });
        let table = done.draft.columns.relations[target.relation].table.clone();
        let first = done.draft.columns.relations[target.relation].first;
        let at = ids.iter().position(|id| *id == first).unwrap_or(0);
        let assigned: Vec<usize> = target.assignments.iter().map(|(c, _)| *c).collect();
        let parts = done.draft.columns.relations[target.relation].parts.clone();
        let portion = target.portion.as_ref();
        UpdateTarget {
            portion: portion.map(|p| portion::planned(p, &table, &ids, parts.as_ref())),
            key: ids.iter().position(|id| *id == target.key).unwrap_or(0),
            columns: at..at + table.columns.len(),
            assignments: placed(&target.assignments, &ids),
            on_update_now: updated_now(&table)
                .into_iter()
                .filter(|c| !assigned.contains(c))
                .collect(),
            rules: target.rules.clone(),
            parts,
            view,
            table,
        }
    });
    let targets: Vec<UpdateTarget> = made.collect();
    let foreign = foreign_tables(targets.iter().map(|t| updates(t, context)).collect(), context)?;
    let events = portion::events("UPDATE", targets.iter().find_map(|t| t.portion.as_ref()));
    let set_off = targets.iter().flat_map(|t| triggers(&t.table, &events, context));
    let changes = with_triggers(set_off.collect());
    let (rows, cost) = (node.rows, node.cost);
    let update = Update { source: node, targets, ignore, multiple, finds_first, simultaneous };
    let operator = Operator::Update(Box::new(update));
    Ok(Plan { foreign, changes, ..wrap(done, operator, rows, cost, Vec::new()) })
}

fn updates(target: &UpdateTarget, context: &PlanContext<'_>) -> (Arc<TableInfo>, Changes) {
    let assigned = target.assignments.iter().map(|a| a.column);
    let mut updated: Vec<usize> = assigned.chain(target.on_update_now.iter().copied()).collect();
    updated.extend(set_by_triggers(&target.table, context));
    let inserted = target.portion.is_some();
    updated.extend(target.portion.iter().flat_map(|portion| [portion.start, portion.end]));
    let updated = with_generated(&target.table, updated);
    (target.table.clone(), Changes { updated, inserted, ..Changes::default() })
}

/// The source of an UPDATE with its columns: for each target all its columns, then its key. Values
/// that contain subqueries are computed by the source.
fn update_source(
    source: Logical,
    targets: &mut [BoundTarget],
    draft: &mut Draft,
) -> (Logical, Vec<ColumnId>) {
    let mut ids: Vec<ColumnId> = Vec::new();
    for target in targets.iter() {
        let info = &draft.columns.relations[target.relation];
        ids.extend(info.first..info.first + info.table.columns.len());
        ids.push(target.key);
    }
    let mut values: Vec<&mut Expr> = Vec::new();
    for target in targets.iter_mut() {
        values.extend(target.assignments.iter_mut().filter_map(|(_, value)| value.as_mut()));
        values.extend(target.portion.iter_mut().flat_map(|portion| portion.exprs_mut()));
    }
    (portion::computed_by_source(source, values, draft), ids)
}

/// Whether an UPDATE can move rows so that its own scan finds them again: it changes parts of the
/// index it scans, or of the clustered key.
fn moves_rows(node: &PlanNode, target: &BoundTarget, draft: &Draft) -> bool {
    let table = &draft.columns.relations[target.relation].table;
    let mut changed: Vec<usize> = target.assignments.iter().map(|(c, _)| *c).collect();
    changed.extend(updated_now(table));
    changed.extend(target.rules.generated.iter().map(|(c, _)| *c));
    // A current row's end never changes.
    let starts = target.rules.bounds.iter().copied();
    changed.extend(starts.filter(|at| table.columns[*at].system.is_start()));
    let parts_changed =
        |index: usize| table.def.indexes[index].parts.iter().any(|p| changed.contains(&p.column));
    let clustered = table.def.primary().is_some() && parts_changed(0);
    let routed = |partitions: &std::sync::Arc<selkie_catalog::Partitioning>| {
        changed.iter().any(|at| partitions.reads(table, *at))
    };
    // A row that goes to another leaf may be read there again.
    let moves_leaf = table.partitions.as_ref().is_some_and(routed);
    let mut moves = clustered || moves_leaf;
    node.visit(&mut |n| {
        moves |= match &n.operator {
            Operator::TableScan(scan) => match &scan.access {
                Access::Index(range) if scan.table.def.id == table.def.id => {
                    !range.unique && parts_changed(range.index)
                }
                _ => false,
            },
            Operator::IndexJoin(_) | Operator::HashJoin(_) | Operator::NestedLoopJoin(_) => true,
            _ => false,
        }
    });
    let unique = matches!(&node.operator, Operator::TableScan(scan)
        if matches!(&scan.access, Access::Index(range) if range.unique));
    moves && !unique
}

/// Foreign keys of the tables from which rows are deleted.
fn foreign_of_deleted(
    targets: &[(RelationId, ColumnId)],
    portion: Option<&BoundPortion>,
    draft: &Draft,
    context: &PlanContext<'_>,
) -> SqlResult<ForeignTables> {
    let tables = targets.iter().map(|(at, _)| draft.columns.relations[*at].table.clone());
    let gone = |table: Arc<TableInfo>| {
        let mut changes = Changes { deleted: true, ..Changes::default() };
        if let Some(portion) = portion {
            let mut updated = vec![portion.period.start, portion.period.end];
            updated.extend(table.def.auto_increment);
            changes.inserted = true;
            changes.updated = with_generated(&table, updated);
        }
        (table, changes)
    };
    foreign_tables(tables.map(gone).collect(), context)
}

/// Removes LIMIT.
fn without_limit(source: Logical) -> (Logical, Option<Expr>) {
    match source {
        Logical::Limit { input, cut } => (*input, cut.limit),
        source => (source, None),
    }
}

/// Whether all columns of a deleted row are needed, whatever else the statement does.
fn deletes_whole_rows(
    table: &TableInfo,
    foreign: &ForeignTables,
    context: &PlanContext<'_>,
) -> bool {
    matches!(table.kind, TableKind::System)
        || foreign.of(table.def.id).is_some()
        || !triggers(table, &["DELETE"], context).is_empty()
}

pub(super) fn delete(
    bound: BoundDelete,
    mut draft: Draft,
    context: &PlanContext<'_>,
) -> SqlResult<Plan> {
    let BoundDelete { source, targets, mut portion, ignore, multiple, .. } = bound;
    let BoundDelete { history: purges_history, returning, returning_first, all_rows, .. } = bound;
    let deleted = if purges_history { &[][..] } else { &targets[..] };
    let foreign = foreign_of_deleted(deleted, portion.as_ref(), &draft, context)?;
    let related =
        |(at, _): &(RelationId, _)| foreign.of(draft.columns.relations[*at].table.def.id).is_some();
    // Rows that cannot be deleted do not count towards LIMIT.
    let (source, limit) = match ignore && targets.iter().any(related) {
        true => without_limit(source),
        false => (source, None),
    };
    let parts = portion.iter_mut().flat_map(BoundPortion::exprs_mut).collect();
    let source = portion::computed_by_source(source, parts, &mut draft);
    let mut ids: Vec<ColumnId> = Vec::new();
    draft.compute_deleted(&source, &targets, (&returning, returning_first), context);
    for (relation, key) in &targets {
        let info = &draft.columns.relations[*relation];
        let is_whole = deletes_whole_rows(&info.table, &foreign, context);
        if is_whole || portion.is_some() || !returning.is_empty() {
            ids.extend(info.first..info.first + info.table.columns.len());
        }
        ids.push(*key);
    }
    portion.iter().for_each(|portion| portion::add_columns(portion, &mut ids));
    let several = draft.columns.relations.len() > 1;
    draft.row_exprs.returned = returning;
    let table = targets.first().map(|(at, _)| draft.columns.relations[*at].table.clone());
    table.map_or(Ok(()), |table| draft.settle_rows(&table))?;
    let done = draft.finish(source, &ids, context);
    let mut node = done.root.node.clone();
    if several || portion.is_some() && portion::may_meet(&node) {
        node = materialized(node);
    }
    let made = targets.iter().map(|(relation, key)| {
        let info = &done.draft.columns.relations[*relation];
        let at = ids.iter().position(|id| *id == info.first);
        let parts = info.parts.as_ref();
        let portion = portion.as_ref();
        DeleteTarget {
            portion: portion.map(|p| portion::planned(p, &info.table, &ids, parts)),
            table: info.table.clone(),
            key: ids.iter().position(|id| id == key).unwrap_or(0),
            columns: at.map(|at| at..at + info.table.columns.len()),
        }
    });
    let made: Vec<DeleteTarget> = made.collect();
    let (exprs, output) = match targets.first() {
        Some((relation, _)) => {
            let table = done.draft.columns.relations[*relation].table.clone();
            returned(&done.draft.row_exprs.returned, returning_first, &table, &done.draft)
        }
        None => Default::default(),
    };
    let events = portion::events("DELETE", portion.as_ref());
    let events = if purges_history { &[][..] } else { &events[..] };
    let set_off = made.iter().flat_map(|t| triggers(&t.table, events, context));
    let changes = with_triggers(set_off.collect());
    let (rows, cost) = (node.rows, node.cost);
    let (source, returning, targets) = (node, exprs, made);
    let delete =
        Delete { source, targets, ignore, multiple, limit, returning, all_rows, purges_history };
    Ok(Plan { foreign, changes, ..wrap(done, Operator::Delete(delete.into()), rows, cost, output) })
}
