//! A plan as an indented tree with one operator per line. The planner's golden files contain it, so
//! it shows no costs, and row counts with two significant digits.

use selkie_types::stack;

use std::fmt::Write;

use super::names::{Names, both, lookup_names, names, show, show_all};
use crate::physical::{
    Access, Aggregate, AggregateStrategy, HashJoin, IndexJoin, IndexRange, JoinKind, KeyRange,
    Operator, Plan, PlanNode, RangeBound, RowNumbers, SortKey, TableScan,
};

/// The tree of `plan`, with its subplans and common tables.
pub fn tree(plan: &Plan) -> String {
    let mut text = String::new();
    write_node(plan, &plan.root, 0, &mut text);
    for (at, common) in plan.common_tables.iter().enumerate() {
        if !matches!(common.plan.operator, Operator::Empty) {
            let _ = writeln!(text, "Common table {at} {}", common.name);
            write_node(plan, &common.plan, 1, &mut text);
        }
    }
    for (at, subplan) in plan.subplans.iter().enumerate() {
        if !matches!(subplan.root.operator, Operator::Empty) {
            let kind = if subplan.slots.is_empty() { "once" } else { "correlated" };
            let _ = writeln!(text, "Subplan {at} ({kind})");
            write_node(plan, &subplan.root, 1, &mut text);
        }
    }
    text
}

fn write_node(plan: &Plan, node: &PlanNode, depth: usize, text: &mut String) {
    stack::ensure();
    let indent = "  ".repeat(depth);
    let _ = writeln!(text, "{indent}{} [{}]", describe(plan, node), rounded(node.rows));
    if let Operator::IndexJoin(join) = &node.operator {
        let lookup = describe_lookup(plan, join);
        write_node(plan, &join.left, depth + 1, text);
        let _ = writeln!(text, "{indent}  {lookup}");
        return;
    }
    node.inputs().into_iter().for_each(|input| write_node(plan, input, depth + 1, text));
}

/// A number rounded to two significant digits.
fn rounded(rows: f64) -> String {
    if rows < 100.0 {
        return format!("{}", rows.round());
    }
    let unit = 10f64.powi(rows.log10() as i32 - 1);
    format!("{}", (rows / unit).round() * unit)
}

fn describe(plan: &Plan, node: &PlanNode) -> String {
    let below =
        || node.inputs().first().map_or(Names::Listed(Vec::new()), |input| names(plan, input));
    match &node.operator {
        Operator::OneRow => "One row".into(),
        Operator::Empty => "Empty".into(),
        Operator::TableScan(scan) => describe_scan(scan),
        Operator::SystemTableScan(scan) => format!("System table {}", scan.alias),
        Operator::CommonTableScan(at) => format!("Common table scan {at}"),
        Operator::WorkTableScan(at) => format!("Work table scan {at}"),
        Operator::Values(rows) => format!("Values of {} rows", rows.len()),
        Operator::BulkValues(bulk) => format!("Values of {} rows each", bulk.height),
        Operator::IndexJoin(join) => format!("{} index join", kind_name(join.kind)),
        Operator::HashJoin(join) => describe_hash_join(plan, join),
        Operator::NestedLoopJoin(join) => {
            let all = both(plan, &join.left, &join.right);
            let on: Vec<_> = join.null_aware.iter().chain(&join.conditions).cloned().collect();
            format!(
                "{} loop join{}",
                kind_name(join.kind),
                prefixed(" on ", &show_all(&on, &all, " and "))
            )
        }
        Operator::Filter { conditions, .. } => {
            format!("Filter {}", show_all(conditions, &below(), " and "))
        }
        Operator::Project { exprs, .. } => format!("Project {}", show_all(exprs, &below(), ", ")),
        Operator::Aggregate(aggregate) => describe_aggregate(aggregate, &below()),
        Operator::Window(window) => {
            let below = below();
            let partition = show_all(&window.partition, &below, ", ");
            format!(
                "Window of {} functions{}{}",
                window.calls.len(),
                prefixed(" partition by ", &partition),
                prefixed(" order by ", &keys(&window.order, &below))
            )
        }
        Operator::Analyse(analyse) => format!("Analyse {} columns", analyse.columns.len()),
        Operator::RowNumbers(numbers) => describe_numbers(numbers, &names(plan, node)),
        Operator::JsonTable(join) => {
            format!("JSON_TABLE {} of {}", join.table.alias, show(&join.document, &below()))
        }
        Operator::Sort(sort) => format!("Sort {}", keys(&sort.keys, &below())),
        Operator::TopN(top) => format!("Top {} by {}", top.limit, keys(&top.keys, &below())),
        Operator::Limit(limit) => {
            let part = |name: &str, e: &Option<selkie_expr::Expr>| {
                e.as_ref().map_or(String::new(), |e| format!(" {name} {e}"))
            };
            format!("Limit{}{}", part("", &limit.limit), part("offset", &limit.offset))
        }
        Operator::Distinct(_) => "Distinct".into(),
        Operator::SetOperation(set) => {
            format!("{:?}{}", set.operator, if set.all { " all" } else { "" })
        }
        Operator::RecursiveUnion(_) => "Recursive union".into(),
        Operator::Materialize(_) => "Materialize".into(),
        Operator::SingleRow(_) => "Single row".into(),
        Operator::Insert(insert) => format!("Insert into {}", insert.table.name()),
        Operator::Update(update) => {
            let tables: Vec<&str> = update.targets.iter().map(|t| t.table.name()).collect();
            format!("Update {}", tables.join(", "))
        }
        Operator::Delete(delete) => {
            let tables: Vec<&str> = delete.targets.iter().map(|t| t.table.name()).collect();
            format!("Delete from {}", tables.join(", "))
        }
    }
}

fn describe_numbers(numbers: &RowNumbers, names: &Names<'_>) -> String {
    format!("Row numbers{}", prefixed(" where ", &show_all(&numbers.conditions, names, " and ")))
}

fn describe_aggregate(aggregate: &Aggregate, below: &Names<'_>) -> String {
    let how = match aggregate.strategy {
        _ if aggregate.groups.is_empty() => "Aggregate",
        AggregateStrategy::Hash => "Hash aggregate",
        AggregateStrategy::Sorted => "Sorted aggregate",
    };
    let calls = aggregate.aggregates.iter();
    let calls: Vec<String> = calls.map(|c| c.display_with(&|at| below.name(at))).collect();
    let groups = show_all(&aggregate.groups, below, ", ");
    let rollup = if aggregate.rollup { " with rollup" } else { "" };
    format!("{how} {}{}{rollup}", calls.join(", "), prefixed(" by ", &groups))
}

fn prefixed(prefix: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{prefix}{text}") }
}

fn keys(keys: &[SortKey], names: &Names<'_>) -> String {
    let key = |k: &SortKey| {
        format!("{}{}", show(&k.expr, names), if k.descending { " desc" } else { "" })
    };
    keys.iter().map(key).collect::<Vec<_>>().join(", ")
}

fn kind_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "Inner",
        JoinKind::Left => "Left",
        JoinKind::Semi => "Semi",
        JoinKind::Anti => "Anti",
        JoinKind::NullAwareAnti => "Null-aware anti",
        JoinKind::Mark => "Mark",
        JoinKind::NullAwareMark => "Null-aware mark",
    }
}

fn describe_hash_join(plan: &Plan, join: &HashJoin) -> String {
    let (left, right) = (names(plan, &join.left), names(plan, &join.right));
    let pair = |k: &crate::physical::JoinKey| {
        let op = if k.null_safe { "<=>" } else { "=" };
        format!("{} {op} {}", show(&k.left, &left), show(&k.right, &right))
    };
    let pairs = join.keys.iter().map(pair).collect::<Vec<_>>().join(" and ");
    let all = both(plan, &join.left, &join.right);
    let residual = show_all(&join.residual, &all, " and ");
    let side = if join.build_left { " (build left)" } else { "" };
    let filled: Vec<String> = join.fills.iter().map(|fill| fill.slot.to_string()).collect();
    format!(
        "{} hash join{side} on {pairs}{}{}",
        kind_name(join.kind),
        prefixed(" and ", &residual),
        prefixed(" fills ", &filled.join(", "))
    )
}

fn describe_lookup(plan: &Plan, join: &IndexJoin) -> String {
    let lookup = &join.lookup;
    let outer = names(plan, &join.left);
    let inner = Names::Listed(lookup_names(lookup));
    let joined = Names::looked_up(plan, &join.left, lookup);
    let index = &lookup.table.def.indexes[lookup.index];
    let covering = if lookup.covering { " covering" } else { "" };
    let mut text = format!(
        "Lookup {} by {}({}){covering}",
        lookup.alias,
        index.name,
        show_all(&lookup.keys, &outer, ", ")
    );
    text += &prefixed(" where ", &show_all(&lookup.filter, &inner, " and "));
    text + &prefixed(" and ", &show_all(&join.residual, &joined, " and "))
}

fn describe_scan(scan: &TableScan) -> String {
    let columns = scan.columns.iter();
    let column = |at: &usize| format!("{}.{}", scan.alias, scan.table.columns[*at].name);
    let names = Names::Listed(columns.map(column).collect());
    let access = match &scan.access {
        Access::Full { reverse } => if *reverse { " reverse" } else { "" }.to_owned(),
        Access::Index(range) => describe_range(scan, range),
        Access::Union(union) => {
            let parts: Vec<String> =
                union.iter().map(|range| describe_range(scan, range)).collect();
            parts.join(" union")
        }
        Access::Text(search) => format!(" by search {}", search.0),
    };
    let filter = show_all(&scan.filter, &names, " and ");
    let filters = scan.filters.iter().map(|f| format!("{} of {}", f.slot, names.name(f.column)));
    let filters: Vec<String> = filters.collect();
    format!(
        "Scan {}{access}{}{}",
        scan.alias,
        prefixed(" where ", &filter),
        prefixed(" filters ", &filters.join(", "))
    )
}

fn describe_range(scan: &TableScan, range: &IndexRange) -> String {
    let index = &scan.table.def.indexes[range.index];
    let ranges: Vec<String> = range.ranges.iter().map(describe_bounds).collect();
    let mut text = format!(" by {}", index.name);
    text += &prefixed(" ", &ranges.join(" or "));
    for (set, word) in [
        (range.covering, " covering"),
        (range.ends().is_some(), " ends of groups"),
        (range.ordered && !range.unique, " ordered"),
        (range.reverse, " reverse"),
    ] {
        if set {
            text += word;
        }
    }
    text
}

fn describe_bounds(range: &KeyRange) -> String {
    let mut parts: Vec<String> = range.equal.iter().map(|e| format!("={e}")).collect();
    match &range.lower {
        RangeBound::Unbounded => {}
        RangeBound::Included(e) => parts.push(format!(">={e}")),
        RangeBound::Excluded(e) => parts.push(format!(">{e}")),
    }
    match &range.upper {
        RangeBound::Unbounded => {}
        RangeBound::Included(e) => parts.push(format!("<={e}")),
        RangeBound::Excluded(e) => parts.push(format!("<{e}")),
    }
    if let Some((pattern, _)) = &range.like {
        parts.push(format!("like {pattern}"));
    }
    format!("({})", parts.join(", "))
}
