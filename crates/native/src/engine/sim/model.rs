//! The expected content of the engine: the state after every commit, preparation and outcome of a
//! preparation, in order.

use selkie_engine::testing::{items, letters};
use selkie_engine::{
    IndexCodec, IndexDef, IndexId, IndexKind, IndexPart, TableDef, TableId, TextDef, TextDialect,
    TextRules,
};
use selkie_types::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A row: its stored bytes, and its value in the unique index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub(super) bytes: Arc<[u8]>,
    pub(super) code: Option<i64>,
}

/// A table and its committed rows.
#[derive(Clone)]
pub(super) struct TableState {
    pub(super) def: Arc<TableDef>,
    pub(super) rows: BTreeMap<i64, Row>,
}

/// Changes of a transaction: the new row of each key, or none.
pub(super) type Overlay = BTreeMap<(TableId, i64), Option<Row>>;

/// One state of the database.
#[derive(Clone, Default)]
pub(super) struct Db {
    pub(super) tables: BTreeMap<TableId, TableState>,
    /// Prepared transactions by number.
    pub(super) prepared: BTreeMap<u32, Arc<Overlay>>,
    /// Number of riders so far.
    pub(super) riders: usize,
}

impl Db {
    pub(super) fn apply(&mut self, overlay: &Overlay) {
        for ((table, id), row) in overlay {
            let Some(table) = self.tables.get_mut(table) else { continue };
            match row {
                Some(row) => drop(table.rows.insert(*id, row.clone())),
                None => drop(table.rows.remove(id)),
            }
        }
    }

    /// The row under a key as the owner of `overlay` sees it.
    pub(super) fn row<'a>(
        &'a self,
        overlay: &'a Overlay,
        table: TableId,
        id: i64,
    ) -> Option<&'a Row> {
        match overlay.get(&(table, id)) {
            Some(row) => row.as_ref(),
            None => self.tables.get(&table)?.rows.get(&id),
        }
    }

    /// The id of the row with `code`, as the owner of `overlay` sees it.
    pub(super) fn with_code(&self, overlay: &Overlay, table: TableId, code: i64) -> Option<i64> {
        let own = overlay.iter().filter(|((t, _), _)| *t == table);
        let own = own.filter_map(|((_, id), row)| row.as_ref().map(|row| (*id, row)));
        let rows = self.tables.get(&table).map(|t| &t.rows);
        let others = rows.into_iter().flatten().map(|(id, row)| (*id, row));
        let others = others.filter(|(id, _)| !overlay.contains_key(&(table, *id)));
        own.chain(others).find(|(_, row)| row.code == Some(code)).map(|(id, _)| id)
    }
}

/// All states so far.
pub(super) struct Model {
    /// The states; the first is the empty database.
    pub(super) states: Vec<Arc<Db>>,
    /// Payloads of the riders of all states, in order.
    pub(super) riders: Vec<Vec<u8>>,
    /// Number of the last state that is known to be durable.
    pub(super) acked: usize,
    /// Highest AUTO_INCREMENT value whose insertion was logged, and the highest known to be
    /// durable.
    pub(super) auto: BTreeMap<TableId, u64>,
    pub(super) auto_acked: BTreeMap<TableId, u64>,
    /// Next ids; an id is never used twice.
    pub(super) next_table: u64,
    pub(super) next_branch: u32,
}

impl Model {
    pub(super) fn new() -> Model {
        Model {
            states: vec![Arc::default()],
            riders: Vec::new(),
            acked: 0,
            auto: BTreeMap::new(),
            auto_acked: BTreeMap::new(),
            next_table: 1,
            next_branch: 1,
        }
    }

    pub(super) fn now(&self) -> &Arc<Db> {
        &self.states[self.states.len() - 1]
    }

    /// Adds a state that is about to become durable, before the engine can write it. `rider` comes
    /// with it.
    pub(super) fn push(&mut self, mut state: Db, rider: Option<Vec<u8>>) {
        self.riders.extend(rider);
        state.riders = self.riders.len();
        self.states.push(Arc::new(state));
    }

    /// Takes the last state back: the engine has refused it.
    pub(super) fn pop(&mut self) {
        self.states.pop();
        self.riders.truncate(self.now().riders);
    }

    /// Notes that all states so far are durable.
    pub(super) fn acknowledge(&mut self) {
        self.acked = self.states.len() - 1;
        self.auto_acked = self.auto.clone();
    }

    /// Continues from state `n`, which recovery found.
    pub(super) fn cut(&mut self, n: usize) {
        self.states.truncate(n + 1);
        self.riders.truncate(self.now().riders);
        self.acked = n;
        self.auto = self.auto_acked.clone();
    }

    /// Ids of all tables that ever existed.
    pub(super) fn all_tables(&self) -> BTreeSet<TableId> {
        (1..self.next_table).map(TableId).collect()
    }
}

/// The index that is created and dropped.
pub(super) const BY_NAME: IndexId = IndexId(9);

/// The full-text index that every table has, and the one that is created and dropped.
const TEXT: IndexId = IndexId(20);
pub(super) const MORE_TEXT: IndexId = IndexId(21);

/// The definition of a table of one of two kinds.
pub(super) fn new_def(id: u64, keyed: bool) -> Arc<TableDef> {
    let like = if keyed { items(id) } else { letters(id) };
    let mut def = TableDef::clone(&like);
    def.texts = vec![text(TEXT, if keyed { 3 } else { 1 })];
    Arc::new(def)
}

fn text(id: IndexId, column: usize) -> TextDef {
    let parts = vec![IndexPart { column, prefix: None, descending: false }];
    let kind = IndexKind::Fulltext;
    let index = IndexDef {
        id,
        name: format!("text {}", id.0).into(),
        kind,
        parts,
        hashed: false,
        without_overlaps: false,
    };
    let dialect = if id == TEXT { TextDialect::Strict } else { TextDialect::Lenient };
    TextDef { index, rules: TextRules { dialect, least: 2, ..TextRules::default() } }
}

/// The same definition with or without the second full-text index.
pub(super) fn toggled_text(def: &TableDef) -> Arc<TableDef> {
    let mut def = def.clone();
    match def.texts.pop_if(|text| text.index.id == MORE_TEXT) {
        Some(_) => {}
        None => def.texts.push(text(MORE_TEXT, def.texts[0].index.parts[0].column)),
    }
    Arc::new(def)
}

pub(super) fn is_keyed(def: &TableDef) -> bool {
    def.primary().is_some()
}

/// The same definition with or without the index.
pub(super) fn toggled(def: &TableDef) -> Arc<TableDef> {
    let mut def = def.clone();
    match def.index_position(BY_NAME) {
        Some(at) => drop(def.indexes.remove(at)),
        None => {
            let mut index = def.indexes[2].clone();
            (index.id, index.name) = (BY_NAME, "by_name".into());
            index.parts = vec![IndexPart { column: 3, prefix: Some(20), descending: false }];
            def.indexes.push(index);
        }
    }
    Arc::new(def)
}

/// Key in the first index: the clustered one of `items`, that of the name for `letters`.
pub(super) fn key(def: &TableDef, id: i64) -> Vec<u8> {
    let value = if is_keyed(def) { Value::Int(id) } else { Value::bytes(letter_name(id)) };
    let mut key = Vec::new();
    IndexCodec::new(def, &def.indexes[0]).key_of_values(&[value], &mut key);
    key
}

/// The name that represents an id in a table without a primary key.
pub(super) fn letter_name(id: i64) -> String {
    format!("letter {id:05}")
}
