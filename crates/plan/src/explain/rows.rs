//! The table of EXPLAIN in MariaDB's terms, as far as they fit this server's plans. The executor
//! calls it; JSON output is built from the same rows.

use selkie_catalog::TableInfo;

use super::names::{names, show};
use crate::physical::{
    Access, AggregateStrategy, IndexLookup, IndexRange, JoinKind, KeyRange, Limit, Operator,
    PartsRead, Plan, PlanNode, TableScan,
};
use selkie_expr::{Expr, ExprKind};
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
}

/// Exact number of rows of a table; `None` if it would be a guess.
pub type ExactRows<'a> = &'a dyn Fn(&TableInfo) -> Option<u64>;

/// Names of the partitions that a scan reads, which depend on values.
pub type PartNames<'a> = &'a dyn Fn(&TableInfo, &PartsRead) -> Option<String>;

/// The rows of EXPLAIN for a plan. `read`: scans of constant tables, whose only row was already
/// read.
pub fn rows(
    plan: &Plan,
    exact: ExactRows<'_>,
    read: &[&TableScan],
    parts: PartNames<'_>,
) -> Vec<ExplainRow> {
    let above = Above::default();
    let mut walk = Walk { plan, exact, read, parts, rows: Vec::new(), next: 1, above };
    let alone = !plan.subplans.iter().any(|s| !matches!(s.root.operator, Operator::Empty))
        && !has_block(&plan.root);
    let ty = if alone { "SIMPLE" } else { "PRIMARY" };
    walk.block(&plan.root, ty);
    for subplan in &plan.subplans {
        if !matches!(subplan.root.operator, Operator::Empty) {
            let ty = if subplan.slots.is_empty() { "SUBQUERY" } else { "DEPENDENT SUBQUERY" };
            walk.block(&subplan.root, ty);
        }
    }
    for common in &plan.common_tables {
        if !matches!(common.plan.operator, Operator::Empty) {
            walk.block(&common.plan, "DERIVED");
        }
    }
    walk.rows
}

/// Whether a plan has a set operation, and so several query blocks.
fn has_block(node: &PlanNode) -> bool {
    let mut found = false;
    node.visit(&mut |n| found |= matches!(n.operator, Operator::SetOperation(_)));
    found
}

struct Walk<'a> {
    plan: &'a Plan,
    exact: ExactRows<'a>,
    read: &'a [&'a TableScan],
    parts: PartNames<'a>,
    rows: Vec<ExplainRow>,
    next: u64,
    above: Above,
}

/// Information from the operators above for the next table.
#[derive(Default)]
struct Above {
    /// Remarks for the first table below.
    remarks: Vec<&'static str>,
    /// Whether the table is joined through a join buffer.
    buffered: bool,
    /// Whether join conditions are tested on its rows.
    tested: bool,
    /// Whether it is the inner side of an outer join.
    outer: bool,
    /// Number of rows after which no more are requested.
    most: Option<u64>,
}

impl Walk<'_> {
    fn block(&mut self, node: &PlanNode, ty: &'static str) {
        stack::ensure();
        let id = self.next;
        self.next += 1;
        self.above = Above::default();
        let first = self.rows.len();
        self.node(node, id, ty);
        // Tables with one row are read before all others.
        let own = self.rows[first..].iter().take_while(|row| row.id == Some(id)).count();
        self.rows[first..first + own].sort_by_key(|row| match row.access {
            Some("system") => 0,
            Some("const") => 1,
            _ => 2,
        });
        if self.rows.len() == first {
            let extra = match &node.operator {
                Operator::Empty => "Impossible WHERE",
                _ => "No tables used",
            };
            let extra = extra.into();
            self.rows.push(ExplainRow {
                id: Some(id),
                select_type: ty,
                extra,
                ..Default::default()
            });
        }
    }

    fn node(&mut self, node: &PlanNode, id: u64, ty: &'static str) {
        stack::ensure();
        match &node.operator {
            Operator::TableScan(scan) => self.scan(scan, id, ty),
            Operator::SystemTableScan(scan) => {
                let mut row = self.row(id, ty, &scan.alias);
                row.access = Some("ALL");
                row.extra = join_remarks(&mut self.above.remarks, !scan.filter.is_empty(), &[]);
                self.rows.push(row);
            }
            Operator::CommonTableScan(at) | Operator::WorkTableScan(at) => {
                let name = self.plan.common_tables.get(*at).map_or("", |c| &c.name).to_owned();
                let mut row = self.row(id, ty, &name);
                row.access = Some("ALL");
                row.rows = Some(count(node.rows));
                row.extra = join_remarks(&mut self.above.remarks, false, &[]);
                self.rows.push(row);
            }
            Operator::JsonTable(join) => {
                if !matches!(join.input.operator, Operator::OneRow) {
                    self.node(&join.input, id, ty);
                }
                let mut row = self.row(id, ty, &join.table.alias);
                row.access = Some("ALL");
                row.rows = Some(40);
                let extra = ["Table function: json_table"];
                row.extra = join_remarks(&mut self.above.remarks, !join.on.is_empty(), &extra);
                self.rows.push(row);
            }
            Operator::IndexJoin(join) => {
                self.above.most = None;
                self.node(&join.left, id, ty);
                let outer = names(self.plan, &join.left);
                let keys = join.lookup.keys.iter().map(|k| match k.is_constant() {
                    true => "const".into(),
                    false => self.reference(&show(k, &outer)),
                });
                let keys: Vec<String> = keys.collect();
                let (table, index) = (&join.lookup.table, join.lookup.index);
                let filtered = !join.lookup.filter.is_empty()
                    || !join.residual.is_empty()
                    || keeps_test(table, index, &join.lookup.keys);
                self.lookup(&join.lookup, keys, filtered, join.kind, id, ty);
            }
            Operator::HashJoin(join) => {
                self.buffered_join(&join.left, &join.right, (join.kind, true), id, ty);
            }
            Operator::NestedLoopJoin(join) => {
                let tested = !join.conditions.is_empty();
                self.buffered_join(&join.left, &join.right, (join.kind, tested), id, ty);
            }
            Operator::SetOperation(set) => self.set(&set.inputs, id, ty),
            Operator::Limit(limit) => {
                self.above.most = rows_wanted(limit);
                self.node(&limit.input, id, ty);
            }
            Operator::Filter { input, conditions } => {
                self.above.tested |= tests_ranks(conditions, input);
                self.node(input, id, ty);
            }
            Operator::Project { input, .. } => self.node(input, id, ty),
            other => {
                self.above.most = None;
                self.above.remarks.extend(remarks_of(other));
                self.above.remarks.extend(sorts_by_rank(other).then_some(SORTS_BY_RANK));
                node.inputs().into_iter().for_each(|input| self.node(input, id, ty));
            }
        }
    }

    fn set(&mut self, inputs: &[PlanNode], id: u64, ty: &'static str) {
        let remarks = std::mem::take(&mut self.above.remarks);
        let mut numbers = vec![id.to_string()];
        for (at, input) in blocks_of(inputs).into_iter().enumerate() {
            if at == 0 {
                self.node(input, id, ty);
            } else {
                numbers.push(self.next.to_string());
                self.block(input, "UNION");
            }
        }
        let mut row = ExplainRow { select_type: "UNION RESULT", ..Default::default() };
        row.table = Some(format!("<union{}>", numbers.join(",")));
        row.access = Some("ALL");
        row.extra = remarks.join("; ");
        self.rows.push(row);
    }

    fn row(&mut self, id: u64, select_type: &'static str, table: &str) -> ExplainRow {
        ExplainRow { id: Some(id), select_type, table: Some(table.into()), ..Default::default() }
    }

    fn scan(&mut self, scan: &TableScan, id: u64, ty: &'static str) {
        let mut row = self.row(id, ty, &scan.alias);
        row.possible_keys = list(&scan.possible_keys);
        row.partitions = scan.parts.as_ref().and_then(|parts| (self.parts)(&scan.table, parts));
        if let Some(rows) = self.single_row(scan) {
            row.access = Some("system");
            row.rows = Some(rows);
            row.extra = if rows == 0 { "Const row not found".into() } else { String::new() };
            self.rows.push(row);
            return;
        }
        row.rows = Some(count(scan.examined));
        row.access = Some("ALL");
        let most = self.above.most.take();
        let mut extra = Vec::new();
        if let Access::Index(range) = &scan.access {
            describe_range(&mut row, scan, range);
            // Compat: LIMIT reduces this number even if conditions drop some of the rows.
            if range.ordered && row.access == Some("index") {
                row.rows = row.rows.min(most).or(row.rows);
            }
            if range.groups.is_some() {
                extra.push("Using index for group-by");
            } else if range.covering || range.entry_locks {
                extra.push("Using index");
            }
        }
        if let Access::Text(search) = &scan.access {
            self.describe_search(&mut row, *search);
        }
        let union = describe_union(&mut row, scan);
        let read = self.is_read(scan);
        if std::mem::take(&mut self.above.buffered) && !read {
            let before = self.rows.last().is_some_and(|row| row.extra.contains("join buffer"));
            extra.push(match before {
                true => "Using join buffer (incremental, BNL join)",
                false => "Using join buffer (flat, BNL join)",
            });
        }
        let tested = std::mem::take(&mut self.above.tested) && !read;
        let looked_up = matches!(row.access, Some("ref" | "const"));
        let kept = match &scan.access {
            Access::Index(range) if looked_up => range
                .ranges
                .iter()
                .any(|values| keeps_test(&scan.table, range.index, &values.equal)),
            _ => false,
        };
        let searches = matches!(scan.access, Access::Text(_));
        if !searches {
            self.above.remarks.retain(|remark| *remark != SORTS_BY_RANK);
        }
        let own = (kept || searches || !scan.filter.is_empty()) && !read;
        let ranged = matches!(&scan.access, Access::Index(range) if !range.ranges.is_empty());
        let filtered = tested || own || row.access == Some("range") && ranged;
        row.extra = join_remarks(&mut self.above.remarks, filtered, &extra);
        if let Some(union) = union {
            row.extra = format!("{union}; {}", row.extra);
        }
        self.rows.push(row);
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
    fn reference(&self, text: &str) -> String {
        let column =
            text.split_once('.').filter(|_| !text.starts_with(|c: char| c.is_ascii_digit()));
        match column.filter(|_| is_plain(text)) {
            Some((alias, _)) => match self.schema_of(alias) {
                Some(schema) => format!("{schema}.{text}"),
                None => text.to_owned(),
            },
            None if is_plain(text) => "const".into(),
            None => "func".into(),
        }
    }

    /// Schema of the table with the alias `alias`.
    fn schema_of(&self, alias: &str) -> Option<Box<str>> {
        let mut found = None;
        let mut visit = |node: &PlanNode| {
            let table = match &node.operator {
                Operator::TableScan(scan) if *scan.alias == *alias => &scan.table,
                Operator::IndexJoin(join) if *join.lookup.alias == *alias => &join.lookup.table,
                _ => return,
            };
            found.get_or_insert_with(|| table.schema().into());
        };
        self.plan.root.visit(&mut visit);
        self.plan.subplans.iter().for_each(|s| s.root.visit(&mut visit));
        self.plan.common_tables.iter().for_each(|c| c.plan.visit(&mut visit));
        found
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
        let plain = is_query && whole && passed;
        let most = u64::from(!std::mem::take(&mut self.above.outer));
        let rows = plain.then(|| (self.exact)(&scan.table)).flatten().filter(|n| *n <= most);
        if rows.is_some() {
            (self.above.buffered, self.above.tested) = (false, false);
        }
        rows
    }

    /// Whether the row of a scan was already read.
    fn is_read(&self, scan: &TableScan) -> bool {
        self.read.iter().any(|read| std::ptr::eq(*read, scan))
    }

    /// A join that keeps one side in memory. Compat: MariaDB keeps the first table; an inner join
    /// here keeps its right side, so that side is shown first.
    fn buffered_join(
        &mut self,
        left: &PlanNode,
        right: &PlanNode,
        (kind, tested): (JoinKind, bool),
        id: u64,
        ty: &'static str,
    ) {
        self.above.most = None;
        let inner = kind == JoinKind::Inner;
        let (first, second) = if inner { (right, left) } else { (left, right) };
        let start = self.rows.len();
        self.node(first, id, ty);
        self.joined_to(start);
        self.above.tested = tested;
        self.above.outer = !inner;
        let middle = self.rows.len();
        self.node(second, id, ty);
        // A condition tested on a known row is in effect tested on the other tables.
        if tested && self.rows[middle..].iter().all(is_known) {
            let others = self.rows[start..middle].iter_mut().rev();
            if let Some(row) = others.into_iter().find(|row| !is_known(row)) {
                say_tested(row);
            }
        }
    }

    /// Rows known from the start need no join buffer.
    fn joined_to(&mut self, first: usize) {
        self.above.buffered = !self.rows[first..].iter().all(is_known);
    }

    fn lookup(
        &mut self,
        lookup: &IndexLookup,
        keys: Vec<String>,
        filtered: bool,
        kind: JoinKind,
        id: u64,
        ty: &'static str,
    ) {
        let index = &lookup.table.def.indexes[lookup.index];
        let mut row = self.row(id, ty, &lookup.alias);
        row.access = Some(if lookup.unique { "eq_ref" } else { "ref" });
        row.partitions = lookup.parts.as_ref().and_then(|parts| (self.parts)(&lookup.table, parts));
        row.possible_keys = list(&lookup.possible_keys);
        row.key = Some(index.name.to_string());
        row.key_len = Some(key_length(&lookup.table, lookup.index, keys.len()).to_string());
        row.reference = Some(keys.join(","));
        row.rows = Some(count(lookup.matches));
        let mut extra = Vec::new();
        if lookup.covering || lookup.entry_locks {
            extra.push("Using index");
        }
        match kind {
            JoinKind::Semi => extra.push("FirstMatch"),
            JoinKind::Anti => extra.push("Not exists"),
            _ => {}
        }
        row.extra = join_remarks(&mut self.above.remarks, filtered, &extra);
        self.rows.push(row);
    }
}

fn say_tested(row: &mut ExplainRow) {
    if !row.extra.contains("Using where") {
        let rest = std::mem::take(&mut row.extra);
        let gap = if rest.is_empty() { "" } else { "; " };
        row.extra = format!("Using where{gap}{rest}");
    }
}

/// Compat: whether rows found by a key are tested again. They are, unless each value is a column of
/// the same type or a constant that is not a string.
fn keeps_test(table: &TableInfo, index: usize, keys: &[Expr]) -> bool {
    let parts = table.def.indexes[index].parts.iter();
    parts.zip(keys).any(|(part, key)| {
        let ty = &table.columns[part.column].ty;
        match (key.as_column(), key.as_literal()) {
            (Some(_), _) => key.ty != *ty,
            (_, Some(value)) => ty.is_string() && !value.is_null(),
            _ => true,
        }
    })
}

/// Whether the row of a table is known before others are read.
fn is_known(row: &ExplainRow) -> bool {
    matches!(row.access, Some("system" | "const"))
}

/// Number of rows that a LIMIT reads from its input, if known.
fn rows_wanted(limit: &Limit) -> Option<u64> {
    let number = |e: &Expr| match e.as_literal() {
        Some(Value::Int(n)) => u64::try_from(*n).ok(),
        Some(Value::UInt(n)) => Some(*n),
        _ => None,
    };
    let offset = limit.offset.as_ref().map_or(Some(0), number)?;
    Some(number(limit.limit.as_ref()?)?.saturating_add(offset))
}

/// The query blocks of a UNION, including those of a UNION that is its first input.
fn blocks_of(inputs: &[PlanNode]) -> Vec<&PlanNode> {
    stack::ensure();
    let (Some(first), rest) = (inputs.first(), inputs.get(1..).unwrap_or_default()) else {
        return Vec::new();
    };
    let mut blocks = match &first.operator {
        Operator::SetOperation(set) => blocks_of(&set.inputs),
        _ => vec![first],
    };
    blocks.extend(rest);
    blocks
}

fn remarks_of(operator: &Operator) -> Option<&'static str> {
    match operator {
        Operator::Sort(_) | Operator::TopN(_) => Some("Using filesort"),
        Operator::Aggregate(a) if !a.groups.is_empty() && a.strategy == AggregateStrategy::Hash => {
            Some("Using temporary")
        }
        Operator::Distinct(_) | Operator::Window(_) => Some("Using temporary"),
        _ => None,
    }
}

/// Compat: ranks of a search that is also the access to its table are kept while they are sorted.
const SORTS_BY_RANK: &str = "by rank";

/// Whether a filter tests ranks of the rows of a table.
fn tests_ranks(conditions: &[Expr], input: &PlanNode) -> bool {
    let reads = matches!(input.operator, Operator::TableScan(_));
    let ranks = |e: &Expr| e.any(&mut |e| matches!(e.kind, ExprKind::Match(_)));
    reads && conditions.iter().any(ranks)
}

fn sorts_by_rank(operator: &Operator) -> bool {
    let keys = match operator {
        Operator::Sort(sort) => &sort.keys,
        Operator::TopN(top) => &top.keys,
        _ => return false,
    };
    keys.iter().any(|key| key.expr.any(&mut |e| matches!(e.kind, ExprKind::Match(_))))
}

/// The remarks, joined in MariaDB's order.
fn join_remarks(above: &mut Vec<&'static str>, filtered: bool, own: &[&'static str]) -> String {
    let mut all: Vec<&str> = Vec::new();
    if filtered {
        all.push("Using where");
    }
    all.extend(own.iter().filter(|r| r.starts_with("Using index")));
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

fn describe_range(row: &mut ExplainRow, scan: &TableScan, range: &IndexRange) {
    let index = &scan.table.def.indexes[range.index];
    row.key = Some(index.name.to_string());
    let equal = range.ranges.iter().map(|r| r.equal.len()).max().unwrap_or(0);
    let bounded = range.ranges.iter().any(KeyRange::is_bounded);
    let most = index.parts.len() + scan.table.def.parts_behind(index).count();
    let parts = (equal + usize::from(bounded)).min(most);
    let used = if parts == 0 { index.parts.len() } else { parts };
    if let Some(groups) = range.groups {
        // Compat: the part whose ends are read is counted if its least value is needed.
        let ends = usize::from(groups.first);
        row.key_len = Some(key_length(&scan.table, range.index, groups.parts + ends).to_string());
        row.access = Some("range");
        row.possible_keys =
            row.possible_keys.take().or_else(|| row.key.clone().filter(|_| parts > 0));
        return;
    }
    row.key_len = Some(key_length(&scan.table, range.index, used).to_string());
    row.access = Some(match (range.unique, range.ranges.len(), bounded) {
        (true, ..) => "const",
        _ if parts == 0 => "index",
        (_, 1, false) => "ref",
        _ => "range",
    });
    if !bounded && range.ranges.len() == 1 && parts > 0 {
        row.reference = Some(vec!["const"; equal].join(","));
    }
    if row.possible_keys.is_none() && parts > 0 {
        row.possible_keys = row.key.clone();
    }
}

/// Describes an access through several indexes and returns its remark; `None` for other accesses.
fn describe_union(row: &mut ExplainRow, scan: &TableScan) -> Option<String> {
    let Access::Union(union) = &scan.access else { return None };
    let (mut names, mut lengths, mut in_order) = (Vec::new(), Vec::new(), true);
    for range in union {
        let mut one = ExplainRow::default();
        describe_range(&mut one, scan, range);
        names.extend(one.key);
        lengths.extend(one.key_len);
        let parts = scan.table.def.indexes[range.index].parts.len();
        in_order &=
            one.access == Some("ref") && range.ranges.iter().all(|r| r.equal.len() >= parts);
    }
    row.access = Some("index_merge");
    row.key = Some(names.join(","));
    row.key_len = Some(lengths.join(","));
    row.possible_keys = row.possible_keys.take().or_else(|| row.key.clone());
    let kind = if in_order { "union" } else { "sort_union" };
    Some(format!("Using {kind}({})", names.join(",")))
}

/// Number of bytes of the first `parts` parts of a key, as MariaDB counts them.
fn key_length(table: &TableInfo, index: usize, parts: usize) -> usize {
    let index = &table.def.indexes[index];
    let part = |part: &selkie_engine::IndexPart| {
        let column = &table.columns[part.column];
        let ty = &column.ty;
        let bytes = match ty.physical() {
            selkie_types::Physical::Bytes if ty.fixed_binary().is_none() => {
                let characters = part.prefix.unwrap_or(ty.length) as usize;
                let variable = ty.kind != selkie_types::TypeKind::Char;
                characters * ty.collation.charset().max_len() + if variable { 2 } else { 0 }
            }
            _ => ty.record_bytes(),
        };
        bytes + usize::from(column.nullable)
    };
    index.parts.iter().chain(table.def.parts_behind(index)).take(parts).map(part).sum()
}

fn count(rows: f64) -> u64 {
    rows.round().max(1.0) as u64
}

fn list(names: &[Box<str>]) -> Option<String> {
    if names.is_empty() { None } else { Some(names.join(",")) }
}

/// Whether a lookup value is a name or a number only.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'))
}
