//! Tables, rows and a statement context for tests of engines.
//!
//! [`items`] has a primary key and [`letters`] has none: both row identities are covered.

use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use selkie_types::{ByteRows, CollationId, DateTime, SqlType, Value};

use crate::{
    ColumnDef, Cursor, EngineError, EngineResult, IndexDef, IndexId, IndexKind, IndexPart,
    KeyRange, RowSet, StatementContext, TableDef, TableId, WaitKind,
};

/// A statement context that is never killed, with a lock wait timeout.
#[derive(Clone, Copy, Debug)]
pub struct NoContext(pub Duration);

impl Default for NoContext {
    fn default() -> Self {
        Self(Duration::from_secs(20))
    }
}

impl StatementContext for NoContext {
    fn check_killed(&self) -> EngineResult<()> {
        Ok(())
    }

    fn wait(
        &self,
        _: WaitKind,
        limit: Option<Duration>,
        _: Waker,
        park: &mut dyn FnMut(Duration) -> bool,
    ) -> EngineResult<()> {
        let end = limit.map(|limit| Instant::now() + limit);
        while !park(Duration::from_millis(5)) {
            if end.is_some_and(|end| Instant::now() >= end) {
                return Err(EngineError::LockWaitTimeout);
            }
        }
        Ok(())
    }

    fn lock_wait_timeout(&self) -> Duration {
        self.0
    }
}

fn column(name: &str, ty: SqlType, nullable: bool) -> ColumnDef {
    ColumnDef { name: name.into(), ty, nullable }
}

fn index(id: u32, name: &str, kind: IndexKind, columns: &[usize]) -> IndexDef {
    let part = |&column: &usize| IndexPart { column, prefix: None, descending: false };
    let parts = columns.iter().map(part).collect();
    IndexDef {
        id: IndexId(id),
        name: name.into(),
        kind,
        parts,
        hashed: false,
        without_overlaps: false,
    }
}

fn table(
    id: u64,
    columns: Vec<ColumnDef>,
    indexes: Vec<IndexDef>,
    auto_increment: Option<usize>,
) -> Arc<TableDef> {
    let layout = TableDef::layout_of(&columns);
    let (schema, name) = ("test".into(), format!("t{id}").into());
    let id = TableId(id);
    let texts = Vec::new();
    Arc::new(TableDef {
        id,
        schema,
        name,
        columns,
        indexes,
        texts,
        auto_increment,
        current: None,
        layout,
    })
}

/// `items(id INT AUTO_INCREMENT PRIMARY KEY, code INT NULL UNIQUE, kind INT, name VARCHAR,
/// KEY(kind))`.
pub fn items(id: u64) -> Arc<TableDef> {
    let text = SqlType::varchar(2000, CollationId::UTF8MB4_GENERAL_CI);
    let columns = vec![
        column("id", SqlType::int(), false),
        column("code", SqlType::int(), true),
        column("kind", SqlType::int(), false),
        column("name", text, false),
    ];
    let indexes = vec![
        index(1, "PRIMARY", IndexKind::Primary, &[0]),
        index(2, "code", IndexKind::Unique, &[1]),
        index(3, "kind", IndexKind::Plain, &[2]),
    ];
    table(id, columns, indexes, Some(0))
}

/// `letters(name VARCHAR, body LONGTEXT, KEY(name))`, without a primary key.
pub fn letters(id: u64) -> Arc<TableDef> {
    let name = SqlType::varchar(100, CollationId::UTF8MB4_GENERAL_CI);
    let body = SqlType::new(selkie_types::TypeKind::LongText, 0, 0);
    let columns = vec![column("name", name, false), column("body", body, true)];
    table(id, columns, vec![index(1, "name", IndexKind::Plain, &[0])], None)
}

/// `spans(id INT, name VARCHAR NULL, s DATETIME, e DATETIME, PRIMARY KEY (id, e, s), UNIQUE (name,
/// e, s))`, both keys without overlaps; with a key of kind `primary`.
pub fn spans(id: u64, primary: IndexKind) -> Arc<TableDef> {
    let columns = vec![
        column("id", SqlType::int(), false),
        column("name", SqlType::varchar(100, CollationId::UTF8MB4_GENERAL_CI), true),
        column("s", SqlType::datetime(0), false),
        column("e", SqlType::datetime(0), false),
    ];
    let mut indexes = vec![
        index(1, "PRIMARY", primary, &[0, 3, 2]),
        index(2, "name", IndexKind::Unique, &[1, 3, 2]),
    ];
    indexes.iter_mut().for_each(|index| index.without_overlaps = true);
    table(id, columns, indexes, None)
}

/// A row of [`spans`].
pub fn span_row(
    def: &TableDef,
    id: i64,
    name: Option<&str>,
    span: std::ops::Range<i64>,
) -> Vec<u8> {
    let name = name.map_or(Value::Null, |name| Value::bytes(name.as_bytes()));
    let mut row = Vec::new();
    let time = |at: i64| Value::DateTime(DateTime(at));
    let values = [Value::Int(id), name, time(span.start), time(span.end)];
    def.layout.encode_values(&values, &mut row);
    row
}

/// A row of [`items`].
pub fn item_row(def: &TableDef, id: i64, code: Option<i64>, kind: i64, name: &str) -> Vec<u8> {
    let code = code.map_or(Value::Null, Value::Int);
    let mut row = Vec::new();
    let values = [Value::Int(id), code, Value::Int(kind), Value::bytes(name)];
    def.layout.encode_values(&values, &mut row);
    row
}

/// A batch of rows or keys.
pub fn rows_of<B: AsRef<[u8]>>(rows: impl IntoIterator<Item = B>) -> ByteRows {
    let mut out = ByteRows::default();
    rows.into_iter().for_each(|row| out.push(row.as_ref()));
    out
}

/// Reads a cursor to its end, in batches of changing size.
pub(super) fn drain(mut cursor: Box<dyn Cursor + '_>) -> EngineResult<RowSet> {
    let mut out = RowSet::default();
    let mut size = 1;
    while cursor.next_batch(&mut out, size)? {
        size = size * 3 % 100 + 1;
    }
    Ok(out)
}

/// The key of a value of the first part of index `at`.
pub(super) fn key_of(def: &TableDef, at: usize, value: Value) -> Box<[u8]> {
    let mut key = Vec::new();
    crate::IndexCodec::new(def, &def.indexes[at]).key_of_values(&[value], &mut key);
    debug_assert!(!KeyRange::prefix(&key).is_empty());
    key.into()
}
