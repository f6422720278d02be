//! The error log, line by line in MariaDB's format: `2026-11-21  2:03:07 0 [Note] text`. The number
//! is the connection's.
//!
//! Must not be used for messages to clients.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

/// Target of the log's lines: a file, or the standard error output.
#[derive(Clone, Debug)]
pub struct LogTarget(Arc<Mutex<Option<File>>>);

impl LogTarget {
    /// The standard error output.
    pub fn stderr() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }

    /// From now on lines are appended to a file.
    pub fn switch_to(&self, path: &Path) -> io::Result<()> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        *self.0.lock() = Some(file);
        Ok(())
    }

    /// Makes this the log of the process; a second call changes nothing.
    pub fn install(&self) {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::INFO)
            .with_writer(self.clone())
            .event_format(Layout)
            .finish();
        let _ = tracing::subscriber::set_global_default(subscriber);
    }
}

impl<'a> MakeWriter<'a> for LogTarget {
    type Writer = LineWriter;

    fn make_writer(&'a self) -> Self::Writer {
        LineWriter(Arc::clone(&self.0))
    }
}

/// Writer of a line to the target.
#[derive(Debug)]
pub struct LineWriter(Arc<Mutex<Option<File>>>);

impl Write for LineWriter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut *self.0.lock() {
            Some(file) => file.write(buf),
            None => io::stderr().write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// MariaDB's line format.
struct Layout;

impl<S, N> FormatEvent<S, N> for Layout
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut parts = Parts::default();
        event.record(&mut parts);
        let level = level_word(*event.metadata().level());
        writeln!(writer, "{} {} [{level}] {}", timestamp(), parts.connection, parts.message)
    }
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::ERROR => "ERROR",
        Level::WARN => "Warning",
        _ => "Note",
    }
}

fn timestamp() -> String {
    let now = jiff::ZonedDateTime::now();
    let (date, time) = (now.date(), now.time());
    format!("{date} {:>2}:{:02}:{:02}", time.hour(), time.minute(), time.second())
}

#[derive(Default)]
struct Parts {
    connection: u64,
    message: String,
}

impl Visit for Parts {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "connection" {
            self.connection = value;
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}
