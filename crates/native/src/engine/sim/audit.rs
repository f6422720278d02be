//! Checks of a recovered database: its content is that of one state, indexes and rows agree, every
//! page is used once and allocated, no extra file exists, counters do not decrease.

use super::super::contract::NativeEngine;
use super::super::rider_model::RiderLog;
use super::model::{Db, Model, Overlay, TableState, key};
use crate::btree::{Seek, Tree};
use crate::disk::{Disk, sim::SimDisk};
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::page::{HEADER_LEN, get_u32};
use crate::table::{NativeTable, own_trx, value};
use selkie_engine::{
    ColumnSource, ColumnSpec, Engine, EngineResult, EngineTrx, Isolation, NoWait, RowSet, Scan,
    Table, WantedWords,
};
use selkie_types::ByteRows;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows of a table as `trx` sees them, without their keys.
pub(super) fn read(table: &dyn Table, trx: &dyn EngineTrx) -> EngineResult<BTreeSet<Vec<u8>>> {
    let mut out = RowSet::default();
    let mut cursor = table.scan(trx, &NoWait, &Scan::default())?;
    while cursor.next_batch(&mut out, 50)? {}
    let rows: BTreeSet<Vec<u8>> = out.rows.iter().map(<[u8]>::to_vec).collect();
    assert_eq!(rows.len(), out.rows.len(), "a scan gave a row twice");
    Ok(rows)
}

/// Checks that the column groups of a table give the rows that `trx` sees, and that the rows of
/// touched keys are among them.
pub(super) fn same_by_columns(table: &NativeTable, trx: &dyn EngineTrx) -> EngineResult<()> {
    let wrong = table.check_columns(own_trx(trx)?, &NoWait)?;
    assert!(wrong.is_empty(), "{wrong:?}");
    let expected = read(table, trx)?;
    let reader = table.open_columns(trx, &NoWait, ColumnSpec::default())?;
    let mut count = 0;
    for part in 0..reader.parts() {
        let (mut set, mut at) = (RowSet::default(), Vec::new());
        let Some(view) = reader.group(part) else {
            let mut cursor = reader.rows(part)?;
            while cursor.next_batch(&mut set, 50)? {}
            count += set.count();
            continue;
        };
        let middle = view.rows / 2;
        reader.patches(&view, (0, middle), &mut set, &mut at)?;
        if middle < view.rows {
            reader.patches(&view, (middle, view.rows), &mut set, &mut at)?;
        }
        assert!(at.is_sorted() && set.rows.iter().all(|row| expected.contains(row)));
        count += set.count() + view.rows as usize - view.touched.dead.count_ones();
    }
    assert_eq!(count, expected.len(), "rows of table {} by columns", table.def.id);
    Ok(())
}

/// Whether `found` are the rows of a table with the changes of `overlay`.
pub(super) fn same_rows(found: &BTreeSet<Vec<u8>>, table: &TableState, overlay: &Overlay) -> bool {
    let own = overlay.iter().filter(|((id, _), _)| *id == table.def.id);
    let own: Vec<_> = own.filter_map(|(_, row)| row.as_ref()).collect();
    let kept = |id: &i64| !overlay.contains_key(&(table.def.id, *id));
    let others: Vec<_> = table.rows.iter().filter(|(id, _)| kept(id)).map(|(_, r)| r).collect();
    found.len() == own.len() + others.len()
        && own.iter().chain(&others).all(|row| found.contains(&row.bytes[..]))
}

/// Checks that a search finds the rows of a snapshot, except those that the reader has changed.
pub(super) fn search(
    table: &dyn Table,
    trx: &dyn EngineTrx,
    state: &TableState,
    overlay: &Overlay,
) -> EngineResult<()> {
    let mut documents = BTreeSet::new();
    let mut search = table.search_text(trx, &NoWait, 0)?;
    search.lists(WantedWords::Begun(&[]), &mut |_, list| {
        documents.extend(list.iter().map(|(d, _)| *d))
    })?;
    let documents: Vec<u64> = documents.into_iter().collect();
    let mut keys = ByteRows::default();
    search.keys(&documents, &mut keys)?;
    let found: BTreeSet<Vec<u8>> = keys.iter().map(<[u8]>::to_vec).collect();
    assert_eq!(found.len(), documents.len(), "a row is found twice");
    let key = |id: &i64| key(&state.def, *id);
    let all: BTreeSet<Vec<u8>> = state.rows.keys().map(key).collect();
    assert!(found.is_subset(&all), "a search finds a row that its snapshot does not have");
    let unchanged = |id: &&i64| !overlay.contains_key(&(state.def.id, **id));
    let missed = state.rows.keys().filter(unchanged).find(|id| !found.contains(&key(id)));
    assert!(missed.is_none(), "a search in {} does not find {missed:?}", state.def.id);
    Ok(())
}

/// Content of a recovered engine, read once.
pub(super) struct Found {
    tables: BTreeSet<selkie_engine::TableId>,
    prepared: BTreeSet<u32>,
    riders: Vec<Vec<u8>>,
}

impl Found {
    pub(super) fn new(
        engine: &NativeEngine,
        log: &RiderLog,
        model: &Model,
        prepared: BTreeSet<u32>,
    ) -> Found {
        let tables = model.all_tables().into_iter().filter(|id| engine.table_exists(*id)).collect();
        Found { tables, prepared, riders: log.contents() }
    }

    /// Describes a difference from the state `db`; `None` if there is none.
    pub(super) fn difference(
        &self,
        engine: &NativeEngine,
        model: &Model,
        db: &Db,
    ) -> EngineResult<Option<String>> {
        if self.riders != model.riders[..db.riders] {
            return Ok(Some(format!("{} riders for {}", self.riders.len(), db.riders)));
        }
        if !self.tables.iter().eq(db.tables.keys()) {
            return Ok(Some(format!("tables {:?} for {:?}", self.tables, db.tables.keys())));
        }
        if !self.prepared.iter().eq(db.prepared.keys()) {
            return Ok(Some(format!("branches {:?} for {:?}", self.prepared, db.prepared.keys())));
        }
        for table in db.tables.values() {
            // An index that is missing, or that should be gone, is a difference too.
            let (id, has) = (table.def.id, index_files(engine, table));
            let indexes = table.def.indexes.len() - usize::from(table.def.primary().is_some());
            if has != indexes + 3 * table.def.texts.len() {
                return Ok(Some(format!("{has} indexes of table {id}")));
            }
            let trx = engine.begin(Isolation::RepeatableRead, true)?;
            let rows = read(&*engine.open_table(&table.def)?, &*trx)?;
            if !same_rows(&rows, table, &Overlay::new()) {
                let (there, wanted) = (rows.len(), table.rows.len());
                return Ok(Some(format!("{there} rows of table {id} for {wanted}")));
            }
        }
        Ok(None)
    }
}

fn index_files(engine: &NativeEngine, table: &TableState) -> usize {
    let tables = engine.shared().tables.read();
    tables.get(&table.def.id).map_or(0, |files| files.indexes.read().len())
}

/// Checks the structure of every table, its indexes against its rows, and its pages.
pub(super) fn deep(engine: &NativeEngine, db: &Db) -> EngineResult<()> {
    for table in db.tables.values() {
        let trx = engine.begin(Isolation::RepeatableRead, true)?;
        let wrong = engine.open_table(&table.def)?.check(&*trx, &NoWait)?;
        assert!(wrong.is_empty(), "{wrong:?}");
        let Some(files) = engine.shared().tables.read().get(&table.def.id).cloned() else {
            panic!("table {} has gone", table.def.id)
        };
        let indexes: Vec<Arc<Tree>> = files.indexes.read().values().cloned().collect();
        for tree in indexes.iter().chain([&files.clustered]) {
            pages(engine, tree)?;
        }
    }
    Ok(())
}

/// Checks that every page of long values belongs to one entry and is allocated, and that all are
/// included in the file's count of used pages.
fn pages(engine: &NativeEngine, tree: &Tree) -> EngineResult<()> {
    let storage = &engine.shared().storage;
    let (mut start, mut chains) = (Vec::new(), Vec::new());
    loop {
        let next = tree.read(Seek::At(&start), |node| {
            chains.extend((0..node.count()).filter_map(|at| value::chain_of(node.value(at))));
            node.upper().map(<[u8]>::to_vec)
        })?;
        let Some(next) = next else { break };
        start = next;
    }
    let mut seen = BTreeSet::new();
    for (first, len) in chains {
        let mut page = first;
        for _ in 0..(len as usize).div_ceil(PAGE_SIZE - HEADER_LEN) {
            let id = PageId { file: tree.file, page };
            assert!(seen.insert(page), "{id} belongs to two long values");
            assert!(storage.space().is_allocated(storage, id)?, "{id} is used but free");
            page = crate::ids::PageNo(get_u32(&storage.pool().shared(id)?[..], 44));
        }
    }
    let used = storage.space().usage(tree.file)?.used as usize;
    let reached = seen.len() + tree.check()?.pages as usize;
    assert!(used >= reached, "{} pages are used, {reached} are reached", used);
    Ok(())
}

/// Checks that there are only the files of the state's tables.
pub(super) fn files(engine: &NativeEngine, disk: &SimDisk, db: &Db) {
    let texts = |t: &TableState| 3 * t.def.texts.len();
    let indexes = |t: &TableState| t.def.indexes.len() - usize::from(t.def.primary().is_some());
    let known = |t: &TableState| 1 + indexes(t) + texts(t);
    let expected: usize = db.tables.values().map(known).sum();
    let names = disk.list().unwrap_or_default();
    let there: Vec<_> = names.iter().filter(|name| name.starts_with("data.")).collect();
    let pending: Vec<FileId> = engine.shared().storage.space().files();
    assert_eq!(there.len(), expected, "files left over: {there:?}, open {pending:?}");
}

/// Checks that stored AUTO_INCREMENT values are not given again.
pub(super) fn counters(engine: &NativeEngine, db: &Db, model: &Model) -> EngineResult<()> {
    for table in db.tables.values().filter(|table| table.def.auto_increment.is_some()) {
        let next = engine.open_table(&table.def)?.statistics().auto_increment.unwrap_or(0);
        let used = model.auto_acked.get(&table.def.id).copied().unwrap_or(0);
        assert!(next > used, "value {used} was stored and {next} comes next");
    }
    Ok(())
}
