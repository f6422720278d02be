//! One event after the other as text: where it lies, its head, what it does.
//!
//! Must not stop at what cannot be shown: callers decide.

use std::collections::BTreeMap;

use crate::codec::{
    Change, Event, Format, GtidEvent, GtidExtra, Header, Intvar, Query, Rows, RowsVersion,
    TableMap, flags, row_flags, unpack,
};
use crate::error::{DecodeError, DecodeResult};
use crate::file::Placed;
use crate::images::columns;
use crate::show::context::{Context, xid};
use crate::show::rows::{Table, put_line};
use crate::show::small::{branch, gtid_words, put_user_var};
use crate::show::text::{put_name, time};

/// Shows the events of a file in order.
#[derive(Clone, Debug, Default)]
pub struct Printer {
    tables: BTreeMap<u64, Table>,
    context: Context,
    /// Rows of the statement so far.
    rows: u64,
    /// Whether the statement of the next Query event waits for the end of a split ALTER.
    is_split: bool,
    /// Whether the session of the last event asked replicas to skip it.
    is_skipped: bool,
}

/// Most bytes that a statement is unpacked to.
const MOST_UNPACKED: usize = 1 << 30;

impl Printer {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends what comes before the first event.
    pub fn begin(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"DELIMITER /*!*/;\n");
    }

    /// Appends what comes behind the last event.
    pub fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"DELIMITER ;\n# End of log file\n");
    }

    /// Appends an event.
    pub fn put(&mut self, placed: &Placed<'_>, out: &mut Vec<u8>) -> DecodeResult<()> {
        let header = &placed.frame.header;
        put_line(out, format_args!("# at {}", placed.offset));
        let is_skipped = header.has(flags::SKIP_REPLICATION);
        if std::mem::replace(&mut self.is_skipped, is_skipped) != is_skipped {
            let value = u8::from(is_skipped);
            put_line(out, format_args!("/*!50521 SET skip_replication={value}*//*!*/;"));
        }
        let checksum = placed.frame.checksum.map(|sum| format!(" CRC32 {sum:#010x}"));
        let (time, server) = (time(header.timestamp), header.server_id);
        let head = format!("#{time} server id {server}  end_log_pos {}", header.end_log_pos);
        let head = format!("{head}{} \t", checksum.unwrap_or_default());
        out.extend_from_slice(head.as_bytes());
        self.put_event(header, &placed.event, out)
    }

    /// Appends the rest of the head, and what the event does.
    fn put_event(
        &mut self,
        header: &Header,
        event: &Event<'_>,
        out: &mut Vec<u8>,
    ) -> DecodeResult<()> {
        match event {
            Event::FormatDescription(format) => put_format(format, out),
            Event::Query(query) => self.put_query(header, "Query", query, query.text, out)?,
            Event::QueryCompressed(query) => {
                let text = unpack(query.text, MOST_UNPACKED)?;
                self.put_query(header, "Query_compressed", query, &text, out)?;
            }
            Event::ExecuteLoadQuery(load) => {
                let query = &load.query;
                self.put_query(header, "Execute_load_query", query, query.text, out)?;
                put_line(out, format_args!("# file_id: {} ", load.file_id));
            }
            Event::Gtid(gtid) => self.put_gtid(header, gtid, out),
            Event::TableMap(map) => self.put_table(map, out)?,
            Event::Rows(rows) => self.put_rows(rows, out)?,
            other => put_other(other, out),
        }
        Ok(())
    }

    fn put_query(
        &mut self,
        header: &Header,
        name: &str,
        query: &Query<'_>,
        text: &[u8],
        out: &mut Vec<u8>,
    ) -> DecodeResult<()> {
        let (thread, seconds) = (query.thread_id, query.exec_time);
        let (error, xid) = (query.error_code, xid(query));
        let numbers = format!("thread_id={thread}\texec_time={seconds}\terror_code={error}");
        put_line(out, format_args!("{name}\t{numbers}\txid={xid}"));
        let is_used = !header.has(flags::SUPPRESS_USE) && !query.database.is_empty();
        let database = String::from_utf8_lossy(query.database);
        if is_used && self.context.changes("database", &database) {
            out.extend_from_slice(b"use ");
            put_name(out, query.database);
            out.extend_from_slice(b"/*!*/;\n");
        }
        self.context.put(query, header.timestamp, out)?;
        if std::mem::take(&mut self.is_split) {
            out.extend_from_slice(b"### ");
            out.extend_from_slice(text);
            out.push(b'\n');
            return Ok(());
        }
        out.extend_from_slice(text);
        out.extend_from_slice(b"\n/*!*/;\n");
        Ok(())
    }

    fn put_gtid(&mut self, header: &Header, gtid: &GtidEvent<'_>, out: &mut Vec<u8>) {
        let (domain, server, seq) = (gtid.domain, header.server_id, gtid.seq);
        put_line(out, format_args!("GTID {domain}-{server}-{seq}{}", gtid_words(gtid)));
        let alone = if gtid.has(GtidEvent::ALLOW_PARALLEL) { "0" } else { "1" };
        let settings = [
            ("100101", "skip_parallel_replication", alone.to_owned()),
            ("100001", "gtid_domain_id", domain.to_string()),
            ("100001", "server_id", server.to_string()),
        ];
        for (version, name, value) in settings {
            if self.context.changes(name, &value) {
                put_line(out, format_args!("/*M!{version} SET @@session.{name}={value}*//*!*/;"));
            }
        }
        put_line(out, format_args!("/*M!100001 SET @@session.gtid_seq_no={seq}*//*!*/;"));
        let splits = GtidExtra::START_ALTER | GtidExtra::COMMIT_ALTER | GtidExtra::ROLLBACK_ALTER;
        self.is_split = gtid.extra.is_some_and(|extra| extra.flags & splits != 0);
        if gtid.has(GtidEvent::PREPARED_XA) {
            let branch = branch(gtid.gtrid, gtid.bqual, gtid.xa_format);
            put_line(out, format_args!("XA START {branch}/*!*/;"));
        } else if !gtid.has(GtidEvent::STANDALONE) {
            out.extend_from_slice(b"START TRANSACTION\n/*!*/;\n");
        }
    }

    fn put_table(&mut self, map: &TableMap<'_>, out: &mut Vec<u8>) -> DecodeResult<()> {
        out.extend_from_slice(b"Table_map: ");
        put_name(out, map.database);
        out.push(b'.');
        put_name(out, map.table);
        put_line(out, format_args!(" mapped to number {}", map.table_id));
        let table = Table {
            database: map.database.to_vec(),
            name: map.table.to_vec(),
            columns: columns(map)?,
        };
        self.tables.insert(map.table_id, table);
        Ok(())
    }

    fn put_rows(&mut self, rows: &Rows<'_>, out: &mut Vec<u8>) -> DecodeResult<()> {
        let change = match rows.change {
            Change::Write => "Write",
            Change::Update => "Update",
            Change::Delete => "Delete",
        };
        let packed = if rows.version == RowsVersion::V1Compressed { "compressed_" } else { "" };
        let is_last = rows.flags & row_flags::STMT_END != 0;
        let end = if is_last { " flags: STMT_END_F" } else { "" };
        put_line(out, format_args!("{change}_{packed}rows: table id {}{end}", rows.table_id));
        // A dummy event for nothing but the end of a statement belongs to no table.
        if rows.columns > 0 || !rows.images.is_empty() {
            let table = self.tables.get(&rows.table_id);
            let table = table.ok_or(DecodeError::Invalid("table of rows"))?;
            self.rows += table.put_rows(rows, out)?;
        }
        if is_last {
            self.tables.clear();
            let rows = std::mem::take(&mut self.rows);
            put_line(out, format_args!("# Number of rows: {rows}"));
        }
        Ok(())
    }
}

fn put_format(format: &Format, out: &mut Vec<u8>) {
    let (binlog, server) = (format.binlog_version, format.version_text());
    let text = format!("Start: binlog v {binlog}, server v {server}");
    if format.created == 0 {
        return put_line(out, format_args!("{text}"));
    }
    put_line(out, format_args!("{text} created {} at startup", time(format.created)));
    out.extend_from_slice(b"ROLLBACK/*!*/;\n");
}

/// Appends an event that changes nothing of what is known.
fn put_other(event: &Event<'_>, out: &mut Vec<u8>) {
    let name = event.kind().name();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match event {
        Event::Rotate(rotate) => {
            let file = text(rotate.file);
            put_line(out, format_args!("Rotate to {file}  pos: {}", rotate.position));
        }
        Event::Intvar(intvar) => {
            let is_last = intvar.which == Intvar::LAST_INSERT_ID;
            let which = if is_last { "LAST_INSERT_ID" } else { "INSERT_ID" };
            put_line(out, format_args!("Intvar\nSET {which}={}/*!*/;", intvar.value));
        }
        Event::Rand(rand) => {
            let (first, second) = (rand.seed1, rand.seed2);
            let seeds = format!("@@RAND_SEED1={first}, @@RAND_SEED2={second}");
            put_line(out, format_args!("Rand\nSET {seeds}/*!*/;"));
        }
        Event::UserVar(variable) => {
            out.extend_from_slice(b"User_var\n");
            put_user_var(variable, out);
        }
        Event::Xid(xid) => put_line(out, format_args!("Xid = {}\nCOMMIT/*!*/;", xid.0)),
        Event::XaPrepare(prepare) => {
            let branch = branch(prepare.gtrid, prepare.bqual, prepare.format);
            put_line(out, format_args!("XID = {branch}\nXA PREPARE {branch}\n/*!*/;"));
        }
        Event::BeginLoadQuery(block) | Event::AppendBlock(block) => {
            let (id, bytes) = (block.file_id, block.block.len());
            put_line(out, format_args!("\n#{name}: file_id: {id}  block_len: {bytes}"));
        }
        Event::DeleteFile(id) => put_line(out, format_args!("\n#Delete_file: file_id={id}")),
        Event::Incident(incident) => {
            let (number, message) = (incident.incident, text(incident.message));
            put_line(out, format_args!("\n# Incident: {number} {message}"));
        }
        Event::AnnotateRows(statement) => {
            out.extend_from_slice(b"Annotate_rows:\n");
            for line in statement.split(|byte| *byte == b'\n') {
                out.extend_from_slice(b"#Q> ");
                out.extend_from_slice(line);
                out.push(b'\n');
            }
        }
        Event::BinlogCheckpoint(file) => {
            put_line(out, format_args!("Binlog checkpoint {}", text(file)));
        }
        Event::GtidList(list) => {
            let gtids: Vec<String> = list.gtids.iter().map(ToString::to_string).collect();
            put_line(out, format_args!("Gtid list [{}]", gtids.join(",\n# ")));
        }
        Event::StartEncryption(start) => {
            let (scheme, version) = (start.scheme, start.key_version);
            put_line(out, format_args!("Encryption scheme: {scheme}, key_version: {version}"));
        }
        Event::Unknown(kind, body) if name == "Unknown" => {
            put_line(out, format_args!("Unknown event {} of {} bytes", kind.0, body.len()));
        }
        _ => put_line(out, format_args!("{name}")),
    }
}
