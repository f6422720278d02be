//! The column Info of `SHOW BINLOG EVENTS`: one text for each event.
//!
//! Must not keep state between events: a text depends on its event alone.

use crate::Gtid;
use crate::codec::{
    Event, GtidEvent, GtidExtra, Header, Incident, Intvar, Query, Rows, StatusVar, TableMap,
    UserValue, UserVar, flags, flags2, row_flags, unpack,
};
use crate::error::DecodeResult;
use crate::show::small::{branch, decimal};
use crate::show::text::{hex, put_name};
use selkie_types::CollationId;

/// Bytes of a text about a table. Compat: MariaDB cuts it there.
const TABLE_BYTES: usize = 255;

/// Settings that stand before a statement, with the bit that says each.
const SETTINGS: [(u32, &str); 6] = [
    (flags2::NO_FOREIGN_KEYS, "foreign_key_checks=0"),
    (flags2::AUTO_IS_NULL, "sql_auto_is_null=1"),
    (flags2::NO_UNIQUE_CHECKS, "unique_checks=0"),
    (flags2::NO_CHECK_CONSTRAINTS, "check_constraint_checks=0"),
    (flags2::IF_EXISTS, "@@sql_if_exists=1"),
    (flags2::INSERT_HISTORY, "@@system_versioning_insert_history=1"),
];

/// The text of an event; an error if it is a compressed statement of more than `most` bytes, or a
/// damaged one.
pub fn info(header: &Header, event: &Event<'_>, most: usize) -> DecodeResult<Vec<u8>> {
    let text = match event {
        Event::Query(query) => return Ok(statement(header, query, query.text)),
        Event::QueryCompressed(query) => {
            return Ok(statement(header, query, &unpack(query.text, most)?));
        }
        Event::ExecuteLoadQuery(load) => {
            let mut out = statement(&Header { flags: 0, ..*header }, &load.query, load.query.text);
            out.extend_from_slice(format!(" ;file_id={}", load.file_id).as_bytes());
            return Ok(out);
        }
        Event::AnnotateRows(bytes) | Event::BinlogCheckpoint(bytes) => return Ok(bytes.to_vec()),
        Event::TableMap(map) => return Ok(table(map)),
        Event::UserVar(variable) => return Ok(user_var(variable)),
        Event::Rotate(rotate) => {
            let mut out = rotate.file.to_vec();
            out.extend_from_slice(format!(";pos={}", rotate.position).as_bytes());
            return Ok(out);
        }
        Event::FormatDescription(format) => {
            let (server, binlog) = (format.version_text(), format.binlog_version);
            format!("Server ver: {server}, Binlog ver: {binlog}")
        }
        other => short(header, other),
    };
    Ok(text.into_bytes())
}

/// The text of an event that consists of numbers; empty if there is none.
fn short(header: &Header, event: &Event<'_>) -> String {
    match event {
        Event::Xid(xid) => format!("COMMIT /* xid={} */", xid.0),
        Event::XaPrepare(prepare) => {
            let branch = branch(prepare.gtrid, prepare.bqual, prepare.format);
            match prepare.one_phase {
                0 => format!("XA PREPARE {branch}"),
                _ => format!("XA COMMIT {branch} ONE PHASE"),
            }
        }
        Event::Gtid(gtid) => group(header, gtid),
        Event::GtidList(list) => {
            let gtids: Vec<String> = list.gtids.iter().map(ToString::to_string).collect();
            format!("[{}]", gtids.join(","))
        }
        Event::Rows(rows) => self::rows(rows),
        Event::Intvar(intvar) => {
            let which = match intvar.which {
                Intvar::LAST_INSERT_ID => "LAST_INSERT_ID",
                Intvar::INSERT_ID => "INSERT_ID",
                _ => "UNKNOWN",
            };
            format!("{which}={}", intvar.value)
        }
        Event::Rand(rand) => format!("rand_seed1={},rand_seed2={}", rand.seed1, rand.seed2),
        Event::BeginLoadQuery(block) | Event::AppendBlock(block) => {
            format!(";file_id={};block_len={}", block.file_id, block.block.len())
        }
        Event::DeleteFile(id) => format!(";file_id={id}"),
        Event::Incident(incident) => self::incident(incident),
        _ => String::new(),
    }
}

/// A statement with its default database and the settings that are not as usual.
fn statement(header: &Header, query: &Query<'_>, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if !header.has(flags::SUPPRESS_USE) && !query.database.is_empty() {
        out.extend_from_slice(b"use ");
        put_name(&mut out, query.database);
        out.extend_from_slice(b"; ");
    }
    let flags = query.status.iter().find_map(|found| match found {
        Ok(StatusVar::Flags2(flags)) => Some(flags),
        _ => None,
    });
    let set = SETTINGS.iter().filter(|(bit, _)| flags.unwrap_or(0) & bit != 0);
    let set: Vec<&str> = set.map(|(_, text)| *text).collect();
    if !set.is_empty() {
        out.extend_from_slice(format!("set {}; ", set.join(", ")).as_bytes());
    }
    out.extend_from_slice(text);
    out
}

/// The begin of a group.
fn group(header: &Header, event: &GtidEvent<'_>) -> String {
    let gtid = Gtid { domain: event.domain, server: header.server_id, seq: event.seq };
    let begin = if event.has(GtidEvent::PREPARED_XA) {
        format!("XA START {} ", branch(event.gtrid, event.bqual, event.xa_format))
    } else if event.has(GtidEvent::STANDALONE) {
        String::new()
    } else {
        "BEGIN ".to_owned()
    };
    let mut text = format!("{begin}GTID {gtid}");
    if event.has(GtidEvent::GROUP_COMMIT_ID) {
        text += &format!(" cid={}", event.commit_id);
    }
    let Some(extra) = &event.extra else { return text };
    if extra.flags & GtidExtra::START_ALTER != 0 {
        text += " START ALTER";
    }
    for (flag, word) in
        [(GtidExtra::COMMIT_ALTER, "COMMIT"), (GtidExtra::ROLLBACK_ALTER, "ROLLBACK")]
    {
        if extra.flags & flag != 0 {
            text += &format!(" {word} ALTER id={}", extra.start);
        }
    }
    text
}

fn table(map: &TableMap<'_>) -> Vec<u8> {
    let mut out = format!("table_id: {} (", map.table_id).into_bytes();
    out.extend_from_slice(map.database);
    out.push(b'.');
    out.extend_from_slice(map.table);
    out.push(b')');
    out.truncate(TABLE_BYTES);
    out
}

fn rows(rows: &Rows<'_>) -> String {
    let is_last = rows.flags & row_flags::STMT_END != 0;
    format!("table_id: {}{}", rows.table_id, if is_last { " flags: STMT_END_F" } else { "" })
}

/// Compat: an incident's message is there only if it is empty.
fn incident(incident: &Incident<'_>) -> String {
    let name = if incident.incident == 1 { "LOST_EVENTS" } else { "NOTHING" };
    let colon = if incident.message.is_empty() { ": " } else { "" };
    format!("#{} ({name}){colon}", incident.incident)
}

/// Compat: three question marks stand for the whole variable if its collation is not known.
fn user_var(variable: &UserVar<'_>) -> Vec<u8> {
    let value = match &variable.value {
        None => Some("NULL".to_owned()),
        Some(value) => value_text(value),
    };
    let Some(value) = value else { return b"???".to_vec() };
    let mut out = b"@".to_vec();
    put_name(&mut out, variable.name);
    out.push(b'=');
    out.extend_from_slice(value.as_bytes());
    out
}

/// The value of a user variable; nothing if its collation is not known.
fn value_text(value: &UserValue<'_>) -> Option<String> {
    let word = <[u8; 8]>::try_from(value.bytes).map(u64::from_le_bytes);
    match (value.kind, word) {
        (UserValue::REAL, Ok(bits)) => {
            let mut text = Vec::new();
            selkie_types::number::write_f64(&mut text, f64::from_bits(bits));
            String::from_utf8(text).ok()
        }
        (UserValue::INT, Ok(number)) if value.is_unsigned() => Some(number.to_string()),
        (UserValue::INT, Ok(number)) => Some((number as i64).to_string()),
        (UserValue::DECIMAL, _) => Some(decimal(value.bytes).unwrap_or_else(|| hex(value.bytes))),
        _ => literal(value),
    }
}

/// A string with its character set and collation.
fn literal(value: &UserValue<'_>) -> Option<String> {
    let collation = CollationId::from_number(u16::try_from(value.collation).ok()?)?;
    let (charset, name) = (collation.charset().name(), collation.name());
    Some(format!("_{charset} X'{}' COLLATE {name}", hex(value.bytes)))
}
