//! The list of all status variables in the order of SHOW STATUS.
//!
//! Must not hold values.

use hashbrown::HashMap;
use std::sync::LazyLock;

static TABLE: &str = include_str!("../../data/status_variables.tsv");
static LIST: LazyLock<Vec<StatusDef>> = LazyLock::new(load);
static BY_NAME: LazyLock<HashMap<String, StatusId>> =
    LazyLock::new(|| LIST.iter().map(|d| (d.name.to_ascii_lowercase(), d.id)).collect());

/// Position of a status variable in the list.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StatusId(pub u16);

/// Scope in which a status variable is counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StatusScope {
    /// For each session.
    Session,
    /// Once for the server.
    Global,
    /// For each session, and only for the server itself.
    Hidden,
}

/// A status variable.
#[derive(Clone, Debug)]
pub struct StatusDef {
    /// Position in the list.
    pub id: StatusId,
    /// Name as SHOW STATUS spells it.
    pub name: &'static str,
    /// Scope of the counter.
    pub scope: StatusScope,
    /// The value shown if nothing counts it.
    pub initial: &'static str,
    /// Microseconds are counted, and seconds shown.
    pub is_time: bool,
}

fn load() -> Vec<StatusDef> {
    let lines = TABLE.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines
        .enumerate()
        .map(|(i, line)| {
            let mut fields = line.split('\t');
            let name = fields.next().unwrap_or_default();
            let scope = match fields.next() {
                Some("S") => StatusScope::Session,
                Some("-") => StatusScope::Hidden,
                _ => StatusScope::Global,
            };
            let initial = fields.next().unwrap_or_default();
            let is_time = matches!(name, "Busy_time" | "Cpu_time" | "Query_time");
            StatusDef { id: StatusId(i as u16), name, scope, initial, is_time }
        })
        .collect()
}

/// All status variables.
pub fn status_list() -> &'static [StatusDef] {
    &LIST
}

/// The status variables that clients see. The others follow them in the list.
pub fn shown_statuses() -> &'static [StatusDef] {
    static SHOWN: LazyLock<usize> =
        LazyLock::new(|| LIST.iter().take_while(|d| d.scope != StatusScope::Hidden).count());
    &LIST[..*SHOWN]
}

/// The status variable called `name`, in any case.
pub fn find_status(name: &str) -> Option<StatusId> {
    BY_NAME.get(&name.to_ascii_lowercase()).copied()
}

/// The counter of a kind of statement: `Com_` and `what`, in lower case.
pub fn com_counter(what: &str) -> Option<StatusId> {
    static BY_KIND: LazyLock<HashMap<&'static str, StatusId>> = LazyLock::new(|| {
        LIST.iter().filter_map(|d| Some((d.name.strip_prefix("Com_")?, d.id))).collect()
    });
    BY_KIND.get(what).copied()
}
