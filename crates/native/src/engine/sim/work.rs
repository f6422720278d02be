//! Statements of the sessions, run on the engine and in the model at once. A statement that fails
//! must leave no trace in either.

use super::model::{Db, Overlay, Row, TableState, is_keyed, key, letter_name};
use crate::disk::sim::Rng;
use selkie_engine::testing::{item_row, rows_of};
use selkie_engine::{
    Bound, Engine, EngineError, EngineResult, EngineTrx, LockMode, NoWait, RowSet, Scan, Table,
    TableDef,
};
use selkie_types::Value;
use std::sync::Arc;

/// Number of ids that the sessions use.
const IDS: u64 = 90;

fn body(rng: &mut Rng) -> String {
    let length = match rng.below(24) {
        0 => 70_000,
        1..4 => 6_000,
        4..7 => 1_500,
        _ => 60,
    };
    let letter = (b'a' + rng.below(26) as u8) as char;
    let words = format!("w{} x{} w{} ", rng.below(40), rng.below(4), rng.below(40));
    words + &String::from(letter).repeat(rng.below(length) as usize)
}

/// A row for `id`.
pub(super) fn new_row(def: &TableDef, id: i64, rng: &mut Rng) -> Row {
    let body = body(rng);
    if is_keyed(def) {
        let code = (rng.below(2) == 0).then(|| rng.below(400) as i64);
        let bytes = item_row(def, id, code, rng.below(9) as i64, &body);
        return Row { bytes: bytes.into(), code };
    }
    let mut bytes = Vec::new();
    let body = if rng.chance(10) { Value::Null } else { Value::bytes(&body) };
    def.layout.encode_values(&[Value::bytes(letter_name(id)), body], &mut bytes);
    Row { bytes: bytes.into(), code: None }
}

/// A row of `items` with another value in the third column only.
fn of_other_kind(def: &TableDef, id: i64, row: &Row, rng: &mut Rng) -> EngineResult<Row> {
    let Value::Bytes(name) = def.layout.value(&row.bytes, 3)? else { return Ok(row.clone()) };
    let name = String::from_utf8_lossy(&name);
    let bytes = item_row(def, id, row.code, rng.below(9) as i64, &name);
    Ok(Row { bytes: bytes.into(), code: row.code })
}

/// One session's statement on one table.
pub(super) struct Statement<'a> {
    pub(super) db: &'a Db,
    pub(super) def: Arc<TableDef>,
    pub(super) table: Arc<dyn Table>,
    pub(super) trx: &'a dyn EngineTrx,
    pub(super) overlay: &'a mut Overlay,
    /// Highest AUTO_INCREMENT value that was stored.
    pub(super) auto: &'a mut u64,
    /// Another session may hold a row.
    pub(super) contended: bool,
    pub(super) rng: &'a mut Rng,
}

impl<'a> Statement<'a> {
    pub(super) fn open(
        engine: &dyn Engine,
        table: &TableState,
    ) -> EngineResult<(Arc<TableDef>, Arc<dyn Table>)> {
        Ok((table.def.clone(), engine.open_table(&table.def)?))
    }

    fn newest(&self, id: i64) -> Option<&Row> {
        self.db.row(self.overlay, self.def.id, id)
    }

    /// Runs a random statement; a failure that the model expects is no error.
    pub(super) fn run(mut self) -> EngineResult<()> {
        let (savepoint, before) = (self.trx.savepoint()?, self.overlay.clone());
        let outcome = match self.rng.below(12) {
            0..6 => self.insert(),
            6..8 => self.update(),
            8 => self.renumber(),
            9..11 => self.delete(),
            _ => self.insert_many(),
        };
        let failed = match outcome {
            Ok(()) => return Ok(()),
            Err(EngineError::LockWaitTimeout) => {
                assert!(self.contended, "a row is locked and there is nobody else");
                EngineError::LockWaitTimeout
            }
            Err(e @ EngineError::DiskFull) => e,
            Err(e) => return Err(e),
        };
        *self.overlay = before;
        self.trx.rollback_to(savepoint)?;
        if matches!(failed, EngineError::DiskFull) { Err(failed) } else { Ok(()) }
    }

    fn insert(&mut self) -> EngineResult<()> {
        let keyed = is_keyed(&self.def);
        let id = match keyed && self.rng.chance(30) {
            true => self.table.reserve_auto_increment(1, 1, 1)? as i64,
            false => self.rng.below(IDS) as i64,
        };
        if !keyed && self.newest(id).is_some() {
            return Ok(());
        }
        let row = new_row(&self.def, id, self.rng);
        self.put(id, row)
    }

    fn put(&mut self, id: i64, row: Row) -> EngineResult<()> {
        let taken = self.newest(id).is_some()
            || row.code.is_some_and(|c| self.db.with_code(self.overlay, self.def.id, c).is_some());
        match self.table.insert(self.trx, &NoWait, &rows_of([&row.bytes[..]])) {
            Ok(_) => {
                assert!(!taken, "row {id} was inserted although its keys are taken");
                self.overlay.insert((self.def.id, id), Some(row));
                *self.auto = (*self.auto).max(id as u64);
                Ok(())
            }
            Err(EngineError::DuplicateKey { index, existing, .. }) => {
                let code = row.code;
                assert!(
                    taken,
                    "row {id}, code {code:?} is no duplicate in index {index}: {existing:?}"
                );
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    fn insert_many(&mut self) -> EngineResult<()> {
        let first = 1000 + self.rng.below(30) as i64 * 40;
        for id in first..first + 1 + self.rng.below(40) as i64 {
            if self.newest(id).is_none() {
                let row = new_row(&self.def, id, self.rng);
                self.put(id, row)?;
            }
        }
        Ok(())
    }

    /// The clustered key of a row, found by the index of names if the table has no primary key.
    fn clustered_key(&self, id: i64) -> EngineResult<Option<Vec<u8>>> {
        if is_keyed(&self.def) {
            return Ok(Some(key(&self.def, id)));
        }
        let scan = Scan {
            index: Some(0),
            want_keys: true,
            lock: LockMode::Exclusive,
            lower: Bound::Unbounded,
            ..Scan::default()
        };
        let (mut found, keys) = (RowSet::default(), rows_of([key(&self.def, id)]));
        self.table.lookup(self.trx, &NoWait, &scan, &keys, &mut found)?;
        assert!(found.keys.len() <= 1, "letter {id} is there {} times", found.keys.len());
        assert_eq!(found.keys.len() == 1, self.newest(id).is_some(), "letter {id}");
        Ok((found.keys.len() == 1).then(|| found.keys.get(0).to_vec()))
    }

    fn update(&mut self) -> EngineResult<()> {
        let id = self.rng.below(IDS) as i64;
        let Some(at) = self.clustered_key(id)? else { return Ok(()) };
        let new = match self.db.row(self.overlay, self.def.id, id) {
            Some(row) if is_keyed(&self.def) && self.rng.chance(40) => {
                of_other_kind(&self.def, id, row, self.rng)?
            }
            _ => new_row(&self.def, id, self.rng),
        };
        let owner = new.code.and_then(|c| self.db.with_code(self.overlay, self.def.id, c));
        let taken = owner.is_some_and(|owner| owner != id);
        let rows = (rows_of([at]), rows_of([&new.bytes[..]]));
        match self.table.update(self.trx, &NoWait, &rows.0, &rows.1, None) {
            Ok(0) => assert!(self.newest(id).is_none(), "row {id} was not found"),
            Ok(_) => {
                assert!(self.newest(id).is_some(), "row {id} should not be there");
                assert!(!taken, "row {id} got the code of {owner:?}");
                self.overlay.insert((self.def.id, id), Some(new));
            }
            Err(EngineError::DuplicateKey { .. }) => assert!(taken, "row {id} is no duplicate"),
            Err(e) => return Err(e),
        }
        Ok(())
    }

    /// Gives a row another id, often one of the counter, as REPLACE does.
    fn renumber(&mut self) -> EngineResult<()> {
        if !is_keyed(&self.def) {
            return self.update();
        }
        let old = self.rng.below(IDS) as i64;
        let id = match self.rng.chance(60) {
            true => self.table.reserve_auto_increment(1, 1, 1)? as i64,
            false => self.rng.below(IDS) as i64,
        };
        let new = new_row(&self.def, id, self.rng);
        let owner = new.code.and_then(|c| self.db.with_code(self.overlay, self.def.id, c));
        let taken =
            owner.is_some_and(|owner| owner != old) || (id != old && self.newest(id).is_some());
        let rows = (rows_of([key(&self.def, old)]), rows_of([&new.bytes[..]]));
        match self.table.update(self.trx, &NoWait, &rows.0, &rows.1, None) {
            Ok(0) => assert!(self.newest(old).is_none(), "row {old} was not found"),
            Ok(_) => {
                assert!(self.newest(old).is_some(), "row {old} should not be there");
                assert!(!taken, "row {old} became row {id}, whose keys are taken");
                self.overlay.insert((self.def.id, old), None);
                self.overlay.insert((self.def.id, id), Some(new));
                *self.auto = (*self.auto).max(id as u64);
            }
            Err(EngineError::DuplicateKey { .. }) => assert!(taken, "row {id} is no duplicate"),
            Err(e) => return Err(e),
        }
        Ok(())
    }

    fn delete(&mut self) -> EngineResult<()> {
        let id = self.rng.below(IDS) as i64;
        let Some(at) = self.clustered_key(id)? else { return Ok(()) };
        let gone = self.table.delete(self.trx, &NoWait, &rows_of([at]), None)?;
        assert_eq!(gone == 1, self.newest(id).is_some(), "delete of row {id}");
        if gone == 1 {
            self.overlay.insert((self.def.id, id), None);
        }
        Ok(())
    }
}
