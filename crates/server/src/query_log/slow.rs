//! Decides which statements are slow, and collects the facts of their log entries.
//!
//! Must not write; the parent module does.

use std::sync::LazyLock;
use std::time::SystemTime;

use selkie_engine::Moment;
use selkie_exec::{Outcome, kept_lines};

use super::{SlowEntry, output, outputs, user_host, write};
use crate::session::Shared;
use crate::status::{StatusId, counter, find_status};
use crate::variables::ids;

/// Start time and counters of a session at the start of its statement.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    begun: Moment,
    before: [u64; SIGNS.len()],
}

/// Counters whose growth describes a statement, each with the member of `log_slow_filter` that a
/// growth means.
const SIGNS: &[(&str, &str)] = &[
    ("Rows_read", ""),
    ("Rows_sent", ""),
    ("Bytes_sent", ""),
    ("Select_scan", "full_scan"),
    ("Select_full_join", "full_join"),
    ("Created_tmp_tables", "tmp_table"),
    ("Created_tmp_disk_tables", "tmp_table_on_disk"),
    ("Sort_rows", "filesort"),
    ("Sort_priority_queue_sorts", "filesort_priority_queue"),
    ("Sort_merge_passes", "filesort_on_disk"),
];

/// Members of `log_slow_verbosity` that mean more lines in the file. The others have no meaning
/// here: pages are not counted for each statement.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verbosity {
    /// `query_plan`: kinds of access and sorts.
    pub(crate) query_plan: bool,
    /// `explain`: the plan with its numbers.
    pub(crate) explain: bool,
}

impl Verbosity {
    /// The members in the value of the variable. Compat: `full` means all others.
    pub(crate) fn of(value: u64) -> Self {
        let def = crate::variables::registry().def(ids().log_slow_verbosity);
        let has = |name: &str| {
            let at = def.names.iter().position(|member| *member == name);
            at.is_some_and(|at| value & 1 << at != 0)
        };
        let full = has("full");
        Self { query_plan: full || has("query_plan"), explain: full || has("explain") }
    }
}

fn signs() -> &'static [Option<StatusId>] {
    static IDS: LazyLock<Vec<Option<StatusId>>> =
        LazyLock::new(|| SIGNS.iter().map(|(name, _)| find_status(name)).collect());
    &IDS
}

fn count(shared: &Shared, at: usize) -> u64 {
    let id = signs().get(at).copied().flatten();
    id.map_or(0, |id| shared.handle.counters.get(id))
}

impl Stopwatch {
    /// Starts the measurement of a statement.
    pub(crate) fn start(shared: &Shared, begun: Moment) -> Self {
        let before = std::array::from_fn(|at| count(shared, at));
        if shared.habits().logs_plans {
            shared.handle.live.keep();
        }
        Self { begun, before }
    }

    fn growth(&self, shared: &Shared, at: usize) -> u64 {
        let before = self.before.get(at).copied().unwrap_or(0);
        count(shared, at).saturating_sub(before)
    }
}

/// Facts about a statement that only the code that ran it knows.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Ran {
    /// Rows it changed.
    pub(crate) affected: u64,
    /// The AUTO_INCREMENT value it generated.
    pub(crate) insert_id: u64,
    /// Whether it is an administrative statement: ALTER, OPTIMIZE and the like.
    pub(crate) is_admin: bool,
}

impl Ran {
    /// The facts in a statement's outcome.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        Self { affected: outcome.affected, insert_id: outcome.insert_id, is_admin: false }
    }
}

/// Ends the measurement of a statement: counts and logs it if it was slow.
pub(crate) fn log_slow(shared: &Shared, watch: &Stopwatch, text: &[u8], ran: Ran) {
    let plan =
        if shared.habits().logs_plans { kept_lines(&shared.handle.live) } else { Vec::new() };
    let spent = watch.begun.elapsed();
    let micros = spent.as_micros() as u64;
    shared.handle.counters.add(counter().query_time, micros);
    let habits = shared.habits();
    let unindexed = habits.logs_scans && uses_no_index(shared, watch);
    if micros <= habits.long_query_micros && !unindexed {
        return;
    }
    let examined = watch.growth(shared, 0);
    shared.handle.counters.bump(counter().slow_queries);
    let globals = &shared.server.globals;
    let wanted = globals.get(ids().slow_query_log).as_bool()
        && shared.var(ids().slow_query_log).as_bool()
        && examined >= shared.var(ids().min_examined_row_limit).as_u64()
        && passes_filter(shared, watch)
        && (!ran.is_admin || shared.var(ids().log_slow_admin_statements).as_bool())
        && is_drawn(shared);
    if !wanted {
        return;
    }
    let entry = SlowEntry {
        at: SystemTime::now().checked_sub(spent).unwrap_or(SystemTime::UNIX_EPOCH),
        user_host: user_host(shared),
        query_micros: micros,
        lock_micros: 0,
        rows_sent: watch.growth(shared, 1),
        rows_examined: examined,
        rows_affected: ran.affected,
        bytes_sent: watch.growth(shared, 2),
        schema: shared.handle.schema().unwrap_or_default(),
        last_insert_id: 0,
        insert_id: ran.insert_id,
        server_id: globals.get(ids().server_id).as_u64(),
        thread_id: shared.handle.id,
        remarks: remarks(shared, watch, &plan),
        text: String::from_utf8_lossy(text).into_owned(),
    };
    let outputs = outputs(globals);
    if outputs & output::TABLE != 0 {
        shared.server.backend.log_slow(&entry);
    }
    if outputs & output::FILE != 0 {
        write(
            &shared.server,
            &shared.server.logs.queries.slow,
            ids().slow_query_log_file,
            |file| file.slow(&entry),
        );
    }
}

/// The lines that `log_slow_verbosity` asks for.
fn remarks(shared: &Shared, watch: &Stopwatch, plan: &[String]) -> String {
    let wanted = Verbosity::of(shared.var(ids().log_slow_verbosity).as_u64());
    let mut text = String::new();
    let grew = |name: &str| {
        let at = SIGNS.iter().position(|(_, member)| *member == name);
        if at.is_some_and(|at| watch.growth(shared, at) > 0) { "Yes" } else { "No" }
    };
    // Compat: a statement without a plan has no such lines.
    if wanted.query_plan && SIGNS[3..].iter().any(|(_, member)| grew(member) == "Yes") {
        text.push_str(&format!(
            "# Full_scan: {}  Full_join: {}  Tmp_table: {}  Tmp_table_on_disk: {}\n\
             # Filesort: {}  Filesort_on_disk: {}  Merge_passes: {}  Priority_queue: {}\n",
            grew("full_scan"),
            grew("full_join"),
            grew("tmp_table"),
            grew("tmp_table_on_disk"),
            grew("filesort"),
            grew("filesort_on_disk"),
            watch.growth(shared, SIGNS.len() - 1),
            grew("filesort_priority_queue"),
        ));
    }
    if wanted.explain && !plan.is_empty() {
        text.push_str("#\n");
        plan.iter().for_each(|line| text.push_str(&format!("# explain: {line}\n")));
        text.push_str("#\n");
    }
    text
}

/// Whether the statement did a scan. With `log_queries_not_using_indexes` that is enough, however
/// short it was.
fn uses_no_index(shared: &Shared, watch: &Stopwatch) -> bool {
    watch.growth(shared, 3) > 0 || watch.growth(shared, 4) > 0
}

/// Compat: every statement counts as a miss of the query cache, which the filter contains by
/// default.
fn passes_filter(shared: &Shared, watch: &Stopwatch) -> bool {
    let filter = shared.var(ids().log_slow_filter).as_u64();
    let def = crate::variables::registry().def(ids().log_slow_filter);
    let member = |name: &str| def.names.iter().position(|n| *n == name).map_or(0, |at| 1u64 << at);
    let seen = (0..SIGNS.len()).filter(|at| watch.growth(shared, *at) > 0);
    let seen = seen.fold(member("query_cache_miss"), |all, at| all | member(SIGNS[at].1));
    filter == 0 || filter & seen != 0
}

/// Whether this slow statement of the session is logged: one of every `log_slow_rate_limit` is.
fn is_drawn(shared: &Shared) -> bool {
    let rate = shared.var(ids().log_slow_rate_limit).as_u64().max(1);
    shared.handle.counters.get(counter().slow_queries).is_multiple_of(rate)
}
