//! Decides which statements are slow, and collects the facts of their log entries.
//!
//! Must not write; the parent module does.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

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
    ("Rows_tmp_read", ""),
    ("Rows_answering", ""),
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

/// Counters that together are the rows a statement examined.
const EXAMINED: [&str; 3] = ["Rows_read", "Rows_tmp_read", "Sort_rows"];

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

    /// Rows read from tables and from intermediate results, and rows read again in their order
    /// after a sort, but for those that only answer IN.
    fn examined(&self, shared: &Shared) -> u64 {
        let all: u64 = EXAMINED.iter().map(|name| self.growth_of(shared, name)).sum();
        all.saturating_sub(self.growth_of(shared, "Rows_answering"))
    }

    fn growth_of(&self, shared: &Shared, name: &str) -> u64 {
        let at = SIGNS.iter().position(|(counter, _)| *counter == name);
        at.map_or(0, |at| self.growth(shared, at))
    }

    fn growth(&self, shared: &Shared, at: usize) -> u64 {
        let before = self.before.get(at).copied().unwrap_or(0);
        count(shared, at).saturating_sub(before)
    }
}

/// Facts about a statement that only the code that ran it knows.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Ran {
    /// Rows it changed. Compat: none if it gave rows, also with RETURNING.
    pub(crate) affected: u64,
    /// The AUTO_INCREMENT value it generated.
    pub(crate) insert_id: u64,
    /// The time that its session's clock stands at, in microseconds since 1970, if it was set.
    pub(crate) fixed_micros: Option<i64>,
    /// Whether it is an administrative statement: ALTER, OPTIMIZE and the like.
    pub(crate) is_admin: bool,
}

impl Ran {
    /// The facts in a statement's outcome.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        let affected = if outcome.result_set { 0 } else { outcome.affected };
        let fixed_micros = None;
        Self { affected, fixed_micros, insert_id: outcome.insert_id, is_admin: false }
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
    let examined = watch.examined(shared);
    shared.handle.counters.bump(counter().slow_queries);
    let globals = &shared.server.globals;
    let wanted = globals.get(ids().slow_query_log).as_bool()
        && shared.var(ids().slow_query_log).as_bool()
        && examined >= shared.var(ids().min_examined_row_limit).as_u64()
        && passes_filter(shared, watch, unindexed.then_some("not_using_index"))
        && (!ran.is_admin || shared.var(ids().log_slow_admin_statements).as_bool())
        && is_drawn(shared);
    if !wanted {
        return;
    }
    let entry = SlowEntry {
        at: begin(spent, ran.fixed_micros),
        user_host: user_host(shared),
        query_micros: micros,
        lock_micros: 0,
        rows_sent: watch.growth_of(shared, "Rows_sent"),
        rows_examined: examined,
        rows_affected: ran.affected,
        bytes_sent: watch.growth_of(shared, "Bytes_sent"),
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

/// When a statement began, by its session's clock.
fn begin(spent: Duration, fixed_micros: Option<i64>) -> SystemTime {
    let fixed = fixed_micros.map(|micros| Duration::from_micros(micros.max(0) as u64));
    let at = match fixed {
        Some(since) => SystemTime::UNIX_EPOCH.checked_add(since),
        None => SystemTime::now().checked_sub(spent),
    };
    at.unwrap_or(SystemTime::UNIX_EPOCH)
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
    if wanted.query_plan
        && SIGNS.iter().any(|(_, member)| !member.is_empty() && grew(member) == "Yes")
    {
        text.push_str(&format!(
            "# Full_scan: {}  Full_join: {}  Tmp_table: {}  Tmp_table_on_disk: {}\n\
             # Filesort: {}  Filesort_on_disk: {}  Merge_passes: {}  Priority_queue: {}\n",
            grew("full_scan"),
            grew("full_join"),
            grew("tmp_table"),
            grew("tmp_table_on_disk"),
            grew("filesort"),
            grew("filesort_on_disk"),
            watch.growth_of(shared, "Sort_merge_passes"),
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
    ["Select_scan", "Select_full_join"].iter().any(|name| watch.growth_of(shared, name) > 0)
}

/// Compat: every statement counts as a miss of the query cache, which the filter contains by
/// default. `more` is a member that is true besides those of the counters.
fn passes_filter(shared: &Shared, watch: &Stopwatch, more: Option<&str>) -> bool {
    let filter = shared.var(ids().log_slow_filter).as_u64();
    let def = crate::variables::registry().def(ids().log_slow_filter);
    let member = |name: &str| def.names.iter().position(|n| *n == name).map_or(0, |at| 1u64 << at);
    let seen = (0..SIGNS.len()).filter(|at| watch.growth(shared, *at) > 0);
    let seen = seen.fold(member("query_cache_miss"), |all, at| all | member(SIGNS[at].1));
    let seen = seen | more.map_or(0, member);
    filter == 0 || filter & seen != 0
}

/// Whether this slow statement of the session is logged: one of every `log_slow_rate_limit` is.
fn is_drawn(shared: &Shared) -> bool {
    let rate = shared.var(ids().log_slow_rate_limit).as_u64().max(1);
    shared.handle.counters.get(counter().slow_queries).is_multiple_of(rate)
}
