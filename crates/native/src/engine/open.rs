//! Opening: the lower half recovers pages; then files are matched with tables, unfinished DDL is
//! completed or removed, and unfinished transactions are rolled back.

use super::options::NativeOptions;
use super::shared::Shared;
use crate::btree::{Tree, TreeRedo};
use crate::checkpoint::CheckpointParticipant;
use crate::disk::{BoundedDisk, CONTROL, CountedDisk, DOUBLEWRITE, Disk, RealDisk, UNDO};
use crate::error::{Result, StorageError};
use crate::ids::{FileId, Lsn};
use crate::inspect::Overlay;
use crate::space::data_file_name;
use crate::storage::{Storage, WITHOUT_LOG, WITHOUT_UNDO};
use crate::sync::atomic::Ordering;
use crate::table::{FileIdentity, TableFiles};
use crate::trx::{
    Recovered, Undo, YOUNG, adopt_unfinished, encode_snapshot, purge_step, roll_back_abandoned,
    undo_losers_step,
};
use selkie_engine::{IndexId, TableId};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// The files found of one table.
#[derive(Default)]
struct Found {
    clustered: Option<FileId>,
    indexes: Vec<(IndexId, FileId)>,
}

/// Makes the undo of active transactions survive a crash, as a participant of checkpoints.
struct Participant(Weak<Shared>);

impl CheckpointParticipant for Participant {
    fn snapshot_len(&self) -> usize {
        self.0.upgrade().map_or(0, |shared| shared.undo.active_bytes())
    }

    fn snapshot(&self, lsn: Lsn) -> Result<Vec<u8>> {
        let Some(shared) = self.0.upgrade() else { return Ok(Vec::new()) };
        let riders = shared.riders.checkpoint(shared.storage.log(), lsn)?;
        Ok(encode_snapshot(&shared, &riders))
    }
}

/// The files of the directory `dir`, which is created if missing. From `innodb_force_recovery` 5
/// on, files are only read, and writes stay in memory.
pub(super) fn real_disk(dir: &Path, options: &NativeOptions) -> Result<Arc<dyn Disk>> {
    let force_recovery = options.force_recovery;
    match RealDisk::new(dir) {
        Ok(disk) if force_recovery >= WITHOUT_UNDO => {
            let hidden = if force_recovery >= WITHOUT_LOG { is_no_data } else { |_: &str| false };
            Ok(Arc::new(Overlay::locked(dir, disk, hidden)))
        }
        Ok(disk) => {
            let bounded = BoundedDisk::new(Arc::new(disk), options.open_files);
            Ok(Arc::new(CountedDisk::new(Arc::new(bounded))))
        }
        Err(e) => Err(StorageError::io(format!("open of {}", dir.display()), e)),
    }
}

/// Whether a file of the storage contains no pages of trees.
fn is_no_data(name: &str) -> bool {
    [CONTROL, UNDO, DOUBLEWRITE].contains(&name)
        || ["log.", "snapshot."].iter().any(|prefix| name.starts_with(prefix))
}

/// Opens the database on a disk. Changes of losers are present, and their rows are locked, until
/// they are rolled back.
pub(crate) fn open_on(disk: Arc<dyn Disk>, options: &NativeOptions) -> Result<Arc<Shared>> {
    let mut recovered = Recovered::for_riders(options.riders());
    let storage = Storage::open_on(disk, options.storage(), Box::new(TreeRedo), &mut recovered)?;
    recovered.riders.replayed()?;
    storage.log().set_mode(options.flush_at_commit.into());
    if options.force_recovery >= WITHOUT_UNDO {
        recovered.forget_undo();
    }
    let undo = Undo::new(recovered.next_seq.max(1), &storage, &recovered.stored())?;
    undo.set_budget(options.undo_memory());
    let riders = std::mem::take(&mut recovered.riders);
    let shared = Arc::new(Shared::new(storage.clone(), undo, riders, options.temporary.clone()));
    if options.background {
        shared.snapshots.set_young(YOUNG);
    }
    settle_files(&shared, &recovered)?;
    adopt_unfinished(&shared, &mut recovered)?;
    storage.set_participant(Arc::new(Participant(Arc::downgrade(&shared))));
    storage.start_background();
    Ok(shared)
}

/// Deletes files of unfinished and dropped tables, and registers the others.
fn settle_files(shared: &Arc<Shared>, recovered: &Recovered) -> Result<()> {
    let storage = &shared.storage;
    let mut tables: BTreeMap<TableId, Found> = BTreeMap::new();
    for file in storage.space().files() {
        let unwanted = recovered.created.contains(&file) || recovered.dropped.contains(&file);
        let identity = if unwanted { Ok(None) } else { FileIdentity::read(storage, file) };
        let identity = match identity {
            Err(e) if storage.salvages() => {
                tracing::warn!("the whole file is skipped: {e}");
                continue;
            }
            identity => identity?,
        };
        let Some(identity) = identity else {
            remove_unknown(storage, file, unwanted)?;
            continue;
        };
        let found = tables.entry(identity.table).or_default();
        match identity.index {
            None => found.clustered = Some(file),
            Some(index) => found.indexes.push((index, file)),
        }
    }
    for (id, found) in tables {
        let tree = |file| Arc::new(Tree::open(storage.clone(), file));
        let Some(clustered) = found.clustered else {
            // The log creates rows and indexes together, so this is damage. The remaining file
            // stays.
            for (_, file) in found.indexes {
                let name = data_file_name(file);
                tracing::error!("{name} holds an index of table {id}, whose rows are missing");
            }
            continue;
        };
        let counters = recovered.counters.get(&clustered).copied().unwrap_or_default();
        let files = TableFiles::new(id, tree(clustered), counters.auto, counters.rows);
        let indexes = found.indexes.into_iter().map(|(index, file)| (index, tree(file)));
        files.indexes.write().extend(indexes);
        shared.remember_table(Arc::new(files));
    }
    Ok(())
}

/// Deletes a file that belongs to no table.
fn remove_unknown(storage: &Arc<Storage>, file: FileId, unwanted: bool) -> Result<()> {
    if storage.salvages() {
        return Ok(());
    }
    if !unwanted && !storage.is_remains(file)? {
        return Err(StorageError::corrupt(format!(
            "{} has pages, but page 0 does not name the table they belong to",
            data_file_name(file)
        )));
    }
    storage.space().delete_file(storage, file)
}

/// Rolls back all losers now.
pub(crate) fn undo_losers(shared: &Shared) -> Result<()> {
    while undo_losers_step(shared)? {}
    Ok(())
}

/// Starts the thread that rolls back losers, if there are any.
pub(super) fn start_rollback(shared: &Arc<Shared>) -> Option<JoinHandle<()>> {
    if shared.losers.len() == 0 || shared.storage.rests_rollback() {
        return None;
    }
    let weak = Arc::downgrade(shared);
    let run = move || {
        while let Some(shared) = weak.upgrade() {
            match undo_losers_step(&shared) {
                Ok(true) => {}
                Ok(false) if shared.losers.len() > 0 => return,
                Ok(false) => {
                    let undone = shared.losers.undone.load(Ordering::Relaxed);
                    tracing::info!("{undone} changes of unfinished transactions were rolled back");
                    return;
                }
                Err(e) => {
                    tracing::warn!("rollback of unfinished transactions postponed: {e}");
                    drop(shared);
                    crate::sync::sleep(Duration::from_secs(1));
                }
            }
        }
    };
    std::thread::Builder::new().name("selkie-rollback".to_owned()).spawn(run).ok()
}

/// Starts the thread that cleans up after commits.
pub(super) fn start_purger(shared: &Arc<Shared>) -> Option<JoinHandle<()>> {
    if shared.storage.rests_purge() {
        return None;
    }
    let weak = Arc::downgrade(shared);
    let run = move || {
        while let Some(shared) = weak.upgrade() {
            if shared.purger.stop.load(Ordering::Acquire) {
                return;
            }
            let outcome = roll_back_abandoned(&shared).and_then(|any| {
                let any = purge_step(&shared)? || any;
                shared.delete_dropped()?;
                Ok(any)
            });
            match outcome {
                Ok(true) => {}
                Ok(false) => shared.purger.sleep(Duration::from_millis(20)),
                Err(e) => {
                    tracing::warn!("purge postponed: {e}");
                    shared.purger.sleep(Duration::from_secs(1));
                }
            }
        }
    };
    let spawned = std::thread::Builder::new().name("selkie-purge".to_owned()).spawn(run);
    if spawned.is_ok() {
        shared.purger.runs.store(true, Ordering::Release);
    }
    spawned.ok()
}
