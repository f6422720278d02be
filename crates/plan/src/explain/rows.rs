//! The table of EXPLAIN in MariaDB's vocabulary, as far as its words fit what is done.

use selkie_catalog::TableInfo;

use super::names::{names, show};
use crate::physical::{
    Access, AggregateStrategy, IndexLookup, IndexRange, JoinKind, Operator, Plan, PlanNode,
    RangeBound, TableScan,
};

/// One line of EXPLAIN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExplainRow {
    /// Number of the query block; `None` for the result of a UNION.
    pub id: Option<u64>,
    /// `SIMPLE`, `PRIMARY`, `SUBQUERY` and so on.
    pub select_type: &'static str,
    /// Table.
    pub table: Option<String>,
    /// Join type.
    pub access: Option<&'static str>,
    /// Indexes that could be used.
    pub possible_keys: Option<String>,
    /// The index used.
    pub key: Option<String>,
    /// Bytes of it used.
    pub key_len: Option<String>,
    /// What it is compared with.
    pub reference: Option<String>,
    /// Rows expected.
    pub rows: Option<u64>,
    /// Remarks.
    pub extra: String,
}

/// The lines of EXPLAIN for a plan.
pub fn rows(plan: &Plan) -> Vec<ExplainRow> {
    let mut walk = Walk { plan, rows: Vec::new(), next: 1, remarks: Vec::new(), buffered: false };
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

/// Whether a plan has more than one query block.
fn has_block(node: &PlanNode) -> bool {
    let mut found = false;
    node.visit(&mut |n| found |= matches!(n.operator, Operator::SetOperation(_)));
    found
}

struct Walk<'a> {
    plan: &'a Plan,
    rows: Vec<ExplainRow>,
    next: u64,
    /// Remarks of operators above, said of the first table below.
    remarks: Vec<&'static str>,
    /// The next table is the build side of a hash join.
    buffered: bool,
}

impl Walk<'_> {
    fn block(&mut self, node: &PlanNode, ty: &'static str) {
        let id = self.next;
        self.next += 1;
        self.remarks.clear();
        let first = self.rows.len();
        self.node(node, id, ty);
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
        match &node.operator {
            Operator::TableScan(scan) => self.scan(scan, node, id, ty),
            Operator::SystemTableScan(scan) => {
                let mut row = self.row(id, ty, &scan.alias);
                row.access = Some("ALL");
                row.extra = join_remarks(&mut self.remarks, !scan.filter.is_empty(), &[]);
                self.rows.push(row);
            }
            Operator::CommonTableScan(at) | Operator::WorkTableScan(at) => {
                let name = self.plan.common_tables.get(*at).map_or("", |c| &c.name).to_owned();
                let mut row = self.row(id, ty, &name);
                row.access = Some("ALL");
                row.rows = Some(count(node.rows));
                row.extra = join_remarks(&mut self.remarks, false, &[]);
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
                row.extra = join_remarks(&mut self.remarks, !join.on.is_empty(), &extra);
                self.rows.push(row);
            }
            Operator::IndexJoin(join) => {
                self.node(&join.left, id, ty);
                let outer = names(self.plan, &join.left);
                let keys: Vec<String> =
                    join.lookup.keys.iter().map(|k| reference(&show(k, &outer))).collect();
                let filtered = !join.lookup.filter.is_empty() || !join.residual.is_empty();
                self.lookup(&join.lookup, keys, filtered, join.kind, id, ty);
            }
            Operator::HashJoin(join) => {
                self.node(&join.left, id, ty);
                self.buffered = true;
                self.node(&join.right, id, ty);
            }
            Operator::NestedLoopJoin(join) => {
                self.node(&join.left, id, ty);
                self.buffered = true;
                self.node(&join.right, id, ty);
            }
            Operator::SetOperation(set) => self.set(&set.inputs, id, ty),
            other => {
                self.remarks.extend(remarks_of(other));
                node.inputs().into_iter().for_each(|input| self.node(input, id, ty));
            }
        }
    }

    fn set(&mut self, inputs: &[PlanNode], id: u64, ty: &'static str) {
        let remarks = std::mem::take(&mut self.remarks);
        for (at, input) in inputs.iter().enumerate() {
            if at == 0 {
                self.node(input, id, ty);
            } else {
                self.block(input, "UNION");
            }
        }
        let mut row = ExplainRow { select_type: "UNION RESULT", ..Default::default() };
        row.table = Some("<union>".into());
        row.access = Some("ALL");
        row.extra = remarks.join("; ");
        self.rows.push(row);
    }

    fn row(&mut self, id: u64, select_type: &'static str, table: &str) -> ExplainRow {
        ExplainRow { id: Some(id), select_type, table: Some(table.into()), ..Default::default() }
    }

    fn scan(&mut self, scan: &TableScan, node: &PlanNode, id: u64, ty: &'static str) {
        let mut row = self.row(id, ty, &scan.alias);
        row.rows = Some(count(node.rows));
        row.possible_keys = list(&scan.possible_keys);
        row.access = Some("ALL");
        let mut extra = Vec::new();
        if let Access::Index(range) = &scan.access {
            describe_range(&mut row, scan, range);
            if range.covering {
                extra.push("Using index");
            }
        }
        if std::mem::take(&mut self.buffered) {
            extra.push("Using join buffer (flat, BNLH join)");
        }
        let filtered = !scan.filter.is_empty() || row.access == Some("range");
        row.extra = join_remarks(&mut self.remarks, filtered, &extra);
        self.rows.push(row);
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
        row.possible_keys = list(&lookup.possible_keys);
        row.key = Some(index.name.to_string());
        row.key_len = Some(key_length(&lookup.table, lookup.index, keys.len()).to_string());
        row.reference = Some(keys.join(","));
        row.rows = Some(count(lookup.matches));
        let mut extra = Vec::new();
        if lookup.covering {
            extra.push("Using index");
        }
        match kind {
            JoinKind::Semi => extra.push("FirstMatch"),
            JoinKind::Anti => extra.push("Not exists"),
            _ => {}
        }
        row.extra = join_remarks(&mut self.remarks, filtered, &extra);
        self.rows.push(row);
    }
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

/// The remarks in MariaDB's order.
fn join_remarks(above: &mut Vec<&'static str>, filtered: bool, own: &[&'static str]) -> String {
    let mut all: Vec<&str> = Vec::new();
    if filtered {
        all.push("Using where");
    }
    all.extend(own.iter().filter(|r| r.starts_with("Using index")));
    for remark in ["Using temporary", "Using filesort"] {
        if above.contains(&remark) {
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
    let bounded = range.ranges.iter().any(|r| {
        r.like.is_some()
            || !matches!((&r.lower, &r.upper), (RangeBound::Unbounded, RangeBound::Unbounded))
    });
    let parts = (equal + usize::from(bounded)).min(index.parts.len());
    let used = if parts == 0 { index.parts.len() } else { parts };
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

/// Bytes of the first `parts` of a key as MariaDB counts them.
fn key_length(table: &TableInfo, index: usize, parts: usize) -> usize {
    let index = &table.def.indexes[index];
    let part = |part: &selkie_engine::IndexPart| {
        let column = &table.columns[part.column];
        let ty = &column.ty;
        let bytes = match ty.fixed_width() {
            _ if ty.kind == selkie_types::TypeKind::Date => 3,
            Some(width) => width,
            None => {
                let characters = part.prefix.unwrap_or(ty.length) as usize;
                let variable = ty.kind != selkie_types::TypeKind::Char;
                characters * ty.collation.charset().max_len() + if variable { 2 } else { 0 }
            }
        };
        bytes + usize::from(column.nullable)
    };
    index.parts.iter().take(parts).map(part).sum()
}

fn count(rows: f64) -> u64 {
    rows.round().max(1.0) as u64
}

fn list(names: &[Box<str>]) -> Option<String> {
    if names.is_empty() { None } else { Some(names.join(",")) }
}

/// A lookup value as the `ref` column shows it.
fn reference(text: &str) -> String {
    let plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'));
    match plain && text.contains('.') && !text.starts_with(|c: char| c.is_ascii_digit()) {
        true => text.to_owned(),
        false if plain => "const".into(),
        false => "func".into(),
    }
}
