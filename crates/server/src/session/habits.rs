//! Values of system variables that every command needs, cached until a variable changes.
//!
//! Must be fetched again for each command: changes are noticed by the versions of the session's and
//! the server's variables.

use selkie_types::{Charset, CollationId};

use super::shared::Shared;
use crate::query_log::Verbosity;
use crate::variables::ids;

/// Values of variables in the form that commands need.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Habits {
    /// Versions of the session's and the server's variables the values are from.
    versions: (u64, u64),
    /// `character_set_client`.
    pub(crate) client: Charset,
    /// `collation_connection`.
    pub(crate) connection: CollationId,
    /// `character_set_results`; `None` leaves strings unchanged.
    pub(crate) results: Option<Charset>,
    /// The collation announced for result columns; it belongs to the character set of results.
    pub(crate) announced: Option<CollationId>,
    /// `long_query_time` in microseconds.
    pub(crate) long_query_micros: u64,
    /// `log_queries_not_using_indexes`.
    pub(crate) logs_scans: bool,
    /// Whether `log_slow_verbosity` has `explain`, and the slow log is on.
    pub(crate) logs_plans: bool,
    /// `profiling`.
    pub(crate) profiles: bool,
    /// `general_log`, unless `sql_log_off`.
    pub(crate) logs_commands: bool,
}

impl Habits {
    fn of(shared: &Shared, versions: (u64, u64)) -> Self {
        let vars = shared.vars.lock();
        let ids = ids();
        let charset = |id| Charset::from_name(vars.get(id).as_str());
        let general = shared.server.globals.get(ids.general_log).as_bool();
        Self {
            versions,
            client: charset(ids.character_set_client).unwrap_or(Charset::Utf8mb4),
            connection: CollationId::from_name(vars.get(ids.collation_connection).as_str())
                .unwrap_or(CollationId::UTF8MB4_GENERAL_CI),
            results: charset(ids.character_set_results),
            announced: charset(ids.character_set_results).map(|c| shared.announced(c)),
            long_query_micros: (vars.get(ids.long_query_time).as_f64() * 1e6) as u64,
            logs_scans: vars.get(ids.log_queries_not_using_indexes).as_bool(),
            logs_plans: vars.get(ids.slow_query_log).as_bool()
                && Verbosity::of(vars.get(ids.log_slow_verbosity).as_u64()).explain,
            profiles: vars.get(ids.profiling).as_bool(),
            logs_commands: general && !vars.get(ids.sql_log_off).as_bool(),
        }
    }
}

impl Shared {
    /// The values by the present variables.
    pub(crate) fn habits(&self) -> Habits {
        let versions = (self.settings_version(), self.server.globals.version());
        if let Some(habits) = *self.habits.lock()
            && habits.versions == versions
        {
            return habits;
        }
        let habits = Habits::of(self, versions);
        *self.habits.lock() = Some(habits);
        habits
    }
}
