//! The table of EXPLAIN in MariaDB's terms, as far as they fit this server's plans. The executor
//! calls it; JSON output is built from the same rows.

use selkie_catalog::TableInfo;
use selkie_engine::IndexKind;

use super::blocks::{Block, common_name, walked};
use super::ends::is_of_ends;
use super::joins::looked_up;
use super::keys::{describe_range, describe_union, key_columns, key_length, say_group_key};
use super::lookups::Lookups;
use super::names::{Names, names, show, show_all, table_column};
use super::readers::Readers;
use super::remarks::{
    SORTS_BY_RANK, cut_below, is_grouped, is_join, remarks_of, sorts_by_rank, sorts_groups,
    tables_tested, tests_rows,
};
use super::units::{KeptKey, KeptRows};
use super::work::{JoinRun, Run, SortShown, Work};
use crate::physical::{
    Access, IndexJoin, IndexRange, JoinKind, Limit, Operator, PartsRead, Plan, PlanNode,
    RowNumbers, SortKey, TableScan,
};
use selkie_expr::Expr;
use selkie_types::{Value, stack};

/// One line of EXPLAIN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExplainRow {
    /// Number of the query block; `None` for the result of a UNION.
    pub id: Option<u64>,
    /// `SIMPLE`, `PRIMARY`, `SUBQUERY` and so on.
    pub select_type: &'static str,
    /// Table.
    pub table: Option<String>,
    /// Names of the partitions that are read.
    pub partitions: Option<String>,
    /// Access type (`type`).
    pub access: Option<&'static str>,
    /// Indexes that could be used.
    pub possible_keys: Option<String>,
    /// The index used.
    pub key: Option<String>,
    /// Number of bytes of the key used.
    pub key_len: Option<String>,
    /// Values compared with the key (`ref`).
    pub reference: Option<String>,
    /// Expected number of rows.
    pub rows: Option<u64>,
    /// Remarks.
    pub extra: String,
    /// Columns of the key that are used.
    pub key_parts: Vec<Box<str>>,
    /// Whether it is a union whose rows are kept nowhere; it has no line in the table.
    pub passes_by: bool,
    /// Details, most of which only the document has.
    pub detail: Detail,
}

/// Details of a line beside the columns of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detail {
    /// The conditions on its rows.
    pub conditions: Conditions,
    /// Percentage of the rows that the conditions are expected to leave, if it is estimated.
    pub share: Option<f64>,
    /// The change of rows of which it is the only table: `update` or `delete`.
    pub change: Option<&'static str>,
    /// The sort above it.
    pub sort: Option<SortShown>,
    /// Numbers of the execution, if there is one.
    pub numbers: Numbers,
}

/// Conditions on the rows of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Those on the table.
    pub own: Option<String>,
    /// Those of its join through a join buffer.
    pub join: Option<String>,
}

/// Numbers of a table in an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Its own.
    pub run: Option<Run>,
    /// Those of its join through a join buffer.
    pub joined: Option<JoinRun>,
}

impl ExplainRow {
    /// Percentage of the rows that the conditions are expected to leave.
    pub fn filtered(&self) -> Option<f64> {
        let share = self.detail.share.filter(|_| self.detail.change.is_none()).unwrap_or(100.0);
        match self.rows {
            None if self.select_type == "INSERT" => Some(100.0),
            rows => rows.map(|rows| if rows == 0 { 0.0 } else { share }),
        }
    }

    /// Percentage of the rows that its conditions left, those of its join included.
    pub fn run_filtered(&self) -> Option<f64> {
        if self.select_type == "INSERT" {
            return self.detail.numbers.run.map(|_| 100.0);
        }
        let run = self.detail.numbers.run?;
        let own = if run.sorted.is_some() { 100.0 } else { run.filtered? };
        Some(self.detail.numbers.joined.map_or(own, |join| own * join.filtered / 100.0))
    }

    /// Kind of the join buffer before it.
    pub(super) fn joined_by(&self) -> Option<&'static str> {
        let kind = |kind: &&str| self.extra.contains(&format!("Using join buffer ({kind}"));
        ["flat", "incremental"].into_iter().find(kind)
    }

    /// Whether it has a remark.
    pub(super) fn has(&self, remark: &str) -> bool {
        self.extra.split("; ").any(|own| own == remark)
    }
}

/// Exact number of rows that a scan of a whole table, or of some of its partitions, has before it;
/// `None` if it would be a guess.
pub type ExactRows<'a> = &'a dyn Fn(&TableScan) -> Option<u64>;

/// Names of the partitions that a scan reads, which depend on values.
pub type PartNames<'a> = &'a dyn Fn(&TableInfo, &PartsRead) -> Option<String>;

/// Work of the operator with a number; `None` if it is not counted.
pub type WorkOf<'a> = &'a dyn Fn(u32) -> Option<Work>;

/// Facts beside the plan.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// Row counts of tables.
    pub exact: ExactRows<'a>,
    /// Scans of constant tables, whose only row was already read.
    pub read: &'a [&'a TableScan],
    /// Names of partitions.
    pub parts: PartNames<'a>,
    /// Work of an execution, if there is one.
    pub work: Option<WorkOf<'a>>,
    /// Numbers of blocks that have no rows, with the reason, if rows that were read tell so.
    pub nothing: &'a [(u64, &'static str)],
}

/// The rows of EXPLAIN for a plan.
pub fn rows(plan: &Plan, facts: &Facts<'_>) -> Vec<ExplainRow> {
    let mut rows = walked(plan, facts).0;
    rows.retain(|row| !row.passes_by);
    rows
}

/// A walk over a plan, which makes the rows.
pub(super) struct Walk<'a> {
    pub(super) plan: &'a Plan,
    pub(super) facts: &'a Facts<'a>,
    pub(super) rows: Vec<ExplainRow>,
    pub(super) blocks: Vec<Block>,
    pub(super) next: u64,
    pub(super) above: Above,
    /// Pairs of columns that lookups and hash joins make equal.
    pub(super) equal: Vec<[String; 2]>,
    /// The unit whose blocks are walked.
    pub(super) unit: usize,
    /// Number of the tables that the next node gives the rows of and that are shown.
    pub(super) level: usize,
    /// Number of the used numbers of each unit.
    pub(super) used: Vec<usize>,
    /// Rows of tables that are units, not yet placed behind the rows that read them.
    pub(super) kept: Vec<KeptRows>,
    pub(super) lookups: Lookups<'a>,
    /// Subplans whose rows are not yet shown.
    pub(super) readers: Readers,
    /// Aliases of tables that are units, with the names shown.
    pub(super) aliases: Vec<(Box<str>, String)>,
    /// The block being walked, if a table without rows leaves none to it, with the reason.
    pub(super) emptied: Option<(u64, &'static str)>,
}

/// Information from the operators above for the next table.
#[derive(Default)]
pub(super) struct Above {
    /// Remarks for the first table below.
    pub(super) remarks: Vec<&'static str>,
    /// Whether the table is joined through a join buffer.
    pub(super) buffered: bool,
    /// Whether join conditions are tested on its rows.
    pub(super) tested: bool,
    /// Whether it is the inner side of an outer join.
    pub(super) outer: bool,
    /// Number of rows after which no more are requested.
    pub(super) most: Option<u64>,
    /// The same, whatever sorts or groups the rows of the only table.
    pub(super) cut: Option<u64>,
    /// Work of a filter directly above, in an execution.
    pub(super) passed: Option<Work>,
    /// Conditions of that filter.
    pub(super) conditions: Option<String>,
    /// The sort above.
    pub(super) sort: Option<SortShown>,
    /// Keys by which rows of a table that is a unit are found.
    pub(super) keys: Vec<KeptKey>,
}

impl Walk<'_> {
    pub(super) fn node(&mut self, node: &PlanNode, id: u64, ty: &'static str) {
        stack::ensure();
        selkie_meter::tick(100);
        let level = std::mem::take(&mut self.level);
        if let Some(of) = node.of_units.as_deref().filter(|of| level < of.units.len()) {
            return self.kept_table(node, (of, level), id, ty);
        }
        if is_of_ends(node, self.plan.parameters) {
            return self.say_optimized(id, ty);
        }
        match &node.operator {
            Operator::TableScan(scan) => {
                let run = self.run(node);
                self.scan(scan, run, id, ty);
            }
            Operator::SystemTableScan(scan) => {
                let (name, tested) = (scan.alias.to_string(), !scan.filter.is_empty());
                self.computed(node, (&name, None, tested), id, ty);
            }
            Operator::CommonTableScan(at) if level > 0 => self.common_again(*at, id, ty),
            Operator::CommonTableScan(at) | Operator::WorkTableScan(at) => {
                let (name, rows) = (common_name(*at), Some(count(node.rows)));
                self.computed(node, (&name, rows, false), id, ty);
            }
            Operator::JsonTable(join) => {
                if !matches!(join.input.operator, Operator::OneRow) {
                    self.node(&join.input, id, ty);
                }
                let mut row = self.row(id, ty, &join.table.alias);
                row.access = Some("ALL");
                row.rows = Some(40);
                row.detail.numbers.run = self.run(node);
                let extra = ["Table function: json_table"];
                row.extra = join_remarks(&mut self.above.remarks, !join.on.is_empty(), &extra);
                self.push(row);
            }
            Operator::IndexJoin(join) => self.index_join(node, join, id, ty),
            Operator::HashJoin(join) => {
                self.buffered_join(node, (&join.left, &join.right), (join.kind, true), id, ty);
            }
            Operator::NestedLoopJoin(join) => {
                let tested = !join.conditions.is_empty();
                self.buffered_join(node, (&join.left, &join.right), (join.kind, tested), id, ty);
            }
            Operator::SetOperation(set) => self.set(node, set, id, ty),
            Operator::Limit(limit) => {
                self.above.most = rows_wanted(limit);
                self.above.cut = self.above.most.filter(|_| !limit.counted);
                self.node(&limit.input, id, ty);
            }
            Operator::Filter { input, conditions } => {
                self.filter(node, (input, conditions), id, ty);
            }
            Operator::Project { input, .. } => self.node(input, id, ty),
            Operator::RowNumbers(numbers) => self.row_numbers(node, numbers, id, ty),
            other => {
                (self.above.most, self.above.passed, self.above.conditions) = (None, None, None);
                self.above.cut = cut_below(other, self.above.cut);
                self.above.sort = self.sort_of(node).or(self.above.sort.take());
                self.above.remarks.extend(remarks_of(other));
                self.above.remarks.extend(sorts_groups(other).then_some("Using temporary"));
                // Compat: the groups of a table whose rows are kept are sorted.
                let sorted = ty == "DERIVED" && is_grouped(other);
                self.above.remarks.extend(sorted.then_some("Using filesort"));
                self.above.remarks.extend(sorts_by_rank(other).then_some(SORTS_BY_RANK));
                node.inputs().into_iter().for_each(|input| self.node(input, id, ty));
            }
        }
    }

    fn filter(
        &mut self,
        node: &PlanNode,
        (input, conditions): (&PlanNode, &[Expr]),
        id: u64,
        ty: &'static str,
    ) {
        self.above.tested |= tests_rows(conditions, input);
        self.above.passed = self.work(node);
        let text = show_all(conditions, &names(self.plan, input), " and ");
        self.above.conditions = Some(text);
        let first = self.rows.len();
        self.node(input, id, ty);
        if is_join(input) {
            let tables = tables_tested(conditions, &names(self.plan, input));
            self.say_tested_last(first, &tables);
        }
    }

    /// Says for conditions on joined rows that they are tested, each on the last of its tables.
    fn say_tested_last(&mut self, first: usize, tables: &[Vec<String>]) {
        for aliases in tables {
            let shown: Vec<String> = aliases.iter().map(|a| self.shown_table(a)).collect();
            let is_one = |row: &&mut ExplainRow| {
                row.table.as_ref().is_some_and(|table| shown.contains(table))
            };
            let last = self.rows[first..].iter_mut().rev().find(is_one);
            if let Some(row) = last.filter(|row| !is_known(row)) {
                say_tested(row);
            }
        }
    }

    /// Compat: numbers of rows that are sorted are kept in a table.
    fn row_numbers(&mut self, node: &PlanNode, numbers: &RowNumbers, id: u64, ty: &'static str) {
        if !numbers.conditions.is_empty() {
            self.above.tested = true;
            self.above.passed = self.work(node);
            let text = show_all(&numbers.conditions, &names(self.plan, node), " and ");
            self.above.conditions = Some(text);
        }
        if numbers.shown && self.above.remarks.contains(&"Using filesort") {
            self.above.remarks.push("Using temporary");
        }
        self.node(&numbers.input, id, ty);
    }

    /// Compat: tables of which only the first or last entry of an index is read are not listed.
    fn say_optimized(&mut self, id: u64, ty: &'static str) {
        let row = self.row(id, ty, "");
        let extra = "Select tables optimized away".into();
        self.rows.push(ExplainRow { table: None, extra, ..row });
    }

    /// A table that is computed: its name, its rows, and whether it tests them itself.
    fn computed(
        &mut self,
        node: &PlanNode,
        (name, rows, tested): (&str, Option<u64>, bool),
        id: u64,
        ty: &'static str,
    ) {
        let mut row = self.row(id, ty, name);
        (row.access, row.rows) = (Some("ALL"), rows);
        row.detail.numbers.run = self.run(node);
        row.detail.conditions.own = self.above.conditions.take();
        let tested = tested || rows.is_some() && row.detail.conditions.own.is_some();
        row.extra = join_remarks(&mut self.above.remarks, tested, &[]);
        self.push(row);
    }

    /// A table in which rows of others are looked up.
    fn index_join(&mut self, node: &PlanNode, join: &IndexJoin, id: u64, ty: &'static str) {
        (self.above.most, self.above.cut) = (None, None);
        let run = self.lookup_run(node, &join.left);
        let conditions = self.lookup_conditions(join);
        self.node(&join.left, id, ty);
        let outer = names(self.plan, &join.left);
        self.equal.extend(looked_up(join, &outer));
        let rejects_null = self.rejects_null(join, &outer, id);
        let keys = join.lookup.keys.iter().map(|k| match k.is_constant() {
            true => "const".into(),
            false => self.reference(&show(k, &outer)),
        });
        let keys: Vec<String> = keys.collect();
        let mut tested = join.lookup.shown.tested;
        tested.rows |= rejects_null;
        // Compat: the conditions of an outer join are not tested on entries.
        if !matches!(join.kind, JoinKind::Inner | JoinKind::Semi) {
            tested = tested.with_rows_only();
        }
        let mut row = self.lookup(join, keys, tested, id, ty);
        (row.detail.numbers.run, row.detail.conditions.own) = (run, conditions);
        self.push(row);
    }

    /// Work of an operator, in an execution.
    pub(super) fn work(&self, node: &PlanNode) -> Option<Work> {
        self.facts.work.map(|work| work(node.number).unwrap_or_default())
    }

    /// Numbers of an operator that reads a table.
    pub(super) fn run(&mut self, node: &PlanNode) -> Option<Run> {
        let mut work = self.work(node)?;
        if !matches!(node.operator, Operator::TableScan(_)) || node.of_units.is_some() {
            work.read = work.given;
        }
        Some(self.passed(work))
    }

    /// The numbers of a table, with those of the filter above.
    pub(super) fn passed(&mut self, work: Work) -> Run {
        let Some(above) = self.above.passed.take() else { return Run::of(work, work.given) };
        let mut run = Run::of(work, above.given);
        run.other_nanos = above.nanos.saturating_sub(work.nanos);
        run
    }

    /// The sort that an operator is.
    fn sort_of(&self, node: &PlanNode) -> Option<SortShown> {
        let (input, keys, limit) = match &node.operator {
            Operator::Sort(sort) => (&*sort.input, &sort.keys, None),
            Operator::TopN(top) => {
                let limit = Some(&top.limit);
                (&top.input, &top.keys, limit)
            }
            _ => return None,
        };
        let names = names(self.plan, input);
        let columns = keys.iter().flat_map(|key| key.expr.columns());
        let columns = columns.filter_map(|at| names.get(at)).collect();
        let key = |key: &SortKey| {
            let order = if key.descending { " desc" } else { "" };
            format!("{}{order}", show(&key.expr, &names))
        };
        let key = keys.iter().map(key).collect::<Vec<_>>().join(", ");
        let queue = limit.is_some();
        let limit = limit.and_then(number);
        Some(SortShown {
            key,
            work: self.work(node),
            limit,
            queue,
            direct: is_table(input),
            columns,
        })
    }

    /// Adds the row of a table with what is above it.
    pub(super) fn push(&mut self, mut row: ExplainRow) {
        if let Some(sort) = self.above.sort.take_if(|_| row.extra.contains("Using filesort")) {
            if let (true, Some(work), Some(run)) =
                (sort.direct, sort.work, &mut row.detail.numbers.run)
                && run.loops > 0
            {
                // Compat: the rows that are read are those of the sorted file.
                run.sorted = Some(work.given as f64 / work.loops.max(1) as f64);
            }
            row.detail.sort = Some(sort);
        }
        self.rows.push(row);
    }

    pub(super) fn row(&mut self, id: u64, select_type: &'static str, table: &str) -> ExplainRow {
        ExplainRow { id: Some(id), select_type, table: Some(table.into()), ..Default::default() }
    }

    fn scan(&mut self, scan: &TableScan, run: Option<Run>, id: u64, ty: &'static str) {
        let mut row = self.row(id, ty, &scan.alias);
        row.detail.change = self.change().filter(|_| id == 1);
        row.detail.numbers.run = run.map(|_| Run::default());
        row.possible_keys = list(&scan.shown.possible_keys);
        row.partitions =
            scan.parts.as_ref().and_then(|parts| (self.facts.parts)(&scan.table, parts));
        self.note_empty(scan, id);
        if let Some(rows) = self.single_row(scan) {
            row.access = Some("system");
            row.rows = Some(rows);
            row.extra = if rows == 0 { "Const row not found".into() } else { String::new() };
            self.push(row);
            return;
        }
        row.detail.conditions.own = self.scan_conditions(scan);
        row.rows = Some(self.of_partitions(scan).unwrap_or_else(|| count(scan.examined)));
        row.detail.share = Some(scan.shown.share).filter(|_| !self.is_read(scan));
        row.access = Some("ALL");
        let most = self.above.most.take();
        let mut extra: Vec<&str> = describe_index(&mut row, scan, most).into_iter().collect();
        say_group_key(&mut row, scan, self.above.cut.take());
        self.name_outer(&mut row, scan);
        if let Access::Text(search) = &scan.access {
            self.describe_search(&mut row, *search);
        }
        let union = match self.is_empty_change(scan, row.detail.change) {
            true => {
                row.possible_keys = None;
                None
            }
            false => describe_union(&mut row, scan),
        };
        let (read, changes) = (self.is_read(scan), id == 1 && self.changes_rows());
        let by_entry = scan.shown.tested.entries && extra.is_empty() && !read && !changes;
        if by_entry {
            extra.push("Using index condition");
        }
        let buffered = std::mem::take(&mut self.above.buffered) && !read;
        if buffered {
            let before = self.rows.last().is_some_and(|row| row.extra.contains("join buffer"));
            extra.push(match before {
                true => "Using join buffer (incremental, BNL join)",
                false => "Using join buffer (flat, BNL join)",
            });
        }
        let tested = std::mem::take(&mut self.above.tested) && !read;
        let searches = matches!(scan.access, Access::Text(_));
        if !searches {
            self.above.remarks.retain(|remark| *remark != SORTS_BY_RANK);
        }
        let own = (searches || !scan.filter.is_empty() || scan.shown.tested.any()) && !read;
        let ranged = matches!(&scan.access, Access::Index(range) if !range.ranges.is_empty());
        let filtered = match by_entry {
            true => tested || buffered || scan.shown.tested.rows,
            false => tested || own || row.access == Some("range") && ranged,
        };
        row.extra = join_remarks(&mut self.above.remarks, filtered, &extra);
        if let Some(union) = union {
            row.extra = format!("{union}; {}", row.extra);
        }
        let looked_up = row.access == Some("const") && !self.follows_outer(scan);
        if !looked_up || row.detail.change.is_some() {
            row.detail.numbers.run = run;
        }
        if row.detail.change.is_some() {
            say_changed(&mut row, &scan.table);
        }
        self.push(row);
    }

    /// Compat: a change of a table that is known to be empty does not consider several indexes.
    fn is_empty_change(&self, scan: &TableScan, change: Option<&str>) -> bool {
        change.is_some()
            && matches!(scan.access, Access::Union(_))
            && (self.facts.exact)(scan) == Some(0)
    }

    /// Conditions on the rows of a scan.
    fn scan_conditions(&mut self, scan: &TableScan) -> Option<String> {
        let column = |at: &usize| table_column(&scan.alias, &scan.table, *at);
        let columns = Names::Listed(scan.columns.iter().map(column).collect());
        let own = (!scan.filter.is_empty()).then(|| show_all(&scan.filter, &columns, " and "));
        let all: Vec<String> = own.into_iter().chain(self.above.conditions.take()).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }

    /// Whether the statement changes rows that it reads. Compat: no conditions are then tested on
    /// entries of an index.
    pub(super) fn changes_rows(&self) -> bool {
        matches!(self.plan.root.operator, Operator::Update(_) | Operator::Delete(_))
    }

    /// The change whose only table is read.
    fn change(&self) -> Option<&'static str> {
        match &self.plan.root.operator {
            Operator::Update(update) if is_table(&update.source) => Some("update"),
            Operator::Delete(delete) if is_table(&delete.source) => Some("delete"),
            _ => None,
        }
    }

    /// Compat: one row is expected, whatever the search finds.
    fn describe_search(&self, row: &mut ExplainRow, search: selkie_expr::SearchId) {
        let Some(search) = self.plan.searches.get(search.0 as usize) else { return };
        let Some(index) = search.index else { return };
        let name = search.table.fulltext[index].def.name.clone();
        row.access = Some("fulltext");
        row.possible_keys = match row.possible_keys.take() {
            Some(others) => Some(format!("{others},{name}")),
            None => Some(name.to_string()),
        };
        row.reference = Some(String::new());
        row.key = Some(name.to_string());
        row.key_len = Some("0".into());
        row.rows = Some(1);
    }

    /// A lookup value in the `ref` column; columns are shown with schema and table.
    pub(super) fn reference(&self, text: &str) -> String {
        let column =
            text.split_once('.').filter(|_| !text.starts_with(|c: char| c.is_ascii_digit()));
        match column.filter(|_| is_plain(text)) {
            Some((alias, _)) => match self.lookups.schema(self.plan, alias) {
                Some(schema) => format!("{schema}.{text}"),
                None => text.to_owned(),
            },
            None if is_plain(text) => "const".into(),
            None => "func".into(),
        }
    }

    /// Number of rows of a table that is read whole and has at most one row.
    fn single_row(&mut self, scan: &TableScan) -> Option<u64> {
        let is_query = !matches!(
            self.plan.root.operator,
            Operator::Insert(_) | Operator::Update(_) | Operator::Delete(_)
        );
        let whole = match &scan.access {
            Access::Full { .. } => true,
            Access::Index(range) => range.ranges.is_empty(),
            Access::Union(_) | Access::Text(_) => false,
        };
        let passed = scan.filter.is_empty() || self.is_read(scan);
        let plain = is_query && (whole && passed || self.is_single_anyway(scan));
        let most = u64::from(!std::mem::take(&mut self.above.outer));
        let rows = plain.then(|| (self.facts.exact)(scan)).flatten().filter(|n| *n <= most);
        if rows.is_some() {
            (self.above.buffered, self.above.tested) = (false, false);
        }
        rows
    }

    /// Number of rows of the partitions that are read whole, if they are not all.
    fn of_partitions(&self, scan: &TableScan) -> Option<u64> {
        let is_whole = matches!(scan.access, Access::Full { .. });
        (is_whole && scan.parts.is_some()).then(|| (self.facts.exact)(scan)).flatten()
    }

    /// Whether the row of a scan was already read.
    pub(super) fn is_read(&self, scan: &TableScan) -> bool {
        self.facts.read.iter().any(|read| std::ptr::eq(*read, scan))
    }
}

/// Compat: a change of one table has neither constants nor lookups, and an UPDATE of all rows reads
/// the clustered key.
fn say_changed(row: &mut ExplainRow, table: &TableInfo) {
    if matches!(row.access, Some("const" | "ref")) {
        row.access = Some("range");
        row.reference = None;
        say_tested(row);
    }
    let reads_all = row.detail.change == Some("update") && row.access == Some("ALL");
    if reads_all && table.engine.keys.clustered {
        say_whole_key(row, table);
    }
}

fn say_whole_key(row: &mut ExplainRow, table: &TableInfo) {
    let Some(index) = table.def.primary() else { return };
    let parts = index.parts.len();
    row.access = Some("index");
    row.key = Some(index.name.to_string());
    row.key_len = Some(key_length(table, 0, parts).to_string());
    row.key_parts = key_columns(table, 0, parts);
}

/// Describes the index that a scan reads, of which at most `most` rows are wanted, and returns its
/// remark.
fn describe_index(
    row: &mut ExplainRow,
    scan: &TableScan,
    most: Option<u64>,
) -> Option<&'static str> {
    if reads_whole_key(scan) {
        say_whole_key(row, &scan.table);
        return Some("Using index");
    }
    let Access::Index(range) = &scan.access else { return None };
    describe_range(row, scan, range);
    // Compat: LIMIT reduces this number even if conditions drop some of the rows.
    if range.ordered && row.access == Some("index") {
        row.rows = row.rows.min(most).or(row.rows);
    }
    match range.groups {
        Some(_) => Some("Using index for group-by"),
        None => reads_entries(scan, range).then_some("Using index"),
    }
}

/// Whether a scan by an index reads its entries alone.
fn reads_entries(scan: &TableScan, range: &IndexRange) -> bool {
    let told = scan.shown.entry_only || reads_key_only(scan, range.index);
    range.covering || range.entry_locks || told
}

/// Whether a scan by an index reads the clustered key alone.
fn reads_key_only(scan: &TableScan, index: usize) -> bool {
    scan.shown.key_only && scan.table.def.indexes[index].kind == IndexKind::Primary
}

/// Whether a scan of all rows reads the clustered key alone. The key's order is that of the rows
/// only if they are in one tree.
fn reads_whole_key(scan: &TableScan) -> bool {
    let is_whole = matches!(scan.access, Access::Full { .. });
    let in_order = scan.table.partitions.is_none() || scan.columns.is_empty();
    is_whole && scan.shown.key_only && in_order
}

/// Whether an operator is a table, with conditions or computed columns.
fn is_table(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Operator::TableScan(_) | Operator::SystemTableScan(_) => true,
        Operator::Filter { input, .. } | Operator::Project { input, .. } => is_table(input),
        Operator::Sort(sort) => is_table(&sort.input),
        Operator::TopN(top) => is_table(&top.input),
        Operator::Limit(limit) => is_table(&limit.input),
        Operator::RowNumbers(numbers) => is_table(&numbers.input),
        Operator::Materialize(input) => is_table(input),
        _ => false,
    }
}

pub(super) fn say_tested(row: &mut ExplainRow) {
    if !row.extra.contains("Using where") {
        let rest = std::mem::take(&mut row.extra);
        let gap = if rest.is_empty() { "" } else { "; " };
        row.extra = format!("Using where{gap}{rest}");
    }
}

/// Whether the row of a table is known before others are read.
pub(super) fn is_known(row: &ExplainRow) -> bool {
    matches!(row.access, Some("system" | "const"))
}

/// Number of rows that a LIMIT reads from its input, if known.
fn rows_wanted(limit: &Limit) -> Option<u64> {
    let offset = limit.offset.as_ref().map_or(Some(0), number)?;
    Some(number(limit.limit.as_ref()?)?.saturating_add(offset))
}

/// The value of a literal count.
pub(super) fn number(expr: &Expr) -> Option<u64> {
    match expr.as_literal() {
        Some(Value::Int(n)) => u64::try_from(*n).ok(),
        Some(Value::UInt(n)) => Some(*n),
        _ => None,
    }
}

/// The remarks, joined in MariaDB's order.
pub(super) fn join_remarks(above: &mut Vec<&'static str>, filtered: bool, own: &[&str]) -> String {
    const BY_ENTRY: &str = "Using index condition";
    let mut all: Vec<&str> = Vec::new();
    all.extend(own.contains(&BY_ENTRY).then_some(BY_ENTRY));
    if filtered {
        all.push("Using where");
    }
    all.extend(own.iter().filter(|r| r.starts_with("Using index") && **r != BY_ENTRY));
    for remark in ["Using temporary", "Using filesort"] {
        let by_rank = remark == "Using temporary" && above.contains(&SORTS_BY_RANK);
        if above.contains(&remark) || by_rank {
            all.push(remark);
        }
    }
    all.extend(own.iter().filter(|r| !r.starts_with("Using index")));
    above.clear();
    all.join("; ")
}

pub(super) fn count(rows: f64) -> u64 {
    rows.round().max(1.0) as u64
}

pub(super) fn list(names: &[Box<str>]) -> Option<String> {
    if names.is_empty() { None } else { Some(names.join(",")) }
}

/// Whether a lookup value is a name or a number only.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'))
}
