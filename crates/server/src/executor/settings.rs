//! Copies system variables to the executor's settings.
//!
//! Every group is written as a whole, so that a field without a variable does not compile. Must not
//! validate: values were checked when they were set.

mod made;

use selkie_engine::Isolation;
use selkie_exec::Session;
use selkie_exec::session::{
    BinlogFormat, BinlogSettings, Ceilings, Charsets, Completion, DefaultEngines, Dml, KeepResults,
    Locks, Notes, Queries, Settings, Show, Transactions, UseColumns,
};
use selkie_expr::{TimeZone, TypeContext};
use selkie_plan::{DerivedSwitches, JoinSwitches, PlanVariables, StatTables};
use selkie_protocol::Capabilities;
use selkie_replication::codec::flags;
use selkie_replication::images::RowImage;
use selkie_types::{Charset, CollationId, Locale, SqlMode};

use crate::session::Shared;
use crate::variables::{Ids, SessionVars, VarId, VarValue, ids, lookup, moment, registry};

/// Writes the session's variables into its settings.
pub(super) fn refresh(shared: &Shared, session: &mut Session) {
    let version = shared.settings_version();
    let elsewhere = Elsewhere {
        lower_case_names: lower_case_names(shared),
        found_rows: shared.capabilities().has(Capabilities::FOUND_ROWS),
    };
    let made = made::of(&shared.vars.lock(), &elsewhere);
    put(session, &made.settings);
    shared.handle.set_checks(made.unique_checks, made.foreign_key_checks);
    session.frame.kill.account().set_limit(made.most_memory);
    // A program's end puts the caller's character sets back, and must read the variables again.
    if session.frame.program.is_none() && !session.transaction.is_nested() {
        shared.settings_followed(version);
    }
}

/// Gives a session the settings, and a new version if they are others than before.
fn put(session: &mut Session, settings: &Settings) {
    let frame = &mut session.frame;
    let Settings { timestamp_micros, version, .. } = frame.settings;
    // The version tells a program's end that variables were set.
    if frame.program.is_none() && frame.settings.is_like(settings) {
        return;
    }
    frame.settings = Settings { timestamp_micros, version: version + 1, ..settings.clone() };
    let zone = &mut frame.settings.expressions.time_zone;
    *zone = zone.for_another_session();
    frame.keep_creation();
}

/// Whether names of tables are compared in lower case. The variable cannot be set.
fn lower_case_names(shared: &Shared) -> bool {
    shared.server.globals.get(ids().lower_case_table_names).as_u64() != 0
}

/// Settings that do not come from the session's variables.
#[derive(Clone, PartialEq)]
struct Elsewhere {
    lower_case_names: bool,
    found_rows: bool,
}

/// The session's variables.
struct Values<'v> {
    vars: &'v SessionVars,
    ids: &'static Ids,
}

impl Values<'_> {
    fn get(&self, id: VarId) -> &VarValue {
        debug_assert!(!made::is_ignored(id), "settings are shared by sessions");
        self.vars.get(id)
    }

    fn number(&self, id: VarId) -> u64 {
        self.get(id).as_u64()
    }

    fn flag(&self, id: VarId) -> bool {
        self.get(id).as_bool()
    }

    /// A flag of `optimizer_switch`.
    fn switch(&self, name: &str) -> bool {
        let switch = registry().def(self.ids.optimizer_switch);
        let at = switch.names.iter().position(|known| *known == name);
        at.is_some_and(|at| self.number(self.ids.optimizer_switch) & 1 << at != 0)
    }

    fn text(&self, id: VarId) -> &str {
        self.get(id).as_str()
    }

    fn charset(&self, id: VarId) -> Charset {
        Charset::from_name(self.text(id)).unwrap_or(Charset::Utf8mb4)
    }

    fn settings(&self, elsewhere: &Elsewhere) -> Settings {
        Settings {
            expressions: self.expressions(),
            planning: self.planning(elsewhere),
            transactions: self.transactions(),
            locks: self.locks(),
            dml: self.dml(elsewhere),
            queries: self.queries(),
            notes: self.notes(),
            charsets: self.charsets(),
            engines: self.engines(),
            binlog: self.binlog(),
            show: Show { quote_show_create: self.flag(self.ids.sql_quote_show_create) },
            timestamp_micros: None,
            version: 0,
        }
    }

    fn expressions(&self) -> TypeContext {
        let ids = self.ids;
        TypeContext {
            sql_mode: SqlMode::from_bits(self.number(ids.sql_mode)).unwrap_or(SqlMode::DEFAULT),
            collation_connection: CollationId::from_name(self.text(ids.collation_connection))
                .unwrap_or(CollationId::UTF8MB4_GENERAL_CI),
            div_precision_increment: self.number(ids.div_precision_increment) as u8,
            group_concat_max_len: self.number(ids.group_concat_max_len),
            max_allowed_packet: self.number(ids.max_allowed_packet),
            default_week_format: self.number(ids.default_week_format) as u8,
            regex_flags: self.number(ids.default_regex_flags) as u8,
            explicit_timestamps: self.flag(ids.explicit_defaults_for_timestamp),
            time_zone: TimeZone::parse(self.text(ids.time_zone)).unwrap_or_else(TimeZone::system),
            time_locale: Locale::from_name(self.text(ids.lc_time_names))
                .unwrap_or_else(Locale::english),
        }
    }

    /// `system_versioning_asof` in the session's time zone.
    fn as_of(&self) -> Option<Box<str>> {
        let kept = self.text(self.ids.system_versioning_asof);
        if kept.eq_ignore_ascii_case("DEFAULT") {
            return None;
        }
        let def = lookup("system_versioning_asof").ok()?;
        let shown = moment::shown(def, VarValue::text(kept), self.text(self.ids.time_zone));
        Some(shown.as_str().into())
    }

    fn planning(&self, elsewhere: &Elsewhere) -> PlanVariables {
        let ids = self.ids;
        PlanVariables {
            sql_select_limit: self.number(ids.sql_select_limit),
            max_join_size: (!self.flag(ids.sql_big_selects))
                .then(|| self.number(ids.max_join_size)),
            lower_case_names: elsewhere.lower_case_names,
            foreign_key_checks: self.flag(ids.foreign_key_checks),
            standard_compliant_cte: self.flag(ids.standard_compliant_cte),
            updatable_views_with_limit: self.flag(ids.updatable_views_with_limit),
            note_unusable_keys: self.number(ids.note_verbosity) & 2 != 0,
            use_stat_tables: stat_tables(self.number(ids.use_stat_tables)),
            as_of: self.as_of(),
            insert_history: self.flag(ids.system_versioning_insert_history),
            condition_selectivity: self.number(ids.optimizer_use_condition_selectivity) as u8,
            explains: false,
            auto_is_null: self.flag(ids.sql_auto_is_null),
            joins: JoinSwitches {
                table_elimination: self.switch("table_elimination"),
                semijoin: self.switch("semijoin"),
                subquery_cache: self.switch("subquery_cache"),
                runs_subqueries: !self.switch("semijoin") && !self.switch("materialization"),
            },
            derived: DerivedSwitches {
                merge: self.switch("derived_merge"),
                with_keys: self.switch("derived_with_keys"),
            },
        }
    }

    fn transactions(&self) -> Transactions {
        let ids = self.ids;
        Transactions {
            autocommit: self.flag(ids.autocommit),
            snapshot_isolation: self.number(ids.innodb_snapshot_isolation) != 0,
            isolation: isolation(self.number(ids.tx_isolation)),
            tx_read_only: self.flag(ids.tx_read_only),
            completion: match self.number(ids.completion_type) {
                1 => Completion::Chain,
                2 => Completion::Release,
                _ => Completion::Plain,
            },
        }
    }

    fn locks(&self) -> Locks {
        Locks {
            lock_wait_timeout: self.number(self.ids.lock_wait_timeout),
            row_lock_wait_timeout: self.number(self.ids.innodb_lock_wait_timeout),
        }
    }

    fn dml(&self, elsewhere: &Elsewhere) -> Dml {
        let ids = self.ids;
        Dml {
            auto_increment_increment: self.number(ids.auto_increment_increment),
            auto_increment_offset: self.number(ids.auto_increment_offset),
            sql_safe_updates: self.flag(ids.sql_safe_updates),
            check_constraint_checks: self.flag(ids.check_constraint_checks),
            found_rows: elsewhere.found_rows,
        }
    }

    fn queries(&self) -> Queries {
        let ids = self.ids;
        let with_buffer = self.switch("outer_join_with_cache");
        Queries {
            keep_results: match self.number(ids.query_cache_type) {
                0 => KeepResults::Never,
                1 => KeepResults::Always,
                _ => KeepResults::OnDemand,
            },
            results_wait_for_locks: self.flag(ids.query_cache_wlock_invalidate),
            buffers_outer_joins: with_buffer && self.number(ids.join_cache_level) > 0,
            buffer_result: self.flag(ids.sql_buffer_result),
            columns: match self.number(ids.selkie_columns) {
                0 => UseColumns::Off,
                1 => UseColumns::On,
                _ => UseColumns::Force,
            },
            lanes: self.number(ids.selkie_lanes) as usize,
            max_sort_length: self.number(ids.max_sort_length) as usize,
            expensive_subquery_rows: self.number(ids.expensive_subquery_limit),
            ceilings: self.ceilings(),
            max_recursive_iterations: self.number(ids.max_recursive_iterations),
            max_statement_micros: (self.get(ids.max_statement_time).as_f64() * 1e6) as u64,
        }
    }

    /// Most bytes of operators, as far as the session has other values than the defaults.
    fn ceilings(&self) -> Ceilings {
        let ids = self.ids;
        let chosen = |id: VarId| {
            let bytes = self.number(id);
            let default = registry().def(id).default.and_then(|text| text.parse().ok());
            match default == Some(bytes) {
                true => usize::MAX,
                false => usize::try_from(bytes).unwrap_or(usize::MAX),
            }
        };
        Ceilings {
            sort: chosen(ids.sort_buffer_size),
            join: chosen(ids.join_buffer_size),
            table: chosen(ids.tmp_memory_table_size).min(chosen(ids.max_heap_table_size)),
        }
    }

    fn notes(&self) -> Notes {
        let ids = self.ids;
        Notes {
            max_error_count: self.number(ids.max_error_count) as usize,
            sql_notes: self.flag(ids.sql_notes),
            note_explain: self.number(ids.note_verbosity) & 4 != 0,
            traces: self.number(ids.optimizer_trace) & 1 != 0,
        }
    }

    fn charsets(&self) -> Charsets {
        Charsets {
            client: self.charset(self.ids.character_set_client),
            database: self.charset(self.ids.character_set_database),
        }
    }

    fn binlog(&self) -> BinlogSettings {
        let ids = self.ids;
        let collation =
            |id| CollationId::from_name(self.text(id)).unwrap_or(CollationId::UTF8MB4_GENERAL_CI);
        BinlogSettings {
            is_enabled: self.flag(ids.sql_log_bin),
            server_id: self.number(ids.server_id) as u32,
            domain_id: self.number(ids.gtid_domain_id) as u32,
            seq_no: Some(self.number(ids.gtid_seq_no)).filter(|seq| *seq > 0),
            is_parallel: !self.flag(ids.skip_parallel_replication),
            header: match self.flag(ids.skip_replication) {
                true => flags::SKIP_REPLICATION,
                false => 0,
            },
            format: match self.number(ids.binlog_format) {
                0 => BinlogFormat::Mixed,
                1 => BinlogFormat::Statement,
                _ => BinlogFormat::Row,
            },
            is_direct: self.flag(ids.binlog_direct_non_transactional_updates),
            row_image: match self.number(ids.binlog_row_image) {
                0 => RowImage::Minimal,
                1 => RowImage::NoBlob,
                _ => RowImage::Full,
            },
            annotates: self.flag(ids.binlog_annotate_row_events),
            unique_checks: self.flag(ids.unique_checks),
            collation_server: collation(ids.collation_server),
            collation_database: collation(ids.collation_database),
        }
    }

    fn engines(&self) -> DefaultEngines {
        let enforced = Some(self.text(self.ids.enforce_storage_engine));
        DefaultEngines {
            default: self.text(self.ids.default_storage_engine).into(),
            enforced: enforced.filter(|name| !name.is_empty()).map(Into::into),
        }
    }
}

/// `use_stat_tables` by its place among NEVER, COMPLEMENTARY, PREFERABLY, and the last two again
/// for queries only, which is where they are used.
fn stat_tables(value: u64) -> StatTables {
    match value {
        0 => StatTables::Unused,
        1 | 3 => StatTables::Columns,
        _ => StatTables::First,
    }
}

fn isolation(level: u64) -> Isolation {
    match level {
        0 => Isolation::ReadUncommitted,
        1 => Isolation::ReadCommitted,
        3 => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::{Globals, startup_values};

    #[test]
    fn a_server_without_options_has_the_defaults() {
        let vars = SessionVars::new(&Globals::new(startup_values()));
        let elsewhere = Elsewhere { lower_case_names: false, found_rows: false };
        let settings = Values { vars: &vars, ids: ids() }.settings(&elsewhere);
        // Only values that depend on the machine or on the connection's character sets differ, and
        // that sessions of the server's own are not logged.
        let default = Settings::default();
        let expressions = TypeContext {
            time_zone: settings.expressions.time_zone.clone(),
            collation_connection: settings.expressions.collation_connection,
            ..default.expressions
        };
        let engines = DefaultEngines { default: settings.engines.default.clone(), enforced: None };
        let charsets = settings.charsets.clone();
        let binlog = settings.binlog.clone();
        let queries = Queries { lanes: settings.queries.lanes, ..default.queries };
        assert!(binlog.is_enabled && !default.binlog.is_enabled);
        let expected = Settings { expressions, engines, charsets, binlog, queries, ..default };
        assert_eq!(settings, expected);
    }
}
