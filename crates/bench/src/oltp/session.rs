//! One connection that runs the transactions of a mix.
//!
//! Must never wait for the server once it is open: the worker calls it when its socket is ready.

use std::io;
use std::time::Instant;

use super::mix::{Group, Mix};
use super::random::Random;
use super::schema::{DATABASE, Size};
use super::statement::{Kind, Values, put_execute, put_query};
use crate::error::{Failure, Result};
use crate::server::Server;
use crate::wire::{Connection, Outcome, Scanner};

/// Progress after a read of the socket.
pub(super) enum Step {
    /// The transaction continues.
    Under,
    /// The transaction has succeeded.
    Done,
    /// A statement failed with this error; the transaction is rolled back and starts again.
    Failed(u16),
}

/// A statement in the form it is sent.
enum Sent {
    Text(String),
    Prepared {
        id: u32,
        /// Whether the types of its values have been sent.
        bound: bool,
    },
}

/// The error for statements that cannot be prepared: BEGIN and COMMIT in MySQL.
const UNSUPPORTED_PS: u16 = 1295;

/// One connection.
pub(super) struct Session {
    pub(super) connection: Connection,
    scanner: Scanner,
    statements: Vec<Sent>,
    groups: Vec<Group>,
    /// The distinct statements of the mix.
    kinds: Vec<Kind>,
    values: Values,
    size: Size,
    random: Random,
    /// Current group, and number of its statements that were sent.
    at: (usize, u32),
    table: u32,
    /// The last deleted row.
    again: u64,
    insert_follows: bool,
    rolling_back: bool,
    out: Vec<u8>,
    /// Time the transaction was due.
    pub(super) since: Instant,
    /// Number of answered statements.
    pub(super) queries: u64,
}

impl Session {
    /// Connects and prepares the statements.
    pub(super) fn open(
        server: &Server,
        mix: &Mix,
        size: Size,
        text: bool,
        seed: u64,
    ) -> Result<Self> {
        let mut connection = server.connect(DATABASE)?;
        let groups: Vec<Group> = mix.groups().collect();
        let kinds = kinds(&groups);
        let statements = match text {
            true => texts(&kinds, size.tables).into_iter().map(Sent::Text).collect(),
            false => prepare(&mut connection, &kinds, size.tables)?,
        };
        connection.stop_waiting()?;
        Ok(Self {
            connection,
            scanner: Scanner::default(),
            statements,
            groups,
            kinds,
            values: Values::default(),
            size,
            random: Random::new(seed),
            at: (0, 0),
            table: 1,
            again: 1,
            insert_follows: false,
            rolling_back: false,
            out: Vec::with_capacity(1024),
            since: Instant::now(),
            queries: 0,
        })
    }

    /// Starts a transaction that was due at `since`.
    pub(super) fn begin(&mut self, since: Instant) -> Result<()> {
        self.since = since;
        self.at = (0, 0);
        self.insert_follows = false;
        self.send_next()
    }

    /// Reads the bytes that have arrived and sends the next statement. `buffer` is space to read
    /// into.
    pub(super) fn go_on(&mut self, buffer: &mut [u8]) -> Result<Step> {
        if !self.out.is_empty() {
            self.write()?;
        }
        let read = match self.connection.read_now(buffer) {
            Ok(0) => return Err(Failure::said("the server closed the connection")),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Step::Under),
            Err(error) => return Err(error.into()),
        };
        let fed = self.scanner.feed(&buffer[..read]).map_err(|_| Failure::malformed())?;
        match fed {
            None if read == buffer.len() => self.go_on(buffer),
            None => Ok(Step::Under),
            Some(Outcome::Ok(_)) => self.answered(),
            Some(Outcome::Failed(error)) => self.failed(error.code),
        }
    }

    fn answered(&mut self) -> Result<Step> {
        self.queries += 1;
        if std::mem::take(&mut self.rolling_back) {
            self.begin(self.since)?;
        } else if self.at.0 == self.groups.len() && !self.insert_follows {
            return Ok(Step::Done);
        } else {
            self.send_next()?;
        }
        Ok(Step::Under)
    }

    /// Starts a rollback: the error may have ended the whole transaction, or only the statement.
    fn failed(&mut self, code: u16) -> Result<Step> {
        self.rolling_back = true;
        self.out.clear();
        self.values.clear();
        put_query(&mut self.out, "ROLLBACK", &self.values, &mut self.random);
        self.write()?;
        Ok(Step::Failed(code))
    }

    fn send_next(&mut self) -> Result<()> {
        let kind = self.next_kind();
        self.values.clear();
        kind.values(&mut self.random, self.size.rows, &mut self.again, &mut self.values);
        let statement = place(&self.kinds, self.table, kind);
        self.out.clear();
        match &mut self.statements[statement] {
            Sent::Text(text) => put_query(&mut self.out, text, &self.values, &mut self.random),
            Sent::Prepared { id, bound } => {
                let first = !std::mem::replace(bound, true);
                put_execute(&mut self.out, *id, first, &self.values, &mut self.random);
            }
        }
        self.write()
    }

    fn next_kind(&mut self) -> Kind {
        if std::mem::take(&mut self.insert_follows) {
            return Kind::InsertAgain;
        }
        let group = self.groups[self.at.0];
        if self.at.1 == 0 {
            self.table = 1 + self.random.below(u64::from(self.size.tables)) as u32;
        }
        self.at.1 += 1;
        if self.at.1 == group.count {
            self.at = (self.at.0 + 1, 0);
        }
        self.insert_follows = group.kind == Kind::DeleteInsert;
        group.kind
    }

    fn write(&mut self) -> Result<()> {
        match self.connection.write_now(&self.out) {
            Ok(written) => {
                self.out.drain(..written);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The distinct statements of the groups.
fn kinds(groups: &[Group]) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for group in groups {
        let second = (group.kind == Kind::DeleteInsert).then_some(Kind::InsertAgain);
        for kind in std::iter::once(group.kind).chain(second) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    kinds
}

/// Position of a statement on a table in a session's list.
fn place(kinds: &[Kind], table: u32, kind: Kind) -> usize {
    let at = kinds.iter().position(|known| *known == kind).unwrap_or_default();
    (table as usize - 1) * kinds.len() + at
}

fn texts(kinds: &[Kind], tables: u32) -> Vec<String> {
    (1..=tables).flat_map(|table| kinds.iter().map(move |kind| kind.text(table))).collect()
}

/// Prepares the statements of the mix. A statement without a table is prepared once.
fn prepare(connection: &mut Connection, kinds: &[Kind], tables: u32) -> Result<Vec<Sent>> {
    let mut list: Vec<Sent> = Vec::new();
    for table in 1..=tables {
        for (at, kind) in kinds.iter().enumerate() {
            let shared = matches!(kind, Kind::Begin | Kind::Commit) && table > 1;
            let sent = match (shared, list.get(at)) {
                (true, Some(Sent::Text(text))) => Sent::Text(text.clone()),
                (true, Some(Sent::Prepared { id, .. })) => Sent::Prepared { id: *id, bound: false },
                _ => prepare_one(connection, kind.text(table))?,
            };
            list.push(sent);
        }
    }
    Ok(list)
}

fn prepare_one(connection: &mut Connection, text: String) -> Result<Sent> {
    match connection.prepare(&text) {
        Ok(prepared) => Ok(Sent::Prepared { id: prepared.id, bound: false }),
        Err(Failure::Server(error)) if error.code == UNSUPPORTED_PS => Ok(Sent::Text(text)),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_texts() {
        let groups: Vec<Group> = Mix::find("read-write").unwrap().groups().collect();
        let kinds = kinds(&groups);
        assert!(kinds.contains(&Kind::InsertAgain));
        let texts = texts(&kinds, 3);
        for kind in &kinds {
            assert_eq!(texts[place(&kinds, 2, *kind)], kind.text(2));
        }
    }
}
