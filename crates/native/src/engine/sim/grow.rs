//! The build of an index beside the sessions: one step of it now and then, between theirs. Must not
//! change the table's definition before the transactions from before the start have ended.

use super::super::grow;
use super::model::{BY_NAME, Db, is_keyed, toggled};
use super::session::Sessions;
use crate::btree::Hint;
use crate::table::Growing;
use crate::trx::undo_losers_step;
use selkie_engine::{Engine, EngineResult, EngineTrx, IndexKind, Isolation, NoWait, TableDef};
use std::sync::{Arc, Weak};

/// An entry that a snapshot has seen: key, value, and length of the unique part.
type Seen = (Vec<u8>, Vec<u8>, usize);

/// A build in progress.
pub(super) struct Growth {
    trx: Box<dyn EngineTrx>,
    pub(super) def: Arc<TableDef>,
    index: Arc<Growing>,
    /// Transactions that may have changed rows before the start.
    before: Vec<Weak<()>>,
    /// The entries still to be filled in, the next one last; `None`: rows were not read yet.
    entries: Option<Vec<Seen>>,
}

impl Sessions<'_> {
    /// Does one step of the build, or starts one.
    pub(super) fn grow(&mut self) -> EngineResult<()> {
        self.growth = match self.growth.take() {
            None => self.start_growth()?,
            Some(growth) => self.go_on(growth)?,
        };
        Ok(())
    }

    fn start_growth(&mut self) -> EngineResult<Option<Growth>> {
        let fits = |def: &TableDef| is_keyed(def) && def.index_position(BY_NAME).is_none();
        let now = self.model.now();
        let mut tables = now.tables.values().filter(|table| fits(&table.def));
        let Some(table) = tables.nth(self.rng.below(2) as usize) else { return Ok(None) };
        let mut def = TableDef::clone(&toggled(&table.def));
        let Some(at) = def.index_position(BY_NAME) else { return Ok(None) };
        if self.rng.chance(50) {
            // No two rows have one code, so this one is unique too.
            def.indexes[at].parts = def.indexes[1].parts.clone();
            def.indexes[at].kind = IndexKind::Unique;
        }
        let (def, shared) = (Arc::new(def), self.engine.shared());
        let trx = self.engine.begin(Isolation::RepeatableRead, false)?;
        self.engine.start_index(&*trx, &def, at)?;
        let Some(index) = shared.table_files(def.id)?.growing(BY_NAME) else {
            panic!("an index that was started does not grow")
        };
        let before = self.open.values().filter(|open| open.uses.contains(&def.id));
        let before = before.map(|open| Arc::downgrade(&open.life)).collect();
        Ok(Some(Growth { trx, def, index, before, entries: None }))
    }

    fn go_on(&mut self, mut growth: Growth) -> EngineResult<Option<Growth>> {
        if self.rng.chance(3) {
            growth.trx.rollback()?;
            return Ok(None);
        }
        if growth.before.iter().any(|life| life.strong_count() > 0) {
            return Ok(Some(growth));
        }
        let shared = self.engine.shared();
        let Some(entries) = &mut growth.entries else {
            while undo_losers_step(shared)? {}
            let files = shared.table_files(growth.def.id)?;
            let mut entries = Vec::new();
            grow::scan(shared, &files, &NoWait, &growth.index)?.drain(|entry| {
                entries.push((entry.key.to_vec(), entry.value.to_vec(), entry.unique));
                Ok(())
            })?;
            entries.reverse();
            growth.entries = Some(entries);
            return Ok(Some(growth));
        };
        let mut hint = Hint::default();
        for _ in 0..1 + self.rng.below(40) {
            let Some((key, value, unique)) = entries.pop() else { break };
            growth.index.fill(shared, &mut hint, (&key, &value), unique)?;
        }
        if !entries.is_empty() || !growth.index.enforce(shared)? {
            return Ok(Some(growth));
        }
        self.publish_growth(growth).map(|()| None)
    }

    fn publish_growth(&mut self, growth: Growth) -> EngineResult<()> {
        let Growth { trx, def, .. } = growth;
        let mut next = Db::clone(self.model.now());
        if let Some(table) = next.tables.get_mut(&def.id) {
            table.def = def.clone();
        }
        let lsn = self.commit_as(trx, next)?;
        self.engine.index_published(def.id, BY_NAME);
        let trx = self.engine.begin(Isolation::RepeatableRead, true)?;
        let wrong = self.engine.open_table(&def)?.check(&*trx, &NoWait)?;
        assert!(wrong.is_empty(), "{wrong:?}");
        trx.rollback()?;
        self.settle(lsn)
    }
}
