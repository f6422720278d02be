//! Each decoder of bytes from disk behind one function, for damage tests and fuzz targets.
//!
//! Compiled for tests and with the feature `testing` only. No decoder may panic on any bytes.

use crate::btree::Node;
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::log::RecordReader;
use crate::page;
use crate::recovery::RecoveryVisitor;
use crate::trx::{Recovered, RowRecord, TrxRecord};

/// Decodes the records of a log group; then the bytes as a row record and as a transaction record.
pub fn log(bytes: &[u8]) {
    assert!(RecordReader::new(bytes).count() <= bytes.len(), "more records than bytes");
    let _ = RowRecord::decode(bytes);
    drop(TrxRecord::decode(bytes));
}

/// Decodes a page that begins with `bytes` and is zero behind them, once as it is and once as if
/// its checksum were right. `probe` is a key to search for.
pub fn page(bytes: &[u8], probe: &[u8]) {
    let mut whole = vec![0; PAGE_SIZE];
    let length = bytes.len().min(PAGE_SIZE);
    whole[..length].copy_from_slice(&bytes[..length]);
    if let Some(id) = page::claimed_id(&whole) {
        let _ = page::verify(&whole, id);
    }
    let _ = page::verify(&whole, PageId::new(FileId(1), 1));
    node(&whole, probe);
}

/// Decodes the undo snapshot of a checkpoint.
pub fn undo_snapshot(bytes: &[u8]) {
    drop(Recovered::default().snapshot(bytes));
}

/// Calls every reading method of a node.
pub(crate) fn node(page: &[u8], probe: &[u8]) {
    let node = Node::new(page);
    let _ = (node.is_leaf(), node.level(), node.max_ver(), node.lower(), node.upper());
    let _ = (node.contains(probe), node.contains_before(Some(probe)), node.room(), node.used());
    for at in 0..node.count().min(3000) {
        let _ = (node.key(at), node.value(at), node.child(at));
    }
    let _ = (node.search(probe), node.lower_bound(probe), node.child_slot(probe));
}
