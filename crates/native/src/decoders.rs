//! Every decoder of bytes from disk behind one function each, for damage tests and fuzz targets.
//!
//! Only in tests and with the feature `testing`. None of them may panic, whatever the bytes.

use crate::btree::Node;
use crate::ids::{FileId, PAGE_SIZE, PageId};
use crate::log::RecordReader;
use crate::page;
use crate::recovery::RecoveryVisitor;
use crate::trx::{Recovered, RowRecord, TrxRecord};

/// The records of a log group, and those of transactions as if the bytes were one of them.
pub fn log(bytes: &[u8]) {
    assert!(RecordReader::new(bytes).count() <= bytes.len(), "more records than bytes");
    let _ = RowRecord::decode(bytes);
    drop(TrxRecord::decode(bytes));
}

/// A page: `bytes` at its beginning, the rest zero; as it is and as if its checksum were right.
/// `probe` is a key to look for.
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

/// The undo that a checkpoint keeps.
pub fn undo_snapshot(bytes: &[u8]) {
    drop(Recovered::default().snapshot(bytes));
}

/// Everything a reader asks of a node.
pub(crate) fn node(page: &[u8], probe: &[u8]) {
    let node = Node::new(page);
    let _ = (node.is_leaf(), node.level(), node.max_ver(), node.lower(), node.upper());
    let _ = (node.contains(probe), node.contains_before(Some(probe)), node.room(), node.used());
    for at in 0..node.count().min(3000) {
        let _ = (node.key(at), node.value(at), node.child(at));
    }
    let _ = (node.search(probe), node.lower_bound(probe), node.child_slot(probe));
}
