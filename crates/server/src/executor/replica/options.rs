//! The server's variables that say how a replica applies.
//!
//! Must not be read for each event: a copy is renewed when a variable of the server has changed.

use std::path::PathBuf;
use std::sync::LazyLock;

use selkie_exec::apply::{Conversions, Rules, RunTriggers};

use super::failures::SkippedErrors;
use crate::server::Server;
use crate::variables::{VarId, VarValue, ids, registry};

macro_rules! names {
    ($($name:ident)*) => {
        /// Variables that only replicas read.
        pub(super) struct Names {
            $(pub(super) $name: VarId,)*
        }
        static NAMES: LazyLock<Names> = LazyLock::new(|| Names {
            $($name: registry().find(stringify!($name)).expect("listed in the table").id,)*
        });
    };
}

names! {
    log_slave_updates replicate_annotate_row_events slave_ddl_exec_mode slave_exec_mode
    slave_load_tmpdir slave_max_allowed_packet slave_max_statement_time
    slave_run_triggers_for_rbr slave_skip_errors slave_transaction_retry_errors
    slave_type_conversions sql_auto_is_null sql_if_exists system_versioning_insert_history
}

/// Variables that only replicas read.
pub(super) fn names() -> &'static Names {
    &NAMES
}

/// Errors after which a group may succeed if it is tried again.
const TRANSIENT: [u16; 9] = [1158, 1159, 1160, 1161, 1205, 1213, 1429, 2013, 12701];

/// Rules by which a replica applies.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// Version of the server's variables that this is a copy of.
    version: u64,
    /// For rows.
    pub(super) rules: Rules,
    /// Whether `slave_ddl_exec_mode` is IDEMPOTENT.
    pub(super) is_idempotent: bool,
    /// `slave_skip_errors`.
    pub(super) skipped: SkippedErrors,
    /// `slave_transaction_retry_errors`.
    transient: Vec<u16>,
    /// Whether what is applied is logged again.
    pub(super) is_logged: bool,
    /// `replicate_annotate_row_events`.
    pub(super) annotates: bool,
    /// `slave_max_allowed_packet`.
    pub(super) longest: usize,
    /// `slave_max_statement_time`.
    pub(super) longest_statement: f64,
}

impl Options {
    pub(super) fn new(server: &Server) -> Self {
        let (names, globals) = (names(), &server.globals);
        let version = globals.version();
        let number = |id| globals.get(id).as_u64();
        let conversions = number(names.slave_type_conversions);
        let bit = |at: u32| conversions >> at & 1 != 0;
        let rules = Rules {
            conversions: Conversions {
                is_lossy: bit(0),
                is_non_lossy: bit(1),
                is_signed: bit(2),
                is_unsigned: bit(3),
            },
            is_idempotent: number(names.slave_exec_mode) != 0,
            run_triggers: match number(names.slave_run_triggers_for_rbr) {
                0 => RunTriggers::No,
                1 => RunTriggers::Yes,
                2 => RunTriggers::Logging,
                _ => RunTriggers::Enforce,
            },
        };
        let text = |id| match globals.get(id) {
            VarValue::Text(Some(text)) => text.to_string(),
            _ => String::new(),
        };
        let listed = text(names.slave_transaction_retry_errors);
        let listed = listed.split(',').filter_map(|number| number.trim().parse().ok());
        Self {
            version,
            rules,
            is_idempotent: number(names.slave_ddl_exec_mode) != 0,
            skipped: SkippedErrors::parse(&text(names.slave_skip_errors)),
            transient: listed.chain(TRANSIENT).collect(),
            is_logged: server.binlog().is_some() && number(names.log_slave_updates) != 0,
            annotates: number(names.replicate_annotate_row_events) != 0,
            longest: number(names.slave_max_allowed_packet) as usize,
            longest_statement: globals.get(names.slave_max_statement_time).as_f64(),
        }
    }

    /// Renews the copy if a variable has changed.
    pub(super) fn refresh(&mut self, server: &Server) {
        if self.version != server.globals.version() {
            *self = Self::new(server);
        }
    }

    /// Whether a group may succeed if it is tried again after this error.
    pub(super) fn is_transient(&self, code: u16) -> bool {
        self.transient.contains(&code)
    }
}

/// The directory for files of LOAD DATA.
pub(super) fn load_directory(server: &Server) -> PathBuf {
    let chosen = [names().slave_load_tmpdir, ids().tmpdir].into_iter().find_map(|id| match server
        .globals
        .get(id)
    {
        VarValue::Text(Some(text)) if !text.is_empty() => Some(PathBuf::from(&*text)),
        _ => None,
    });
    // `tmpdir` is a list; its first directory serves.
    let chosen = chosen.unwrap_or_else(std::env::temp_dir);
    match chosen.to_str().and_then(|list| list.split(':').next()) {
        Some(first) => PathBuf::from(first),
        None => chosen,
    }
}
