//! Interleaved sessions: each step lets one of them run a statement, end its transaction, or change
//! a definition.

use super::super::contract::NativeEngine;
use super::super::rider_model::{RiderLog, TestRider};
use super::audit::{read, same_by_columns, same_rows, search};
use super::grow::Growth;
use super::model::{
    BY_NAME, Db, MORE_TEXT, Model, Overlay, TableState, is_keyed, new_def, toggled, toggled_text,
};
use super::work::{Statement, new_row};
use crate::disk::sim::Rng;
use crate::sync::atomic::Ordering;
use crate::table::NativeTable;
use crate::trx::undo_losers_step;
use selkie_engine::testing::rows_of;
use selkie_engine::{
    ColumnSource, Engine, EngineError, EngineResult, EngineTrx, GroupShape, Isolation, Lsn, NoWait,
    Rider, TableDef, TableId, Xid,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SESSIONS: usize = 3;
const TABLES: usize = 3;

/// An open transaction.
pub(super) struct Open {
    pub(super) trx: Box<dyn EngineTrx>,
    pub(super) overlay: Overlay,
    /// The state its snapshot must show.
    pub(super) snapshot: Option<Arc<Db>>,
    /// Tables whose definition must not change during the transaction.
    pub(super) uses: BTreeSet<TableId>,
    /// Its branch number, once prepared.
    pub(super) branch: Option<u32>,
    /// Lives as long as the transaction.
    pub(super) life: Arc<()>,
}

/// The sessions, their engine and its model.
pub(super) struct Sessions<'a> {
    pub(super) engine: &'a NativeEngine,
    pub(super) model: &'a mut Model,
    pub(super) log: &'a RiderLog,
    pub(super) open: BTreeMap<usize, Open>,
    pub(super) growth: Option<Growth>,
    pub(super) rng: Rng,
}

fn xid(branch: u32) -> Xid {
    Xid { gtrid: branch.to_le_bytes().as_slice().into(), bqual: b"".as_slice().into(), format: 1 }
}

/// The branch number in a name.
pub(super) fn branch_of(xid: &Xid) -> u32 {
    xid.gtrid.first_chunk().map_or(0, |b| u32::from_le_bytes(*b))
}

impl<'a> Sessions<'a> {
    /// Does one step. `DiskFull` and `Refused` are allowed answers; other errors end the life.
    pub(super) fn step(&mut self) -> EngineResult<()> {
        match self.any_step() {
            Err(EngineError::DiskFull | EngineError::Refused(_)) => Ok(()),
            other => other,
        }
    }

    fn any_step(&mut self) -> EngineResult<()> {
        if self.rng.chance(2) {
            return self.engine.checkpoint(self.rng.chance(20));
        }
        if self.rng.chance(3) {
            return self.append();
        }
        if self.rng.chance(6) {
            return self.columns();
        }
        if self.rng.chance(12) {
            return self.grow();
        }
        if self.rng.chance(10) {
            undo_losers_step(self.engine.shared())?;
        }
        let who = self.rng.below(SESSIONS as u64) as usize;
        let prepared = self.open.get(&who).map(|open| open.branch.is_some());
        match (prepared, self.rng.below(100)) {
            (None, 0..18) => self.definition(),
            (None, _) => self.begin(who),
            (Some(true), 0..70) => Ok(()),
            (Some(true), 70..88) => self.commit(who),
            (Some(_), 0..70) => self.statement(who),
            (Some(false), 70..76) => self.look(who),
            (Some(false), 76..80) => self.prepare(who),
            (Some(false), 80..93) => self.commit(who),
            (Some(_), _) => self.rollback(who),
        }
    }

    /// Builds column groups of a table, or drops one, and compares all groups with the rows that
    /// each open transaction sees.
    fn columns(&mut self) -> EngineResult<()> {
        let Some(id) = self.pick_table() else { return Ok(()) };
        let def = self.model.now().tables[&id].def.clone();
        let shared = self.engine.shared();
        let Ok(files) = shared.table_files(id) else { return Ok(()) };
        let table = NativeTable::new(shared.clone(), files.clone(), def)?;
        let shape = GroupShape { rows: 1 + self.rng.below(20) as u32, least: 1 };
        let at = self.rng.below(SESSIONS as u64 + 1) as usize;
        let memory = &shared.counters.columns;
        match self.rng.below(5) {
            4 => {
                // Some groups have all columns, some few; some find no room.
                let limit = [0, 1, 2000, 20_000][self.rng.below(4) as usize];
                memory.limit.store(limit, Ordering::Relaxed);
                files.columns.shed_unread(|_| true);
            }
            0 => {
                let directory = files.columns.directory();
                let groups: Vec<_> =
                    directory.regions().iter().filter_map(|r| r.group.as_ref()).collect();
                if let Some(group) = groups.get(self.rng.below(groups.len().max(1) as u64) as usize)
                {
                    files.columns.remove(group);
                }
            }
            1 => {
                let open = self
                    .open
                    .get(&at)
                    .filter(|open| open.uses.contains(&id) && open.branch.is_none());
                let trx = open.map(|open| &*open.trx);
                table.build_columns(trx, &NoWait, shape)?;
            }
            _ => drop(table.build_columns(None, &NoWait, shape)?),
        }
        let readers =
            self.open.values().filter(|open| open.uses.contains(&id) && open.branch.is_none());
        for open in readers {
            same_by_columns(&table, &*open.trx)?;
        }
        Ok(())
    }

    fn begin(&mut self, who: usize) -> EngineResult<()> {
        let levels = [Isolation::RepeatableRead, Isolation::ReadCommitted];
        let isolation = levels[self.rng.below(2) as usize];
        let trx = self.engine.begin(isolation, false)?;
        trx.statement_begin(isolation, false)?;
        if self.rng.chance(30) {
            trx.take_snapshot()?;
            assert!(trx.end_reading(), "a transaction that only read has nothing to end");
            trx.restart(false);
            trx.statement_begin(isolation, false)?;
        }
        let (mut snapshot, mut uses) = (None, BTreeSet::new());
        if isolation == Isolation::RepeatableRead && self.rng.chance(40) {
            trx.take_snapshot()?;
            snapshot = Some(self.model.now().clone());
            uses.extend(self.pick_table());
        }
        let overlay = Overlay::new();
        self.open
            .insert(who, Open { trx, overlay, snapshot, uses, branch: None, life: Arc::default() });
        Ok(())
    }

    fn pick_table(&mut self) -> Option<TableId> {
        let tables = &self.model.now().tables;
        let at = self.rng.below(tables.len().max(1) as u64) as usize;
        tables.keys().nth(at).copied()
    }

    /// Runs a few statements, one of which may be undone.
    fn statement(&mut self, who: usize) -> EngineResult<()> {
        let Some(id) = self.pick_table() else { return Ok(()) };
        let (db, contended) = (self.model.now().clone(), self.contended());
        // Without a unique key two sessions could insert equal rows, which the model cannot
        // distinguish.
        let others = |(n, open): (&usize, &Open)| *n != who && open.uses.contains(&id);
        if !is_keyed(&db.tables[&id].def) && self.open.iter().any(others) {
            return Ok(());
        }
        let auto = self.model.auto.entry(id).or_default();
        let Some(open) = self.open.get_mut(&who) else { return Ok(()) };
        open.uses.insert(id);
        let (savepoint, before) = (open.trx.savepoint()?, open.overlay.clone());
        for _ in 0..1 + self.rng.below(3) {
            let (def, table) = Statement::open(self.engine, &db.tables[&id])?;
            let (trx, overlay, rng) = (&*open.trx, &mut open.overlay, &mut self.rng);
            let db = &*db;
            Statement { db, def, table, trx, overlay, auto, contended, rng }.run()?;
        }
        if self.rng.chance(20) {
            open.trx.rollback_to(savepoint)?;
            open.overlay = before;
        }
        Ok(())
    }

    /// Whether a lock may block a session.
    fn contended(&self) -> bool {
        self.open.len() > 1 || self.engine.shared().losers.len() > 0
    }

    /// Checks that a consistent read sees its snapshot and its own changes, and nothing else.
    fn look(&mut self, who: usize) -> EngineResult<()> {
        let Some(open) = self.open.get(&who) else { return Ok(()) };
        let Some(db) = &open.snapshot else { return Ok(()) };
        // A row without a primary key that was inserted again is another row, next to the one in
        // the snapshot.
        let now = &self.model.now().tables;
        let told = |table: &&TableState| {
            let id = table.def.id;
            let same = now.get(&id).is_some_and(|now| Arc::ptr_eq(&now.def, &table.def));
            let changed = open.overlay.keys().any(|(changed, _)| *changed == id);
            open.uses.contains(&id) && same && (is_keyed(&table.def) || !changed)
        };
        for table in db.tables.values().filter(told) {
            let handle = self.engine.open_table(&table.def)?;
            if is_keyed(&table.def) {
                search(&*handle, &*open.trx, table, &open.overlay)?;
            }
            let rows = read(&*handle, &*open.trx)?;
            let shared = self.engine.shared();
            let files = shared.table_files(table.def.id)?;
            same_by_columns(
                &NativeTable::new(shared.clone(), files, table.def.clone())?,
                &*open.trx,
            )?;
            assert!(
                same_rows(&rows, table, &open.overlay),
                "a snapshot of {} changed",
                table.def.id
            );
        }
        Ok(())
    }

    /// After a commit at `lsn`: sometimes waits until it is durable.
    pub(super) fn settle(&mut self, lsn: Option<Lsn>) -> EngineResult<()> {
        if let Some(lsn) = lsn.filter(|_| self.rng.chance(60)) {
            self.engine.wait_durable(lsn)?;
            self.model.acknowledge();
            if self.rng.chance(50) {
                self.log.write_upto(lsn);
            }
        }
        Ok(())
    }

    /// Adds the state `next`. Returns its rider, which it has with a probability of `percent`, and
    /// which may refuse.
    fn announce(&mut self, next: Db, percent: u64) -> Option<TestRider<'a>> {
        if !self.rng.chance(percent) {
            self.model.push(next, None);
            return None;
        }
        let longest = if self.rng.chance(5) { self.engine.most_rider_bytes() - 20 } else { 300 };
        let mut payload = (self.model.riders.len() as u64).to_le_bytes().to_vec();
        payload.resize(8 + self.rng.below(longest as u64) as usize, payload[0]);
        let refuses = self.rng.chance(4);
        let rider = if refuses { self.log.refusing() } else { self.log.rider(&payload) };
        self.model.push(next, Some(payload));
        Some(rider)
    }

    fn commit(&mut self, who: usize) -> EngineResult<()> {
        let Some(open) = self.open.remove(&who) else { return Ok(()) };
        let changed = open.branch.is_some() || !open.overlay.is_empty();
        if self.rng.chance(50) && open.trx.end_reading() {
            assert!(!changed, "a transaction with changes ended as one that only read");
            return Ok(());
        }
        let mut next = Db::clone(self.model.now());
        open.branch.iter().for_each(|branch| drop(next.prepared.remove(branch)));
        next.apply(&open.overlay);
        let Open { trx, overlay, uses, branch, life, .. } = open;
        let committed = self.commit_as(trx, next);
        if branch.is_some() && committed.is_err() {
            let mut again = self.engine.take_prepared()?;
            assert_eq!(again.len(), 1, "a refused branch stays prepared");
            let trx = again.remove(0).trx;
            let open = Open { trx, overlay, snapshot: None, uses, branch, life };
            self.open.insert(who, open);
        }
        self.settle(committed?)
    }

    /// Commits `trx`, which leads to the state `next`, perhaps with a rider.
    pub(super) fn commit_as(
        &mut self,
        trx: Box<dyn EngineTrx>,
        next: Db,
    ) -> EngineResult<Option<Lsn>> {
        let mut rider = self.announce(next, 60);
        let committed = trx.commit(rider.as_mut().map(|rider| rider as &mut dyn Rider));
        if committed.is_err() {
            self.model.pop();
        }
        committed
    }

    /// Brings a rider alone.
    fn append(&mut self) -> EngineResult<()> {
        let next = Db::clone(self.model.now());
        let Some(mut rider) = self.announce(next, 100) else { return Ok(()) };
        let appended = self.engine.append(&mut rider);
        if appended.is_err() {
            self.model.pop();
        }
        self.settle(Some(appended?))
    }

    fn rollback(&mut self, who: usize) -> EngineResult<()> {
        let Some(open) = self.open.remove(&who) else { return Ok(()) };
        if let Some(branch) = open.branch {
            let mut next = Db::clone(self.model.now());
            next.prepared.remove(&branch);
            self.model.push(next, None);
        }
        open.trx.rollback()
    }

    fn prepare(&mut self, who: usize) -> EngineResult<()> {
        let Some(mut open) = self.open.remove(&who) else { return Ok(()) };
        if !open.trx.has_changes() {
            self.open.insert(who, open);
            return Ok(());
        }
        let branch = self.model.next_branch;
        self.model.next_branch += 1;
        let mut next = Db::clone(self.model.now());
        next.prepared.insert(branch, Arc::new(open.overlay.clone()));
        open.snapshot = None;
        let mut rider = self.announce(next, 60);
        let rider = rider.as_mut().map(|rider| rider as &mut dyn Rider);
        match open.trx.prepare(&xid(branch), rider) {
            Ok(lsn) => {
                open.branch = Some(branch);
                self.open.insert(who, open);
                self.settle(lsn)
            }
            Err(e) => {
                self.model.pop();
                open.trx.rollback()?;
                Err(e)
            }
        }
    }

    /// Creates or drops a table or an index, in a transaction of its own.
    fn definition(&mut self) -> EngineResult<()> {
        let mut next = Db::clone(self.model.now());
        let grows = |id: &TableId| self.growth.as_ref().is_some_and(|growth| growth.def.id == *id);
        let used = |id: &TableId| self.open.values().any(|open| open.uses.contains(id));
        let free = |id: &TableId| !used(id) && !grows(id);
        let tables: Vec<TableId> = next.tables.keys().copied().filter(free).collect();
        let trx = self.engine.begin(Isolation::RepeatableRead, false)?;
        let at = self.rng.below(tables.len().max(1) as u64) as usize;
        let done = match (tables.get(at).copied(), self.rng.below(10)) {
            _ if next.tables.len() < TABLES && self.rng.chance(60) => self.create(&*trx, &mut next),
            (Some(id), 0..2) => {
                next.tables.remove(&id);
                self.engine.drop_table(&*trx, id)
            }
            (Some(id), 2..4) => self.truncate(&*trx, &mut next, id),
            (Some(id), 4) => {
                let table = self.engine.open_table(&next.tables[&id].def)?;
                table.reclaim(&NoWait).map(drop)
            }
            (Some(id), _) => self.toggle_index(&*trx, &mut next, id),
            (None, _) => Ok(()),
        };
        if done.is_err() || self.rng.chance(20) {
            trx.rollback()?;
            return done;
        }
        let lsn = self.commit_as(trx, next)?;
        self.settle(lsn)
    }

    fn new_table(&mut self, keyed: bool) -> Arc<TableDef> {
        let id = self.model.next_table;
        self.model.next_table += 1;
        new_def(id, keyed)
    }

    /// Creates a table, perhaps with rows, as `CREATE TABLE ... SELECT` does.
    fn create(&mut self, trx: &dyn EngineTrx, next: &mut Db) -> EngineResult<()> {
        let keyed = self.rng.chance(70);
        let def = self.new_table(keyed);
        self.engine.create_table(trx, &def)?;
        let mut state = TableState { def: def.clone(), rows: BTreeMap::new() };
        let table = self.engine.open_table(&def)?;
        if self.rng.chance(50) {
            for id in 0..self.rng.below(30) as i64 {
                let mut row = new_row(&def, id, &mut self.rng);
                if row.code.is_some_and(|code| state.rows.values().any(|r| r.code == Some(code))) {
                    continue;
                }
                table.insert(trx, &NoWait, &rows_of([&row.bytes[..]]))?;
                row.bytes = row.bytes.to_vec().into();
                state.rows.insert(id, row);
            }
        }
        next.tables.insert(def.id, state);
        Ok(())
    }

    /// Truncates as the executor does: a new table replaces the old one.
    fn truncate(&mut self, trx: &dyn EngineTrx, next: &mut Db, id: TableId) -> EngineResult<()> {
        let keyed = next.tables.get(&id).is_some_and(|table| is_keyed(&table.def));
        let def = self.new_table(keyed);
        self.engine.create_table(trx, &def)?;
        self.engine.drop_table(trx, id)?;
        next.tables.remove(&id);
        next.tables.insert(def.id, TableState { def, rows: BTreeMap::new() });
        Ok(())
    }

    fn toggle_index(
        &mut self,
        trx: &dyn EngineTrx,
        next: &mut Db,
        id: TableId,
    ) -> EngineResult<()> {
        let Some(table) = next.tables.get_mut(&id).filter(|table| is_keyed(&table.def)) else {
            return Ok(());
        };
        if self.rng.chance(40) {
            let def = toggled_text(&table.def);
            match def.texts.len() {
                1 => self.engine.drop_index(trx, id, MORE_TEXT)?,
                _ => self.engine.create_text_index(trx, &NoWait, &def, 1)?,
            }
            table.def = def;
            return Ok(());
        }
        let def = toggled(&table.def);
        match def.index_position(BY_NAME) {
            Some(at) => self.engine.create_index(trx, &NoWait, &def, at)?,
            None => self.engine.drop_index(trx, id, BY_NAME)?,
        }
        table.def = def;
        Ok(())
    }
}
