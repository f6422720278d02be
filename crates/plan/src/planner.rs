//! From a statement to its plan: bind, rewrite, build, and choose between variants. The crate's
//! entry points for queries and DML; statements are bound once and optimized per variant.

mod changing;
mod dml;
mod foreign;
mod parts;
mod portion;
mod procedure;
mod rows;
mod shown;
mod size;
mod units;
mod variables;

use std::sync::Arc;

use selkie_catalog::{Namespace, TableInfo};
use selkie_engine::LockMode;
use selkie_expr::{Expr, TypeContext};
use selkie_meter::interruptible;
use selkie_sql::ast;
use selkie_types::error::catalogue::{
    ER_WARN_DEPRECATED_SYNTAX, ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use selkie_types::{Condition, SqlError, SqlResult, stack};

use self::parts::{common_table, subplan};
pub use self::rows::{RowsChange, RowsPlan, rows_plan};
pub use self::shown::{shown_functions, shown_parameters, shown_values};
use crate::bind::{Binder, HandlerRead, HandlerSyntax, Known, Named, Names, Query};
use crate::build::{Builder, Built, CommonEstimate, Goal, SubplanCost, tell_scans};
use crate::logical::{ColumnId, ColumnSet, Columns, Logical, RelationId, SubqueryState};
use crate::physical::{
    CommonTable, FewRows, Operator, OwnValue, Plan, PlanNode, Sizes, SubPlan, Told,
};
use crate::rewrite::{Eliminator, Unnest, merge_projections, push_conditions, unnest};
use crate::safety::Uses;
use crate::settings::{Environment, Settings, StatisticsSource};

/// Number of subqueries for which both variants, join and subplan, are tried.
const MOST_CHOICES: u32 = 3;

/// Inputs of a plan besides the statement.
#[derive(Clone, Copy)]
pub struct PlanContext<'a> {
    /// Text of the statement; result columns without an alias are named by it.
    pub text: &'a [u8],
    /// Tables and views.
    pub tables: Namespace<'a>,
    /// Variables and stored functions.
    pub environment: &'a dyn Environment,
    /// Source of row counts.
    pub statistics: &'a dyn StatisticsSource,
    /// Settings of the session.
    pub settings: &'a Settings<'a>,
    /// Settings for expressions.
    pub types: &'a TypeContext,
    /// Number of `?` in the statement.
    pub parameters: usize,
}

impl<'a> PlanContext<'a> {
    /// The names that the statement may refer to.
    pub(crate) fn names(&self) -> Names<'a> {
        Names { tables: self.tables, environment: self.environment, text: self.text }
    }
}

/// Whether [`plan`] makes plans for such statements.
pub fn is_planned(statement: &ast::Statement) -> bool {
    use ast::Statement::*;
    matches!(statement, Query(_) | Insert(_) | Update(_) | Delete(_) | Do(_))
}

/// The plan for a query, INSERT, REPLACE, UPDATE, DELETE or DO.
pub fn plan(statement: &ast::Statement, context: &PlanContext<'_>) -> SqlResult<Plan> {
    let mut plan = interruptible(|| plan_whole(statement, context))??;
    size::check(&plan, statement, context.settings.variables)?;
    plan.changes.computed = dml::computed(&plan, context)?;
    tell_scans(&mut plan);
    Ok(plan)
}

fn plan_whole(statement: &ast::Statement, context: &PlanContext<'_>) -> SqlResult<Plan> {
    let names = context.names();
    let mut binder = Binder::new(names, context.settings, context.types, context.parameters);
    binder.reading.locks_all |= locks_sources(statement, context.settings);
    binder.reading.as_of = matches!(statement, ast::Statement::Query(_));
    match statement {
        ast::Statement::Query(query) => plan_query(query, binder, context),
        ast::Statement::Insert(insert) => {
            let bound = binder.insert(insert)?;
            binder.tell_unusable_keys(context.statistics);
            dml::insert(bound, Draft::new(binder), context)
        }
        ast::Statement::Update(update) => {
            let bound = binder.update(update)?;
            binder.warnings.converted.keep_for_changes();
            binder.tell_unusable_keys(context.statistics);
            dml::update(bound, Draft::new(binder), context)
        }
        ast::Statement::Delete(delete) => {
            let bound = binder.delete(delete)?;
            binder.warnings.converted.keep_for_changes();
            binder.tell_unusable_keys(context.statistics);
            dml::delete(bound, Draft::new(binder), context)
        }
        ast::Statement::Do(list) => {
            let query = binder.values_of(&list.exprs)?;
            let done = Draft::new(binder).finish(query.plan.clone(), &query.ids(), context);
            let mut plan = done.into_plan(Vec::new());
            plan.result.is_dropped = true;
            Ok(plan)
        }
        _ => Err(SqlError::internal("a statement without a plan was planned")),
    }
}

/// Whether a statement locks the rows of tables that it only reads. Queries do not. Compat: below
/// REPEATABLE READ, INSERT ... SELECT and single-table UPDATE do not either, but all others do.
fn locks_sources(statement: &ast::Statement, settings: &Settings<'_>) -> bool {
    match statement {
        ast::Statement::Insert(insert) => match insert.source {
            ast::InsertSource::Query(_) => settings.lock_sources,
            _ => true,
        },
        ast::Statement::Update(update) => match &update.tables[..] {
            [ast::TableRef::Table(_)] => settings.lock_sources,
            _ => true,
        },
        ast::Statement::Delete(_) | ast::Statement::Do(_) => true,
        _ => false,
    }
}

/// An expression without columns and subqueries, as SET and SHOW ... WHERE need it.
pub fn bind_constant(expr: &ast::Expr, context: &PlanContext<'_>) -> SqlResult<Expr> {
    bind_noted(expr, context).map(|bound| bound.expr)
}

/// A bound expression, and what its text gives besides.
#[derive(Clone, Debug)]
pub struct BoundConstant {
    /// The expression.
    pub expr: Expr,
    /// Conditions that its text raises.
    pub conditions: Vec<Condition>,
    /// Things it uses.
    pub uses: Uses,
}

/// The same, with the conditions that its text raises and the things it uses.
pub fn bind_noted(expr: &ast::Expr, context: &PlanContext<'_>) -> SqlResult<BoundConstant> {
    let names = context.names();
    let mut binder = Binder::new(names, context.settings, context.types, context.parameters);
    let bound = binder.constant(expr)?;
    let asks = bound.has_subquery() || bound.has_stored_call() || bound.has_sequence();
    match asks {
        true => Err(SqlError::not_supported("a subquery or a stored function in this place")),
        false => Ok(BoundConstant {
            expr: bound,
            conditions: binder.warnings.conditions,
            uses: binder.uses.things,
        }),
    }
}

/// The bound READ of a HANDLER that is open on `table`.
pub fn handler_read(
    table: &Arc<TableInfo>,
    syntax: HandlerSyntax<'_>,
    context: &PlanContext<'_>,
) -> SqlResult<HandlerRead> {
    let names = context.names();
    let mut binder = Binder::new(names, context.settings, context.types, context.parameters);
    binder.handler_read(table, syntax)
}

fn plan_query(
    query: &ast::Query,
    mut binder: Binder<'_>,
    context: &PlanContext<'_>,
) -> SqlResult<Plan> {
    let outermost = query.into.is_none();
    let analyses = procedure::check(query, context)?;
    // Compat: LIMIT has no effect on the rows that a procedure gets.
    let whole = analyses.map(|_| ast::Query { limit: None, ..query.clone() });
    let mut bound = binder.query_as(whole.as_ref().unwrap_or(query), outermost)?;
    if keeps_digits(query) {
        binder.give_digits(&mut bound.plan);
    }
    binder.tell_unusable_keys(context.statistics);
    check_into(query, bound.columns.len())?;
    if query.late_into {
        binder.warnings.conditions.push(late_into());
    }
    let calc_found_rows = calc_found_rows(&query.body);
    let Query { mut plan, columns } = bound;
    if calc_found_rows {
        count_cut_rows(&mut plan);
    }
    let ids: Vec<ColumnId> = columns.iter().map(|c| c.id).collect();
    let mut done = Draft::new(binder).finish(plan, &ids, context);
    let is_select = matches!(query.body, ast::QueryBody::Select(_));
    let announced = |done: &Done, known| announced(&columns, done, known, is_select);
    let known = if reads_nothing(&done.root.node) { Known::None } else { Known::Nothing };
    let mut output = announced(&done, known);
    let counted = counted_table(&done.root.node);
    let is_few = analyses.is_none()
        && (counted.is_some() || has_limit(&done.root.node))
        && columns.iter().any(|c| c.given.grouped || c.given.kept.is_some());
    let few = is_few.then(|| FewRows {
        row: announced(&done, Known::OneRow).into(),
        nothing: announced(&done, Known::None).into(),
        counted,
    });
    if let Some(limits) = analyses {
        output = procedure::analysed(&mut done, &output, limits);
    }
    let mut plan = done.into_plan(output);
    plan.result.into = query.into.as_deref().cloned();
    plan.result.calc_found_rows = calc_found_rows;
    plan.result.few = few.map(Arc::new);
    Ok(plan)
}

/// Metadata of a query's columns for clients.
fn announced(
    columns: &[Named],
    done: &Done,
    known: Known,
    is_select: bool,
) -> Vec<crate::physical::OutputColumn> {
    let root = &done.root.node;
    let types = root.columns.iter();
    let mut output: Vec<_> =
        columns.iter().zip(types).map(|(c, ty)| c.output(&done.draft.columns, ty, known)).collect();
    let parameters = shown_parameters(output.len(), root);
    let functions = shown_functions(output.len(), root);
    for ((column, parameter), function) in output.iter_mut().zip(parameters).zip(functions) {
        let is_computed = is_select && parameter.is_none() && function.is_none();
        show_computed(column, is_computed);
        // Compat: the result of a stored function is announced like a column.
        if function.is_some() && column.table.is_empty() {
            (column.kept, column.org_name) = (true, column.name.clone());
        }
    }
    show_variables(&mut output, root);
    shown::tell_needed_digits(&mut output, columns, root);
    shown::widen_extremes(&mut output, root);
    output
}

/// Whether the outermost block has a LIMIT.
fn has_limit(root: &PlanNode) -> bool {
    stack::ensure();
    match &root.operator {
        Operator::Limit(_) | Operator::TopN(_) => true,
        Operator::Project { input, .. } => has_limit(input),
        _ => false,
    }
}

/// Whether it is known before a query runs that it reads no rows.
fn reads_nothing(root: &PlanNode) -> bool {
    stack::ensure();
    match &root.operator {
        Operator::Empty => true,
        Operator::Aggregate(node) if node.groups.is_empty() => false,
        _ => rows_of_one(root).is_some_and(reads_nothing),
    }
}

/// The table of a query over one table, if its engine counts its rows.
fn counted_table(root: &PlanNode) -> Option<Arc<selkie_catalog::TableInfo>> {
    stack::ensure();
    match &root.operator {
        Operator::TableScan(scan) => scan.table.engine.rows.counted.then(|| scan.table.clone()),
        _ => counted_table(rows_of_one(root)?),
    }
}

/// The input of a node that has one and neither adds nor joins rows.
fn rows_of_one(node: &PlanNode) -> Option<&PlanNode> {
    match &node.operator {
        Operator::Project { input, .. }
        | Operator::Filter { input, .. }
        | Operator::Distinct(input) => Some(input),
        Operator::Limit(limit) => Some(&limit.input),
        Operator::TopN(top) => Some(&top.input),
        Operator::Sort(sort) => Some(&sort.input),
        Operator::Aggregate(node) => Some(&node.input),
        _ => None,
    }
}

/// Whether a query's values go to variables, which hold more digits than clients are shown.
fn keeps_digits(query: &ast::Query) -> bool {
    let for_statement = |select: &ast::Select| select.options.for_statement;
    matches!(query.into.as_deref(), Some(ast::IntoTarget::Variables(_)))
        || matches!(&query.body, ast::QueryBody::Select(select) if for_statement(select))
}

/// Compat: a selected variable is announced with the widest type of its kind.
fn show_variables(output: &mut [crate::physical::OutputColumn], root: &PlanNode) {
    stack::ensure();
    match &root.operator {
        Operator::Limit(limit) => show_variables(output, &limit.input),
        Operator::Project { exprs, .. } => {
            let is_variable = |e: &Expr| matches!(e.kind, selkie_expr::ExprKind::UserVariable(..));
            let shown = output.iter_mut().zip(exprs).filter(|(_, e)| is_variable(e));
            shown.for_each(|(column, _)| widest(&mut column.ty));
        }
        _ => {}
    }
}

/// The widest type of the kind of `ty` whose values look the same.
fn widest(ty: &mut selkie_types::SqlType) {
    use selkie_types::{SqlType, TypeKind};
    const DIGITS: u32 = 81;
    const TEXT: u32 = 0x00FF_FFFF;
    let collation = ty.collation;
    *ty = match ty.kind {
        _ if ty.is_integer() && ty.unsigned => SqlType::bigint_unsigned(),
        _ if ty.is_integer() => SqlType::bigint(),
        TypeKind::Decimal => SqlType::new(TypeKind::Decimal, DIGITS, 38),
        TypeKind::Double => SqlType { length: 23, ..SqlType::double() },
        TypeKind::VarChar | TypeKind::Char | TypeKind::MediumText => {
            SqlType { collation, ..SqlType::new(TypeKind::LongText, TEXT, 0) }
        }
        _ => return,
    };
}

/// Compat: a computed BIT is shown as a number, a BIT column as its bytes. A YEAR has all its
/// digits unless it is computed.
fn show_computed(column: &mut crate::physical::OutputColumn, is_select: bool) {
    use selkie_types::{SqlType, TypeKind};
    let computed = is_select && column.table.is_empty();
    match column.ty.kind {
        TypeKind::Bit if computed => {
            column.ty = SqlType { length: column.ty.length, ..SqlType::bigint_unsigned() };
        }
        TypeKind::Year => column.ty.zerofill = !computed,
        _ => {}
    }
}

/// 1287: INTO at the end of a query is deprecated.
pub fn late_into() -> selkie_types::Condition {
    let (old, new) = (
        "<select expression> INTO <destination>;",
        "'SELECT <select list> INTO <destination> FROM...'",
    );
    selkie_types::Condition::warning(&ER_WARN_DEPRECATED_SYNTAX, &[&old, &new])
}

/// INTO needs one variable for each column. A single local variable may be a row; the program
/// checks that at run time.
fn check_into(query: &ast::Query, columns: usize) -> SqlResult<()> {
    match query.into.as_deref() {
        Some(ast::IntoTarget::Variables(names))
            if names.len() != columns
                && !matches!(names[..], [ast::IntoVariable::Local { .. }]) =>
        {
            Err(SqlError::new(&ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]))
        }
        _ => Ok(()),
    }
}

fn calc_found_rows(body: &ast::QueryBody) -> bool {
    stack::ensure();
    match body {
        ast::QueryBody::Select(select) => select.options.calc_found_rows,
        ast::QueryBody::Combined { first, .. } => calc_found_rows(first),
        ast::QueryBody::Nested(query) => calc_found_rows(&query.body),
        _ => false,
    }
}

/// Makes the outermost LIMIT count the rows it cuts off.
fn count_cut_rows(plan: &mut Logical) {
    stack::ensure();
    match plan {
        Logical::Limit { cut, .. } => cut.counted = true,
        Logical::Project { input, .. } => count_cut_rows(input),
        _ => {}
    }
}

/// Result of binding, on the way to a plan.
#[derive(Clone)]
pub(crate) struct Draft {
    pub columns: Columns,
    pub subqueries: Vec<SubqueryState>,
    pub common: Vec<crate::bind::Common>,
    pub slots: usize,
    pub parameters: usize,
    pub tables: Vec<Arc<TableInfo>>,
    pub takes_numbers: Vec<Arc<TableInfo>>,
    /// Variables that the statement reads.
    pub variables: crate::physical::Variables,
    /// User variables that it assigns.
    pub assigned_variables: Vec<Box<str>>,
    pub warnings: crate::bind::Warnings,
    /// Those that are known before the plan is built.
    pub sizes: Sizes,
    pub rows_examined: Option<Expr>,
    /// Expressions over rows that the plan makes; their subqueries become subplans.
    pub row_exprs: RowExprs,
    pub uses: crate::safety::Used,
    /// Outer joins that change nothing.
    pub elimination: Elimination,
}

/// Outer joins that change nothing.
#[derive(Clone)]
pub(crate) struct Elimination {
    /// They are removed.
    pub wanted: bool,
    /// Tables of those removed from the statement itself, not from a subquery.
    pub tables: Vec<RelationId>,
}

/// Expressions over the new or existing rows of INSERT, UPDATE and DELETE.
#[derive(Clone, Default)]
pub(crate) struct RowExprs {
    /// Conditions of WITH CHECK OPTION.
    pub checks: Vec<Expr>,
    /// Values of ON DUPLICATE KEY UPDATE by column; `None` is DEFAULT.
    pub assigned: Vec<(usize, Option<Expr>)>,
    /// RETURNING.
    pub returned: Vec<(Named, Expr)>,
    /// Values of inserted rows that are computed one row at a time.
    pub own: Vec<OwnValue>,
}

impl RowExprs {
    /// An error if one of them is a rank: rows that the plan makes are in no search.
    fn refuse_ranks(&self) -> SqlResult<()> {
        let values = self.assigned.iter().filter_map(|(_, value)| value.as_ref());
        let returned = self.returned.iter().map(|(_, expr)| expr);
        let own = self.own.iter().flat_map(|own| &own.values);
        self.checks.iter().chain(values).chain(returned).chain(own).try_for_each(refuse_rank)
    }

    fn each_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.checks.iter_mut().for_each(&mut *f);
        self.assigned.iter_mut().filter_map(|(_, value)| value.as_mut()).for_each(&mut *f);
        self.returned.iter_mut().for_each(|(_, expr)| f(expr));
        self.own.iter_mut().flat_map(|own| &mut own.values).for_each(f);
    }
}

/// An error if an expression is a rank.
pub(crate) fn refuse_rank(expr: &Expr) -> SqlResult<()> {
    match expr.any(&mut |e| matches!(e.kind, selkie_expr::ExprKind::Match(_))) {
        true => Err(SqlError::not_supported("MATCH in this place")),
        false => Ok(()),
    }
}

/// The parts of a finished plan.
pub(crate) struct Done {
    pub root: Built,
    pub draft: Draft,
    subplans: Vec<SubPlan>,
    common: Vec<CommonTable>,
}

impl Draft {
    pub(crate) fn new(binder: Binder<'_>) -> Self {
        let parameters = binder.parameters;
        let asks_tables = binder.subqueries.iter().any(|subquery| reads(&subquery.plan));
        Self {
            columns: binder.columns,
            subqueries: binder.subqueries,
            common: binder.common,
            slots: binder.slots.max(parameters),
            parameters,
            tables: binder.tables,
            takes_numbers: binder.takes_numbers,
            variables: binder.variables,
            assigned_variables: binder.assigned.into_iter().map(|(name, _)| name).collect(),
            warnings: binder.warnings,
            sizes: Sizes {
                windowed_blocks: binder.windowed_blocks,
                asks_tables,
                ..Sizes::default()
            },
            rows_examined: binder.rows_examined,
            row_exprs: RowExprs::default(),
            uses: binder.uses,
            elimination: Elimination {
                wanted: binder.settings.variables.joins.table_elimination,
                tables: Vec::new(),
            },
        }
    }

    /// Columns that an expression reads, including those its subqueries read.
    fn outer_columns(&self, expr: &Expr) -> ColumnSet {
        let mut set = ColumnSet::of(expr);
        expr.visit(&mut |e| {
            if let selkie_expr::ExprKind::Subquery(subquery) = &e.kind {
                let state = &self.subqueries[subquery.id.0 as usize];
                set.union(&state.plan.free_columns(&self.columns));
            }
        });
        set
    }

    /// Optimizes `plan`, which must give the columns `ids`. A subquery that can be a join or a
    /// subplan is tried as both, and the cheapest combination is used.
    pub(crate) fn finish(
        mut self,
        mut plan: Logical,
        ids: &[ColumnId],
        context: &PlanContext<'_>,
    ) -> Done {
        self.mark_variables(&mut plan);
        if context.settings.variables.explains {
            self.tell_units(&plan, context.settings.variables);
        }
        if self.subqueries.is_empty() {
            return self.variant(plan, ids, context, 0).0;
        }
        let (mut best, choices) = self.clone().variant(plan.clone(), ids, context, 0);
        for kept in 1..1u32 << choices.min(MOST_CHOICES) {
            let (done, _) = self.clone().variant(plan.clone(), ids, context, kept);
            if done.root.node.cost < best.root.node.cost {
                best = done;
            }
        }
        best
    }

    /// One variant of the plan, and the number of choices there were.
    fn variant(
        mut self,
        plan: Logical,
        ids: &[ColumnId],
        context: &PlanContext<'_>,
        kept: u32,
    ) -> (Done, u32) {
        let (plan, choices) = self.rewrite(plan, context, kept);
        (self.build(plan, ids, context), choices)
    }

    fn rewrite(&mut self, plan: Logical, context: &PlanContext<'_>, kept: u32) -> (Logical, u32) {
        let mut commons: Vec<Logical> = self.common.iter().map(|c| c.plan.clone()).collect();
        let mut searches = std::mem::take(&mut self.columns.searches);
        let mut state = Unnest {
            columns: &mut self.columns,
            source: context.statistics,
            subqueries: &mut self.subqueries,
            slots: &mut self.slots,
            kept,
            choices: 0,
            each_row: context.settings.variables.joins.runs_subqueries,
            joined: 0,
        };
        for common in &mut commons {
            let taken = std::mem::replace(common, Logical::OneRow);
            *common = unnest(taken, &mut state);
        }
        let mut plan = unnest(plan, &mut state);
        self.row_exprs.each_mut(&mut |expr| state.finish(expr));
        searches.iter_mut().for_each(|search| state.finish(&mut search.query));
        let choices = state.choices;
        self.columns.searches = searches;
        for at in 0..commons.len() {
            let (before, rest) = commons.split_at_mut(at);
            self.inline(&mut rest[0], before);
        }
        self.inline(&mut plan, &commons);
        for (common, plan) in self.common.iter_mut().zip(commons) {
            common.plan = plan;
        }
        for common in &mut self.common {
            let taken = std::mem::replace(&mut common.plan, Logical::OneRow);
            common.plan = improved(taken, &self.columns);
        }
        for subquery in self.subqueries.iter_mut().filter(|s| s.finished) {
            let taken = std::mem::replace(&mut subquery.plan, Logical::OneRow);
            subquery.plan = improved(taken, &self.columns);
        }
        let mut plan = improved(plan, &self.columns);
        if self.elimination.wanted {
            self.eliminate(&mut plan);
        }
        (plan, choices)
    }

    /// Removes outer joins that change nothing, with the subqueries that only they have.
    fn eliminate(&mut self, plan: &mut Logical) {
        let mut eliminator = Eliminator::new(&self.columns, &self.subqueries);
        eliminator.eliminate(plan);
        self.elimination.tables = std::mem::take(&mut eliminator.tables);
        self.common.iter_mut().for_each(|common| eliminator.eliminate(&mut common.plan));
        let finished = self.subqueries.iter_mut().filter(|subquery| subquery.finished);
        finished.for_each(|subquery| eliminator.eliminate(&mut subquery.plan));
        let mut gone = eliminator.subqueries;
        if gone.is_empty() {
            return;
        }
        let mut keep = |e: &Expr| {
            e.visit(&mut |e| {
                if let selkie_expr::ExprKind::Subquery(subquery) = &e.kind {
                    gone.retain(|id| *id != subquery.id);
                }
            });
        };
        plan.for_each_expr_deep(&mut keep);
        let plans = self.common.iter().map(|common| &common.plan);
        let plans = plans.chain(self.subqueries.iter().map(|subquery| &subquery.plan));
        plans.for_each(|plan| plan.for_each_expr_deep(&mut keep));
        gone.into_iter().for_each(|id| self.subqueries[id.0 as usize].finished = false);
    }

    /// Replaces the reference to a common table that is read once by its plan.
    fn inline(&mut self, plan: &mut Logical, commons: &[Logical]) {
        stack::ensure();
        if commons.is_empty() {
            return;
        }
        if let Logical::CommonScan { table, columns } = plan {
            let common = &mut self.common[*table];
            if common.references != 1 || common.recursive || *table >= commons.len() {
                return;
            }
            common.references = 0;
            let made = columns.iter().zip(&common.ids);
            let made = made.map(|(id, from)| (*id, self.columns.expr(*from))).collect();
            let input = Box::new(commons[*table].clone());
            *plan = Logical::Project { input, columns: made };
            return;
        }
        plan.inputs_mut().into_iter().for_each(|input| self.inline(input, commons));
    }

    fn build(self, plan: Logical, ids: &[ColumnId], context: &PlanContext<'_>) -> Done {
        let mut builder = Builder {
            columns: &self.columns,
            source: context.statistics,
            derived: Default::default(),
            common: Vec::new(),
            subplans: Vec::new(),
            under_distinct: false,
        };
        builder.common.resize(self.common.len(), None);
        let mut made: Vec<Option<CommonTable>> = vec![None; self.common.len()];
        for at in 0..self.common.len() {
            self.make_common(&mut builder, at, &mut made);
        }
        let common = made.into_iter().flatten().collect();
        let mut subplans = Vec::with_capacity(self.subqueries.len());
        for subquery in &self.subqueries {
            subplans.push(subplan(&mut builder, subquery));
        }
        let built = builder.build(&plan, &ids.iter().copied().collect(), Goal::default());
        let root = builder.arrange(built, ids);
        let mut done = Done { root, draft: self, subplans, common };
        done.mark_tables();
        done
    }
}

impl Draft {
    /// Builds a common table after the common tables it reads.
    fn make_common(
        &self,
        builder: &mut Builder<'_>,
        at: usize,
        made: &mut Vec<Option<CommonTable>>,
    ) {
        stack::ensure();
        if made[at].is_some() {
            return;
        }
        for table in tables_read(&self.common[at].plan) {
            if table != at {
                self.make_common(builder, table, made);
            }
        }
        made[at] = Some(common_table(builder, at, &self.common[at]));
    }
}

/// Whether a plan reads any table.
fn reads(plan: &Logical) -> bool {
    stack::ensure();
    match plan {
        Logical::OneRow | Logical::Empty(_) | Logical::Values { .. } => false,
        other => {
            let inputs = other.inputs();
            inputs.is_empty() || inputs.into_iter().any(reads)
        }
    }
}

/// Common tables that a plan reads.
fn tables_read(plan: &Logical) -> Vec<usize> {
    stack::ensure();
    match plan {
        Logical::CommonScan { table, .. } => vec![*table],
        other => other.inputs().into_iter().flat_map(tables_read).collect(),
    }
}

/// The plan after all rewrites.
fn improved(mut plan: Logical, columns: &Columns) -> Logical {
    merge_projections(&mut plan);
    let mut plan = push_conditions(plan, columns);
    merge_projections(&mut plan);
    plan
}

impl Done {
    pub(crate) fn into_plan(self, output: Vec<crate::physical::OutputColumn>) -> Plan {
        let relations = self.draft.columns.relations.iter();
        let locked = relations.filter(|relation| relation.lock == LockMode::Exclusive);
        let alias = |at: &RelationId| self.draft.columns.relations[*at].alias.clone();
        let eliminated = self.draft.elimination.tables.iter().map(alias).collect();
        Plan {
            locks_rows: locked.map(|relation| relation.table.clone()).collect(),
            root: self.root.node,
            output: output.into(),
            subplans: self.subplans,
            searches: self.draft.columns.searches,
            common_tables: self.common,
            slots: self.draft.slots,
            parameters: self.draft.parameters,
            tables: self.draft.tables,
            takes_numbers: self.draft.takes_numbers,
            variables: self.draft.variables,
            result: Default::default(),
            rows_examined: self.draft.rows_examined,
            foreign: Default::default(),
            warnings: self.draft.warnings,
            sizes: self.draft.sizes,
            uses: self.draft.uses,
            told: Told {
                eliminated,
                units: self.draft.columns.units.numbered(),
                impossible: self.draft.columns.units.impossible(),
                resolved: self.draft.columns.units.resolved(),
            },
            changes: Default::default(),
        }
    }
}
