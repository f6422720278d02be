//! Changes of a tree page: the logged operations. The same code applies them when they are made and
//! when they are redone.
//!
//! ```text
//! insert    slot u16 | suffix len u16 | suffix | value
//! remove    slot u16
//! replace   slot u16 | value
//! patch     slot u16 | offset in value u16 | bytes
//! build     level u8 | flags u8 | lower len u16 | upper len u16 | max ver u64 | lower | upper
//!           | per entry: suffix len u16 | value len u16 | suffix | value
//! truncate  count u16 | upper fence
//! retire    (nothing)
//! ```

use super::node::{
    HAS_UPPER, Node, OFF_FLAGS, OFF_GARBAGE, OFF_HEAP, OFF_LOWER, OFF_PREFIX, OFF_UPPER,
    RECORD_OVERHEAD, SLOT, common_prefix, head_of,
};
use crate::error::{Result, StorageError};
use crate::ids::{PAGE_SIZE, PageId};
use crate::mtr::PageRedo;
use crate::page::{
    HEADER_LEN, OFF_COUNT, OFF_LEVEL, OFF_MAX_VER, OFF_TYPE, PageType, get_u16, get_u64, put,
};

pub(super) const INSERT: u8 = 1;
pub(super) const REMOVE: u8 = 2;
pub(super) const REPLACE: u8 = 3;
pub(super) const PATCH: u8 = 4;
pub(super) const BUILD: u8 = 5;
pub(super) const TRUNCATE: u8 = 6;
pub(super) const RETIRE: u8 = 7;

/// Bits of the version word that hold the position inside its segment.
pub(crate) const VER_OFFSET_BITS: u32 = 20;

/// Applies the tree's operations to pages.
pub(crate) struct TreeRedo;

impl PageRedo for TreeRedo {
    fn apply(&self, id: PageId, op: u8, page: &mut [u8], payload: &[u8]) -> Result<()> {
        apply(op, page, payload).ok_or_else(|| {
            StorageError::page(id, format!("operation {op} of the log does not fit the page"))
        })
    }
}

fn apply(op: u8, page: &mut [u8], payload: &[u8]) -> Option<()> {
    let slot = || payload.len().ge(&2).then(|| usize::from(get_u16(payload, 0)));
    match op {
        INSERT => {
            let suffix_len = usize::from(get_u16(payload, 2));
            let (suffix, value) = payload.get(4..)?.split_at_checked(suffix_len)?;
            insert(page, slot()?, suffix, value)
        }
        REMOVE => remove(page, slot()?),
        REPLACE => replace(page, slot()?, payload.get(2..)?),
        PATCH => {
            let (at, bytes) = (usize::from(get_u16(payload, 2)), payload.get(4..)?);
            patch(page, slot()?, at, bytes)
        }
        BUILD => build(page, payload),
        TRUNCATE => truncate(page, slot()?, payload.get(2..)?),
        RETIRE => {
            page[OFF_TYPE] = PageType::Blob as u8;
            Some(())
        }
        _ => None,
    }
}

fn set_u16(page: &mut [u8], at: usize, value: usize) {
    put(page, at, &(value as u16).to_le_bytes());
}

fn note_ver(page: &mut [u8], value: &[u8]) {
    if page[OFF_LEVEL] == 0 {
        let seq = get_u64(value, 0) >> VER_OFFSET_BITS;
        if seq > get_u64(page, OFF_MAX_VER) {
            put(page, OFF_MAX_VER, &seq.to_le_bytes());
        }
    }
}

/// Writes a record at the end of the heap. There must be enough contiguous room.
fn push_record(page: &mut [u8], suffix: &[u8], value: &[u8]) -> usize {
    let heap = usize::from(get_u16(page, OFF_HEAP));
    let at = heap - (RECORD_OVERHEAD + suffix.len() + value.len());
    set_u16(page, at, value.len());
    put(page, at + RECORD_OVERHEAD, suffix);
    put(page, at + RECORD_OVERHEAD + suffix.len(), value);
    set_u16(page, OFF_HEAP, at);
    at
}

fn write_slot(page: &mut [u8], at: usize, record: usize, suffix: &[u8]) {
    let slot = HEADER_LEN + at * SLOT;
    set_u16(page, slot, record);
    set_u16(page, slot + 2, suffix.len());
    put(page, slot + 4, &head_of(suffix).to_le_bytes());
}

fn insert(page: &mut [u8], at: usize, suffix: &[u8], value: &[u8]) -> Option<()> {
    let need = SLOT + RECORD_OVERHEAD + suffix.len() + value.len();
    let node = Node::new(page);
    let count = node.count();
    if node.contiguous() < need {
        if node.room() < need {
            return None;
        }
        compact(page);
    }
    if at > count || Node::new(page).contiguous() < need {
        return None;
    }
    let from = HEADER_LEN + at * SLOT;
    page.copy_within(from..HEADER_LEN + count * SLOT, from + SLOT);
    set_u16(page, OFF_COUNT, count + 1);
    let record = push_record(page, suffix, value);
    write_slot(page, at, record, suffix);
    note_ver(page, value);
    Some(())
}

fn remove(page: &mut [u8], at: usize) -> Option<()> {
    let node = Node::new(page);
    let count = node.count();
    if at >= count {
        return None;
    }
    let garbage = usize::from(get_u16(page, OFF_GARBAGE)) + node.record_len(at);
    let from = HEADER_LEN + at * SLOT;
    page.copy_within(from + SLOT..HEADER_LEN + count * SLOT, from);
    set_u16(page, OFF_COUNT, count - 1);
    set_u16(page, OFF_GARBAGE, garbage);
    Some(())
}

fn replace(page: &mut [u8], at: usize, value: &[u8]) -> Option<()> {
    let node = Node::new(page);
    if at >= node.count() {
        return None;
    }
    let (old, suffix) = (node.value(at).len(), node.suffix(at));
    if value.len() <= old {
        let suffix_len = suffix.len();
        let record = usize::from(get_u16(page, HEADER_LEN + at * SLOT));
        let garbage = usize::from(get_u16(page, OFF_GARBAGE)) + old - value.len();
        set_u16(page, record, value.len());
        put(page, record + RECORD_OVERHEAD + suffix_len, value);
        set_u16(page, OFF_GARBAGE, garbage);
        note_ver(page, value);
        return Some(());
    }
    if node.room() + old < value.len() {
        return None;
    }
    let suffix = suffix.to_vec();
    remove(page, at)?;
    insert(page, at, &suffix, value)
}

fn patch(page: &mut [u8], at: usize, offset: usize, bytes: &[u8]) -> Option<()> {
    let node = Node::new(page);
    if at >= node.count() || offset + bytes.len() > node.value(at).len() {
        return None;
    }
    let start = usize::from(get_u16(page, HEADER_LEN + at * SLOT))
        + RECORD_OVERHEAD
        + node.suffix(at).len();
    put(page, start + offset, bytes);
    if offset == 0 {
        let ver: [u8; 8] = *page.get(start..)?.first_chunk()?;
        note_ver(page, &ver);
    }
    Some(())
}

/// Moves the records together, so that all free bytes are contiguous.
fn compact(page: &mut [u8]) {
    let mut old = [0; PAGE_SIZE];
    old.copy_from_slice(page);
    let old = Node::new(&old);
    write_fences(page, old.lower(), old.upper());
    for at in 0..old.count() {
        let record = push_record(page, old.suffix(at), old.value(at));
        set_u16(page, HEADER_LEN + at * SLOT, record);
    }
}

/// Empties the heap and writes the fences.
fn write_fences(page: &mut [u8], lower: &[u8], upper: Option<&[u8]>) {
    let mut heap = PAGE_SIZE - lower.len();
    put(page, heap, lower);
    set_u16(page, OFF_LOWER, heap);
    set_u16(page, OFF_LOWER + 2, lower.len());
    let upper_bytes = upper.unwrap_or(&[]);
    heap -= upper_bytes.len();
    put(page, heap, upper_bytes);
    set_u16(page, OFF_UPPER, heap);
    set_u16(page, OFF_UPPER + 2, upper_bytes.len());
    page[OFF_FLAGS] = if upper.is_some() { HAS_UPPER } else { 0 };
    set_u16(page, OFF_PREFIX, upper.map_or(0, |upper| common_prefix(lower, upper)));
    set_u16(page, OFF_HEAP, heap);
    set_u16(page, OFF_GARBAGE, 0);
}

fn build(page: &mut [u8], payload: &[u8]) -> Option<()> {
    let [level, flags] = *payload.first_chunk::<2>()?;
    let (lower_len, upper_len) =
        (usize::from(get_u16(payload, 2)), usize::from(get_u16(payload, 4)));
    let max_ver = payload.get(6..14)?;
    let (lower, rest) = payload.get(14..)?.split_at_checked(lower_len)?;
    let (upper, mut rest) = rest.split_at_checked(upper_len)?;
    if lower_len + upper_len > PAGE_SIZE / 2 {
        return None;
    }
    page[OFF_TYPE] =
        if level == 0 { PageType::BtreeLeaf as u8 } else { PageType::BtreeInner as u8 };
    page[OFF_LEVEL] = level;
    put(page, OFF_MAX_VER, max_ver);
    write_fences(page, lower, (flags & HAS_UPPER != 0).then_some(upper));
    let mut count = 0;
    while !rest.is_empty() {
        let suffix_len = usize::from(get_u16(rest, 0));
        let value_len = usize::from(get_u16(rest, 2));
        let (suffix, more) = rest.get(4..)?.split_at_checked(suffix_len)?;
        let (value, more) = more.split_at_checked(value_len)?;
        let end = HEADER_LEN + (count + 1) * SLOT + RECORD_OVERHEAD + suffix_len + value_len;
        if end > usize::from(get_u16(page, OFF_HEAP)) {
            return None;
        }
        let record = push_record(page, suffix, value);
        write_slot(page, count, record, suffix);
        count += 1;
        rest = more;
    }
    set_u16(page, OFF_COUNT, count);
    Some(())
}

fn truncate(page: &mut [u8], keep: usize, upper: &[u8]) -> Option<()> {
    let node = Node::new(page);
    if keep > node.count() {
        return None;
    }
    let mut builder = Builder::new(node.level(), node.lower(), Some(upper), node.max_ver());
    (0..keep).for_each(|at| builder.push_parts(node.prefix(), node.suffix(at), node.value(at)));
    build(page, &builder.payload)
}

/// Builds the payload of a `BUILD` and counts the bytes the page will use.
pub(super) struct Builder {
    pub(super) payload: Vec<u8>,
    prefix: usize,
    used: usize,
    entries: usize,
}

impl Builder {
    pub(super) fn new(level: u8, lower: &[u8], upper: Option<&[u8]>, max_ver: u64) -> Builder {
        let mut payload = vec![level, if upper.is_some() { HAS_UPPER } else { 0 }];
        payload.extend_from_slice(&(lower.len() as u16).to_le_bytes());
        payload.extend_from_slice(&(upper.map_or(0, <[u8]>::len) as u16).to_le_bytes());
        payload.extend_from_slice(&max_ver.to_le_bytes());
        payload.extend_from_slice(lower);
        payload.extend_from_slice(upper.unwrap_or(&[]));
        let prefix = upper.map_or(0, |upper| common_prefix(lower, upper));
        let used = lower.len() + upper.map_or(0, <[u8]>::len);
        Builder { payload, prefix, used, entries: 0 }
    }

    /// Appends an entry whose key is `prefix` and `suffix` together.
    pub(super) fn push_parts(&mut self, prefix: &[u8], suffix: &[u8], value: &[u8]) {
        let cut = self.prefix.min(prefix.len());
        let (kept, suffix) = (&prefix[cut..], suffix.get(self.prefix - cut..).unwrap_or(&[]));
        let len = kept.len() + suffix.len();
        self.payload.extend_from_slice(&(len as u16).to_le_bytes());
        self.payload.extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.payload.extend_from_slice(kept);
        self.payload.extend_from_slice(suffix);
        self.payload.extend_from_slice(value);
        self.used += SLOT + RECORD_OVERHEAD + len + value.len();
        self.entries += 1;
    }

    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.push_parts(&[], key, value);
    }

    /// Bytes of the page's body in use.
    pub(super) fn used(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FileId;
    use std::collections::BTreeMap;

    fn page_of(lower: &[u8], upper: Option<&[u8]>) -> Vec<u8> {
        let mut page = vec![0; PAGE_SIZE];
        crate::page::init(&mut page, PageId::new(FileId(1), 2), PageType::BtreeLeaf as u8);
        build(&mut page, &Builder::new(0, lower, upper, 0).payload).unwrap();
        page
    }

    fn op_insert(page: &mut [u8], key: &[u8], value: &[u8]) -> bool {
        let node = Node::new(page);
        let Err(at) = node.search(key) else { return false };
        let suffix = key[node.prefix_len()..].to_vec();
        insert(page, at, &suffix, value).is_some()
    }

    #[test]
    fn a_page_is_a_sorted_map() {
        let mut page = page_of(b"key-0", Some(b"key-9"));
        let mut model = BTreeMap::new();
        let mut random = selkie_engine::testing::Random::new(7);
        for step in 0..3000u64 {
            let key = format!("key-{}", random.below(80)).into_bytes();
            if !Node::new(&page).contains(&key) {
                continue;
            }
            let mut value = step.to_le_bytes().to_vec();
            value.resize(8 + random.below(200) as usize, 1);
            match Node::new(&page).search(&key) {
                Err(_) => {
                    if op_insert(&mut page, &key, &value) {
                        model.insert(key, value);
                    }
                }
                Ok(at) if random.one_in(2) => {
                    remove(&mut page, at).unwrap();
                    model.remove(&key);
                }
                Ok(at) => {
                    if replace(&mut page, at, &value).is_some() {
                        model.insert(key, value);
                    }
                }
            }
            let node = Node::new(&page);
            assert_eq!(node.count(), model.len());
        }
        let node = Node::new(&page);
        for (at, (key, value)) in model.iter().enumerate() {
            assert_eq!((&node.key(at), node.value(at)), (key, &value[..]));
            for end in 0..=key.len() {
                assert!(node.key_starts_with(at, &key[..end]));
                assert!(!node.key_starts_with(at, &[&key[..end], &[255, 255][..]].concat()));
            }
        }
        let keep = model.len() / 2;
        let upper = node.key(keep);
        truncate(&mut page, keep, &upper).unwrap();
        let node = Node::new(&page);
        let kept: Vec<_> = (0..node.count()).map(|at| node.key(at)).collect();
        assert_eq!(kept, model.keys().take(keep).cloned().collect::<Vec<_>>());
    }

    #[test]
    fn any_payload_is_refused_or_applied_without_panic() {
        let mut random = selkie_engine::testing::Random::new(3);
        for _ in 0..20_000 {
            let mut page = page_of(b"a", Some(b"b"));
            let len = random.below(40) as usize;
            let payload: Vec<u8> = (0..len).map(|_| random.below(6) as u8).collect();
            apply(random.below(9) as u8, &mut page, &payload);
        }
    }
}
