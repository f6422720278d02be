//! Rows events as changes of tables: rows are found by keys and without, what later images are of
//! may be what earlier ones made, and events that do not fit are errors that leave nothing behind.

#[allow(dead_code)]
mod sql;

use proptest::prelude::*;
use selkie_exec::apply::{Applier, Conversions, Failure, Rules, RunTriggers};
use selkie_replication::codec::{Change, OptionalFields, Rows, RowsVersion, TableMap, row_flags};
use selkie_replication::images::{Column, ColumnKind, Shape, Value};
use selkie_types::SqlResult;
use selkie_types::error::catalogue::{
    ER_DUP_ENTRY, ER_KEY_NOT_FOUND, ER_NO_SUCH_TABLE, ER_SLAVE_CONVERSION_FAILED,
    ER_SLAVE_CORRUPT_EVENT,
};

use sql::world::World;

const INT: ColumnKind = ColumnKind::Int;
const TEXT: ColumnKind = ColumnKind::Varchar(40);

/// A stream of events on one table.
struct Stream {
    world: World,
    applier: Applier,
    rules: Rules,
    table: &'static str,
    columns: Vec<Column>,
}

/// Bits of the first columns.
fn first(columns: usize) -> Vec<u8> {
    vec![(1u16 << columns).wrapping_sub(1) as u8]
}

impl Stream {
    fn new(definition: &str, kinds: &[ColumnKind]) -> Self {
        let mut world = World::new();
        world.run("a", definition).expect("a table");
        let column = |kind: &ColumnKind| Column { kind: *kind, is_nullable: true };
        let columns = kinds.iter().map(column).collect();
        Self { world, applier: Applier::new(), rules: Rules::default(), table: "t", columns }
    }

    fn rows(&mut self, sql: &str) -> Vec<String> {
        self.world.run("b", sql).expect("rows")
    }

    fn shape(&self, present: &[u8]) -> Shape {
        Shape::new(&self.columns, present).expect("a shape")
    }

    /// Applies an event whose images have some columns, in a transaction that is committed.
    fn apply(
        &mut self,
        change: Change,
        (before, after): (&[u8], &[u8]),
        images: &[u8],
    ) -> Result<(), Failure> {
        let (mut types, mut metadata) = (Vec::new(), Vec::new());
        self.columns.iter().for_each(|c| c.kind.encode(&mut types, &mut metadata));
        let map = TableMap {
            table_id: 7,
            flags: 1,
            database: b"test",
            table: self.table.as_bytes(),
            types: &types,
            metadata: &metadata,
            nullable: &[0xff],
            optional: OptionalFields(&[]),
        };
        let rows = Rows {
            change,
            version: RowsVersion::V1,
            table_id: 7,
            flags: row_flags::STMT_END,
            extra: &[],
            columns: self.columns.len() as u64,
            present: before,
            present_after: after,
            images,
        };
        let (instance, session) = self.world.parts("a");
        self.applier.table_map(instance, session, &map, Some(("test", self.table)))?;
        let applied = self.applier.rows(instance, session, &self.rules, &rows);
        self.applier.clear();
        session.commit().expect("a commit");
        applied
    }

    fn change(&mut self, change: Change, images: &[&[Value<'_>]]) -> Result<(), Failure> {
        let all = first(self.columns.len());
        let mut bytes = Vec::new();
        images.iter().for_each(|image| assert!(self.shape(&all).put(image, &mut bytes)));
        let after = if change == Change::Update { &all[..] } else { &[] };
        self.apply(change, (&all, after), &bytes)
    }
}

fn pair(id: i64, text: &str) -> [Value<'_>; 2] {
    [Value::Int(id), Value::Bytes(text.as_bytes())]
}

const KEYED: &str = "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10))";
const UNKEYED: &str = "CREATE TABLE t (a INT, b VARCHAR(10))";
const INDEXED: &str = "CREATE TABLE t (a INT, b VARCHAR(10), KEY (a))";
const UNIQUE: &str = "CREATE TABLE t (a INT, b VARCHAR(10), UNIQUE (b))";

#[test]
fn rows_are_inserted_found_and_deleted() {
    for definition in [KEYED, UNKEYED, INDEXED, UNIQUE] {
        let mut stream = Stream::new(definition, &[INT, TEXT]);
        let rows = [pair(1, "x"), pair(2, "y"), pair(3, "z")];
        stream.change(Change::Write, &[&rows[0], &rows[1], &rows[2]]).unwrap();
        stream
            .change(Change::Update, &[&rows[2], &pair(4, "new"), &rows[0], &pair(1, "w")])
            .unwrap();
        stream.change(Change::Delete, &[&rows[1]]).unwrap();
        assert_eq!(stream.rows("SELECT a, b FROM t ORDER BY a"), ["1|w", "4|new"], "{definition}");
    }
}

#[test]
fn a_row_may_be_changed_twice_by_an_event() {
    for definition in [KEYED, UNKEYED, INDEXED, UNIQUE] {
        let mut stream = Stream::new(definition, &[INT, TEXT]);
        stream.change(Change::Write, &[&pair(1, "x"), &pair(2, "y")]).unwrap();
        // The first row takes the second one's place, which has moved on, and then moves too.
        let images =
            [(2, "y"), (3, "y2"), (1, "x"), (2, "y"), (2, "y"), (4, "end"), (3, "y2"), (5, "u")];
        let images = images.map(|(id, text)| pair(id, text));
        let images: Vec<&[Value<'_>]> = images.iter().map(|image| &image[..]).collect();
        stream.change(Change::Update, &images).unwrap();
        assert_eq!(stream.rows("SELECT a, b FROM t ORDER BY a"), ["4|end", "5|u"], "{definition}");
    }
}

#[test]
fn equal_rows_are_taken_one_by_one() {
    for definition in [UNKEYED, INDEXED] {
        let mut stream = Stream::new(definition, &[INT, TEXT]);
        let (row, none) = (pair(1, "x"), [Value::Null, Value::Null]);
        stream.change(Change::Write, &[&row, &row, &row, &none, &none]).unwrap();
        stream.change(Change::Delete, &[&row, &row, &none]).unwrap();
        assert_eq!(stream.rows("SELECT a, b FROM t ORDER BY a"), ["NULL|NULL", "1|x"]);
        let failure = stream.change(Change::Delete, &[&row, &row]).unwrap_err();
        assert!(failure.error.is(&ER_KEY_NOT_FOUND));
        // The first of them is there again.
        assert_eq!(stream.rows("SELECT count(*) FROM t"), ["2"]);
    }
}

#[test]
fn images_may_have_some_columns() {
    let definition = "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10) DEFAULT 'd', c INT)";
    let mut stream = Stream::new(definition, &[INT, TEXT, INT]);
    let key = |id: i64| [Value::Int(id)];
    let put = |shape: &Shape, image: &[Value<'_>], out: &mut Vec<u8>| {
        assert!(shape.put(image, out));
    };
    let (ids, last) = (stream.shape(&[1]), stream.shape(&[4]));
    let (mut written, mut updated) = (Vec::new(), Vec::new());
    [1, 2].iter().for_each(|id| put(&ids, &key(*id), &mut written));
    stream.apply(Change::Write, (&[1], &[]), &written).unwrap();
    put(&ids, &key(2), &mut updated);
    put(&last, &key(9), &mut updated);
    stream.apply(Change::Update, (&[1], &[4]), &updated).unwrap();
    assert_eq!(stream.rows("SELECT * FROM t ORDER BY a"), ["1|d|NULL", "2|d|9"]);
    // A column that is not here is passed over, one that only is here has its default.
    let mut wide = Stream::new("CREATE TABLE t (a INT, b VARCHAR(10))", &[INT, TEXT, TEXT]);
    let text = Value::Bytes(b"x");
    wide.change(Change::Write, &[&[Value::Int(1), text, text]]).unwrap();
    assert_eq!(wide.rows("SELECT * FROM t"), ["1|x"]);
    let mut narrow = Stream::new(definition, &[INT]);
    narrow.change(Change::Write, &[&[Value::Int(1)]]).unwrap();
    assert_eq!(narrow.rows("SELECT * FROM t"), ["1|d|NULL"]);
}

#[test]
fn failures_name_table_and_cause_and_leave_nothing() {
    let mut stream = Stream::new(KEYED, &[INT, TEXT]);
    stream.change(Change::Write, &[&pair(1, "x")]).unwrap();
    let table = Some(("test".to_owned(), "t".to_owned()));
    let failure = stream.change(Change::Write, &[&pair(2, "y"), &pair(1, "z")]).unwrap_err();
    assert!(failure.error.is(&ER_DUP_ENTRY));
    assert_eq!((failure.handler, &failure.table), (Some("HA_ERR_FOUND_DUPP_KEY"), &table));
    let failure = stream.change(Change::Delete, &[&pair(1, "x"), &pair(3, "x")]).unwrap_err();
    assert!(failure.error.is(&ER_KEY_NOT_FOUND));
    assert_eq!((failure.handler, &failure.table), (Some("HA_ERR_KEY_NOT_FOUND"), &table));
    assert_eq!(stream.rows("SELECT a, b FROM t"), ["1|x"]);
    stream.table = "missing";
    let failure = stream.change(Change::Write, &[&pair(2, "y")]).unwrap_err();
    assert!(failure.error.is(&ER_NO_SUCH_TABLE));
    let mut unkeyed = Stream::new(UNKEYED, &[INT, TEXT]);
    let failure = unkeyed.change(Change::Delete, &[&pair(1, "x")]).unwrap_err();
    assert_eq!(failure.handler, Some("HA_ERR_END_OF_FILE"));
}

#[test]
fn an_idempotent_stream_goes_on() {
    let mut stream =
        Stream::new("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10), UNIQUE (b))", &[INT, TEXT]);
    stream.rules.is_idempotent = true;
    stream.change(Change::Write, &[&pair(1, "x"), &pair(2, "y")]).unwrap();
    // A row in the place of two others.
    stream.change(Change::Write, &[&pair(1, "y"), &pair(3, "z")]).unwrap();
    stream.change(Change::Delete, &[&pair(9, "x"), &pair(3, "z"), &pair(8, "x")]).unwrap();
    stream
        .change(Change::Update, &[&pair(7, "x"), &pair(6, "x"), &pair(1, "y"), &pair(5, "y")])
        .unwrap();
    assert_eq!(stream.rows("SELECT a, b FROM t"), ["5|y"]);
}

#[test]
fn types_differ_only_as_allowed() {
    let apply =
        |kind, value: Value<'_>, conversions: Conversions| -> Result<Vec<String>, Failure> {
            let mut stream = Stream::new("CREATE TABLE t (a SMALLINT)", &[kind]);
            stream.rules.conversions = conversions;
            stream.change(Change::Write, &[&[value]])?;
            Ok(stream.rows("SELECT a FROM t"))
        };
    let none = Conversions::default();
    let lossy = Conversions { is_lossy: true, ..none };
    let wider = Conversions { is_non_lossy: true, ..none };
    let refused = |result: Result<Vec<String>, Failure>| result.unwrap_err().error;
    let error = refused(apply(INT, Value::Int(5), none));
    assert!(error.is(&ER_SLAVE_CONVERSION_FAILED));
    assert_eq!(
        error.message(),
        "Column 0 of table 'test.t' cannot be converted from type 'int' to type 'smallint(6)'"
    );
    assert!(apply(INT, Value::Int(5), wider).is_err());
    assert_eq!(apply(INT, Value::Int(-70_000), lossy).unwrap(), ["-32768"]);
    assert!(apply(ColumnKind::Tiny, Value::Int(5), lossy).is_err());
    assert_eq!(apply(ColumnKind::Tiny, Value::Int(-5), wider).unwrap(), ["-5"]);
    assert!(apply(TEXT, Value::Bytes(b"5"), Conversions { is_lossy: true, ..wider }).is_err());
}

#[test]
fn triggers_are_refused_and_events_of_other_tables_passed_over() {
    let mut stream = Stream::new(KEYED, &[INT, TEXT]);
    stream.rules.run_triggers = RunTriggers::Yes;
    assert!(stream.change(Change::Write, &[&pair(1, "x")]).is_err());
    let rows = Rows {
        change: Change::Write,
        version: RowsVersion::V1,
        table_id: 99,
        flags: row_flags::STMT_END,
        extra: &[],
        columns: 1,
        present: &[1],
        present_after: &[],
        images: b"garbage",
    };
    let (instance, session) = stream.world.parts("a");
    stream.applier.rows(instance, session, &Rules::default(), &rows).unwrap();
}

/// Columns of every type that has rules of its own.
const EVERY: &str = "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(10), c DECIMAL(12,4), d DATETIME(3), \
     e TIME(1), f ENUM('x','y'), g SET('x','y'), h BIT(3))";

proptest! {
    #[test]
    fn any_images_are_rows_or_an_error(
        images in prop::collection::vec(any::<u8>(), 0..400),
        present in 1u8..,
        change in prop::sample::select(vec![Change::Write, Change::Update, Change::Delete]),
        is_idempotent in any::<bool>(),
    ) {
        let kinds = [
            INT, TEXT, ColumnKind::Decimal(12, 4), ColumnKind::DateTime(3), ColumnKind::Time(1),
            ColumnKind::Enum(1), ColumnKind::Set(1), ColumnKind::Bit(3),
        ];
        let mut stream = Stream::new(EVERY, &kinds);
        stream.rules.is_idempotent = is_idempotent;
        let after = if change == Change::Update { &[present][..] } else { &[] };
        if let Err(failure) = stream.apply(change, (&[present], after), &images) {
            let known = [&ER_DUP_ENTRY, &ER_KEY_NOT_FOUND, &ER_SLAVE_CORRUPT_EVENT];
            prop_assert!(known.iter().any(|code| failure.error.is(code)), "{}", failure.error);
            prop_assert!(stream.rows("SELECT * FROM t").is_empty());
        }
        let read: SqlResult<Vec<String>> = stream.world.run("b", "SELECT * FROM t");
        prop_assert!(read.is_ok());
    }
}
