//! SET statements for the settings of QUERY events that differ from the statement before.
//!
//! Must not show a setting again while its value stays the same.

use std::collections::BTreeMap;

use selkie_types::CollationId;

use crate::codec::{Query, StatusVar, flags2};
use crate::error::DecodeResult;
use crate::show::rows::put_line;

/// Settings of a session that executes the shown statements.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// Last shown value of each setting.
    shown: BTreeMap<&'static str, String>,
}

/// Settings that are bits: name, bit, and the value of the setting while the bit is set.
const BITS: [(&str, u32, bool); 8] = [
    ("foreign_key_checks", flags2::NO_FOREIGN_KEYS, false),
    ("sql_auto_is_null", flags2::AUTO_IS_NULL, true),
    ("unique_checks", flags2::NO_UNIQUE_CHECKS, false),
    ("autocommit", flags2::NOT_AUTOCOMMIT, false),
    ("check_constraint_checks", flags2::NO_CHECK_CONSTRAINTS, false),
    ("sql_if_exists", flags2::IF_EXISTS, true),
    ("explicit_defaults_for_timestamp", flags2::EXPLICIT_DEFAULTS, true),
    ("system_versioning_insert_history", flags2::INSERT_HISTORY, true),
];

/// The settings of one event.
#[derive(Clone, Debug)]
struct Settings {
    flags2: Option<u32>,
    sql_mode: Option<u64>,
    auto_increment: (u16, u16),
    charset: Option<(u16, u16, u16)>,
    time_zone: Option<String>,
    lc_time_names: u16,
    collation_database: Option<u16>,
    micros: u32,
}

/// Settings in the status variables of an event, with defaults for absent ones.
fn settings(query: &Query<'_>) -> DecodeResult<Settings> {
    let mut all = Settings {
        flags2: None,
        sql_mode: None,
        auto_increment: (1, 1),
        charset: None,
        time_zone: None,
        lc_time_names: 0,
        collation_database: None,
        micros: 0,
    };
    for found in query.status.iter() {
        match found? {
            StatusVar::Flags2(flags) => all.flags2 = Some(flags),
            StatusVar::SqlMode(mode) => all.sql_mode = Some(mode),
            StatusVar::AutoIncrement(increment, offset) => all.auto_increment = (increment, offset),
            StatusVar::Charset(client, connection, server) => {
                all.charset = Some((client, connection, server));
            }
            StatusVar::TimeZone(zone) => {
                all.time_zone = Some(String::from_utf8_lossy(zone).into_owned());
            }
            StatusVar::LcTimeNames(number) => all.lc_time_names = number,
            StatusVar::CollationDatabase(number) => all.collation_database = Some(number),
            StatusVar::HrNow(micros) => all.micros = micros,
            _ => {}
        }
    }
    Ok(all)
}

/// The number of the transaction that changed a definition, or 0.
pub(super) fn xid(query: &Query<'_>) -> u64 {
    let xid = |found| if let Ok(StatusVar::Xid(xid)) = found { Some(xid) } else { None };
    query.status.iter().find_map(xid).unwrap_or(0)
}

/// The charset of a collation.
pub(super) fn charset(collation: u16) -> String {
    let known = CollationId::from_number(collation);
    known.map_or_else(|| collation.to_string(), |known| known.charset().name().to_owned())
}

impl Context {
    /// Whether the value of a setting differs from its last shown one, which it becomes.
    pub(super) fn changes(&mut self, name: &'static str, value: &str) -> bool {
        if self.shown.get(name).is_some_and(|shown| shown == value) {
            return false;
        }
        self.shown.insert(name, value.to_owned());
        true
    }

    /// Appends the SET statements that a statement needs.
    pub(super) fn put(
        &mut self,
        query: &Query<'_>,
        timestamp: u32,
        out: &mut Vec<u8>,
    ) -> DecodeResult<()> {
        let all = settings(query)?;
        match all.micros {
            0 => put_line(out, format_args!("SET TIMESTAMP={timestamp}/*!*/;")),
            micros => put_line(out, format_args!("SET TIMESTAMP={timestamp}.{micros:06}/*!*/;")),
        }
        let thread = query.thread_id.to_string();
        self.put_set("pseudo_thread_id", thread, out);
        if let Some(flags) = all.flags2 {
            self.put_bits(flags, out);
        }
        if let Some(mode) = all.sql_mode {
            self.put_set("sql_mode", mode.to_string(), out);
        }
        let (increment, offset) = all.auto_increment;
        if self.changes("auto_increment", &format!("{increment} {offset}")) {
            let increment = format!("@@session.auto_increment_increment={increment}");
            let offset = format!("@@session.auto_increment_offset={offset}");
            put_line(out, format_args!("SET {increment}, {offset}/*!*/;"));
        }
        if let Some(numbers) = all.charset {
            self.put_charset(numbers, out);
        }
        if let Some(zone) = all.time_zone {
            self.put_set("time_zone", format!("'{zone}'"), out);
        }
        self.put_set("lc_time_names", all.lc_time_names.to_string(), out);
        let database = all.collation_database.map(|number| number.to_string());
        self.put_set("collation_database", database.unwrap_or("DEFAULT".to_owned()), out);
        Ok(())
    }

    fn put_set(&mut self, name: &'static str, value: String, out: &mut Vec<u8>) {
        if self.changes(name, &value) {
            put_line(out, format_args!("SET @@session.{name}={value}/*!*/;"));
        }
    }

    fn put_bits(&mut self, flags: u32, out: &mut Vec<u8>) {
        let mut changed = Vec::new();
        for (name, bit, value) in BITS {
            let value = if (flags & bit != 0) == value { "1" } else { "0" };
            if self.changes(name, value) {
                changed.push(format!("@@session.{name}={value}"));
            }
        }
        if !changed.is_empty() {
            put_line(out, format_args!("SET {}/*!*/;", changed.join(", ")));
        }
    }

    fn put_charset(&mut self, (client, connection, server): (u16, u16, u16), out: &mut Vec<u8>) {
        if !self.changes("charset", &format!("{client} {connection} {server}")) {
            return;
        }
        let name = charset(client);
        put_line(out, format_args!("/*!\\C {name} *//*!*/;"));
        let client = format!("@@session.character_set_client={name}");
        let connection = format!("@@session.collation_connection={connection}");
        let server = format!("@@session.collation_server={server}");
        put_line(out, format_args!("SET {client},{connection},{server}/*!*/;"));
    }
}
