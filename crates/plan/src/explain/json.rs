//! EXPLAIN FORMAT=JSON: the rows of EXPLAIN as tables of query blocks, for ANALYZE with the numbers
//! of the execution. Built from the same rows as the table, so both formats agree.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{Block, walked};
use super::json_text::{Object, single};
use super::rows::{ExplainRow, Facts};
use super::work::{Run, SortShown};
use crate::physical::Plan;

/// Times of the statement as a whole, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Time spent for the plan.
    pub planning: Option<u64>,
    /// Time since the statement began, if it still runs.
    pub progress: Option<u64>,
}

/// The plan as JSON, indented by two spaces as in MariaDB.
pub fn json(plan: &Plan, facts: &Facts<'_>, times: Times) -> String {
    let (rows, blocks) = walked(plan, facts);
    let mut all = Object::default();
    if let Some(nanos) = times.progress {
        all.time("r_query_time_in_progress_ms", nanos);
    }
    if let Some(nanos) = times.planning {
        let mut planning = Object::default();
        planning.time("r_total_time_ms", nanos);
        all.object("query_optimization", planning);
    }
    let top = Tree::new(&rows, &blocks).top();
    all.object("query_block", top);
    all.document()
}

struct Tree<'a> {
    blocks: &'a [Block],
    /// Blocks by their numbers.
    numbered: BTreeMap<u64, &'a Block>,
    /// The rows of each block.
    rows: BTreeMap<u64, Vec<&'a ExplainRow>>,
    /// The results of unions, by their first block.
    unions: BTreeMap<u64, &'a ExplainRow>,
    /// Blocks that read what their union gave before.
    recursive: BTreeSet<u64>,
    /// Blocks that have been written.
    shown: BTreeSet<u64>,
}

impl<'a> Tree<'a> {
    fn new(rows: &'a [ExplainRow], blocks: &'a [Block]) -> Self {
        let mut tree = Self {
            blocks,
            numbered: BTreeMap::new(),
            rows: BTreeMap::new(),
            unions: BTreeMap::new(),
            recursive: BTreeSet::new(),
            shown: BTreeSet::new(),
        };
        for block in blocks {
            tree.numbered.entry(block.id).or_insert(block);
        }
        for row in rows {
            if let Some(id) = row.id {
                tree.rows.entry(id).or_default().push(row);
                tree.recursive.extend((row.select_type == "RECURSIVE UNION").then_some(id));
            }
            if row.select_type.ends_with(" RESULT")
                && let Some(first) = members(row).first()
            {
                tree.unions.entry(*first).or_insert(row);
            }
        }
        tree
    }

    /// The outermost block, with the subqueries that no table contains.
    fn top(&mut self) -> Object {
        let first = self.blocks.first().map_or(1, |block| block.id);
        let mut top = self.block(first);
        let mut others = Vec::new();
        for block in self.blocks {
            if !self.shown.contains(&block.id) {
                let inner = self.block(block.id);
                others.push(single("query_block", inner));
            }
        }
        if !others.is_empty() {
            top.array("subqueries", others);
        }
        top
    }

    /// A block, or the union that begins with it.
    fn block(&mut self, id: u64) -> Object {
        match self.unions.get(&id).copied() {
            Some(row) if !self.shown.contains(&id) => self.union(row),
            _ => self.select(id, None),
        }
    }

    fn union(&mut self, row: &ExplainRow) -> Object {
        let mut result = Object::default();
        if !row.passes_by {
            row.table.iter().for_each(|name| result.text("table_name", name));
            row.access.iter().for_each(|access| result.text("access_type", access));
        }
        if let Some(run) = row.detail.numbers.run.as_ref().filter(|_| !row.passes_by) {
            result.count("r_loops", run.loops);
            result.number("r_rows", run.rows);
        }
        let mut specifications = Vec::new();
        let members = members(row);
        for (at, id) in members.iter().enumerate() {
            specifications
                .push(single("query_block", self.select(*id, (at > 0).then_some("UNION"))));
        }
        result.array("query_specifications", specifications);
        let is_recursive = members.iter().any(|id| self.recursive.contains(id));
        single(if is_recursive { "recursive_union" } else { "union_result" }, result)
    }

    fn select(&mut self, id: u64, operation: Option<&str>) -> Object {
        selkie_meter::tick(64);
        self.shown.insert(id);
        let rows = self.rows.get(&id).cloned().unwrap_or_default();
        let mut block = Object::default();
        block.count("select_id", id);
        operation.iter().for_each(|name| block.text("operation", name));
        if let [row] = rows[..]
            && (row.access.is_none() || row.select_type == "INSERT")
        {
            let mut table = Object::default();
            match &row.table {
                Some(name) => table.text("table_name", name),
                None => table.text("message", &row.extra),
            }
            block.object("table", table);
            return block;
        }
        let change = rows.first().and_then(|row| row.detail.change);
        if let Some(work) = self.numbered.get(&id).and_then(|block| block.work) {
            if change.is_none() {
                block.count("r_loops", work.loops);
            }
            if work.loops > 0 || change.is_some() {
                block.time("r_total_time_ms", work.nanos);
            }
        }
        match (change, rows.first()) {
            (Some(change), Some(row)) => {
                let table = self.changed(change, row);
                let (sort, table) = (row.detail.sort.as_ref(), table);
                match sort {
                    Some(sort) => {
                        let mut filesort = filesort(sort, "sort_key,rowid");
                        filesort.object("table", table);
                        block.object("filesort", filesort);
                    }
                    None => block.object("table", table),
                }
            }
            _ => self.tables(&rows, &mut block),
        }
        block
    }

    /// The tables of a block, with the sort and the internal table above them.
    fn tables(&mut self, rows: &[&'a ExplainRow], block: &mut Object) {
        let first = rows.first();
        let sort = first.and_then(|row| row.detail.sort.as_ref());
        let temporary = first.is_some_and(|row| row.extra.contains("Using temporary"));
        let direct = sort.is_some() && !temporary && rows.len() == 1;
        let mut tables = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let table = self.table(row);
            tables.push(match (row.joined_by(), sort.filter(|_| direct && at == 0)) {
                (Some(kind), _) => single("block-nl-join", buffered(row, kind, table)),
                (None, Some(sort)) => single("read_sorted_file", sorted_file(row, sort, table)),
                (None, None) => single("table", table),
            });
        }
        let mut inner = Object::default();
        inner.array("nested_loop", tables);
        let inner = match (sort.filter(|_| !direct), temporary) {
            (Some(sort), _) => {
                let mut filesort = filesort(sort, "sort_key,rowid");
                filesort.object("temporary_table", inner);
                single("filesort", filesort)
            }
            (None, true) => single("temporary_table", inner),
            (None, false) => inner,
        };
        block.take(inner);
    }

    fn named(row: &ExplainRow, table: &mut Object) {
        row.table.iter().for_each(|v| table.text("table_name", v));
        row.partitions.iter().for_each(|v| table.texts("partitions", v.split(',')));
        row.access.iter().for_each(|v| table.text("access_type", v));
        row.possible_keys.iter().for_each(|v| table.texts("possible_keys", v.split(',')));
        row.key.iter().for_each(|v| table.text("key", v));
        row.key_len.iter().for_each(|v| table.text("key_length", v));
        if !row.key_parts.is_empty() {
            table.texts("used_key_parts", row.key_parts.iter().map(|part| &**part));
        }
        row.reference.iter().for_each(|v| table.texts("ref", v.split(',')));
    }

    fn table(&mut self, row: &ExplainRow) -> Object {
        let mut table = Object::default();
        Self::named(row, &mut table);
        row.detail.numbers.run.iter().for_each(|run| table.count("r_loops", run.loops));
        row.rows.iter().for_each(|v| table.count("rows", *v));
        if let Some(run) = &row.detail.numbers.run {
            table.number("r_rows", run.rows);
            times(run, &mut table);
        }
        if let Some(share) = row.filtered() {
            table.number("filtered", Some(share));
        }
        row.detail.numbers.run.iter().for_each(|run| table.number("r_filtered", run.filtered));
        row.detail.conditions.own.iter().for_each(|text| table.text("attached_condition", text));
        if row.extra.contains("Using index for group-by") {
            table.word("using_index_for_group_by", "true");
        } else if row.has("Using index") {
            table.word("using_index", "true");
        }
        if row.has("Not exists") {
            table.word("not_exists", "true");
        }
        if let Some(source) = self.source(row)
            && !self.shown.contains(&source.id)
        {
            let inner = self.block(source.id);
            table.object("materialized", single("query_block", inner));
        }
        table
    }

    /// The block that computes the common table which a row reads.
    fn source(&self, row: &ExplainRow) -> Option<&'a Block> {
        let number = row.table.as_deref()?.strip_prefix("<derived")?.strip_suffix('>')?;
        let block = self.numbered.get(&number.parse().ok()?)?;
        (block.common.is_some() || block.is_table).then_some(*block)
    }

    /// The only table of an UPDATE or DELETE. Compat: its members have another order.
    fn changed(&mut self, change: &'static str, row: &ExplainRow) -> Object {
        let mut table = Object::default();
        table.word(change, "1");
        Self::named(row, &mut table);
        row.rows.iter().for_each(|v| table.count("rows", *v));
        if let Some(run) = &row.detail.numbers.run {
            table.number("r_rows", run.rows);
            table.number("r_filtered", run.filtered);
            times(run, &mut table);
        }
        row.detail.conditions.own.iter().for_each(|text| table.text("attached_condition", text));
        table
    }
}

fn times(run: &Run, table: &mut Object) {
    if run.loops > 0 {
        table.time("r_table_time_ms", run.table_nanos);
        table.time("r_other_time_ms", run.other_nanos);
    }
}

/// Numbers of the blocks of a union.
fn members(row: &ExplainRow) -> Vec<u64> {
    let name = row.table.as_deref().unwrap_or_default();
    let list = name.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches('>');
    list.split(',').filter_map(|number| number.parse().ok()).collect()
}

fn buffered(row: &ExplainRow, kind: &str, table: Object) -> Object {
    let mut join = Object::default();
    join.object("table", table);
    join.text("buffer_type", kind);
    join.text("join_type", "BNL");
    row.detail.conditions.join.iter().for_each(|text| join.text("attached_condition", text));
    if let Some(joined) = &row.detail.numbers.joined {
        join.count("r_loops", joined.loops);
        join.number("r_filtered", Some(joined.filtered));
        join.number("r_effective_rows", Some(joined.rows));
    }
    join
}

/// A sort without its input.
fn filesort(sort: &SortShown, mode: &str) -> Object {
    let mut filesort = Object::default();
    filesort.text("sort_key", &sort.key);
    let Some(work) = sort.work else { return filesort };
    filesort.count("r_loops", work.loops);
    filesort.time("r_total_time_ms", work.nanos);
    if let Some(limit) = sort.limit {
        filesort.count("r_limit", limit);
    }
    filesort.word("r_used_priority_queue", if sort.queue { "true" } else { "false" });
    // Compat: a queue keeps one row more than are wanted.
    let rows = match sort.limit {
        Some(limit) => work.read.min(limit.saturating_add(1)),
        None => work.given,
    };
    filesort.count("r_output_rows", rows);
    if work.merges > 0 {
        filesort.count("r_sort_passes", work.merges.div_ceil(work.loops.max(1)));
    }
    if !sort.queue {
        filesort.text("r_buffer_size", &size(work.memory));
    }
    filesort.text("r_sort_mode", mode);
    filesort
}

fn sorted_file(row: &ExplainRow, sort: &SortShown, table: Object) -> Object {
    let mut filesort = filesort(sort, "sort_key,addon_fields");
    filesort.object("table", table);
    let mut file = Object::default();
    if let Some(run) = &row.detail.numbers.run {
        file.number("r_rows", run.sorted);
    }
    file.object("filesort", filesort);
    file
}

/// A size in bytes, KiB or larger units, rounded down.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes, "");
    for larger in UNITS {
        if value < 1024 {
            break;
        }
        (value, unit) = (value / 1024, larger);
    }
    format!("{value}{unit}")
}
