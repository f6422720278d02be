//! Lists of documents of a word, as bytes. A list is stored in blocks, each under the number of its
//! first document. Must not trust a block: it may be damaged.
//!
//! ```text
//! posting: varint, document minus the one before (minus the block's first), times 2, plus 1 if
//!          occurrences follow; varint, occurrences, if they are not 1
//! ```

/// A document that has a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Posting {
    /// Number of the document, below 2^62.
    pub document: u64,
    /// Number of times it has the word.
    pub occurrences: u32,
}

/// The most bytes of one posting.
const LONGEST: usize = 15;

/// Appends a block of the first of some postings, which are in order: as many as fit into `most`
/// bytes, but at least one. Returns their number.
pub fn encode(postings: &[Posting], most: usize, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let mut last = postings.first().map_or(0, |posting| posting.document);
    for (at, posting) in postings.iter().enumerate() {
        if at > 0 && out.len() - start + LONGEST > most {
            return at;
        }
        let more = u64::from(posting.occurrences != 1);
        put(out, posting.document.saturating_sub(last) << 1 | more);
        if more != 0 {
            put(out, u64::from(posting.occurrences));
        }
        last = posting.document;
    }
    postings.len()
}

/// Appends the postings of a block; false if it is damaged.
pub fn decode(first: u64, mut block: &[u8], out: &mut Vec<Posting>) -> bool {
    let mut last = first;
    let mut is_first = true;
    while !block.is_empty() {
        let Some(head) = take(&mut block) else { return false };
        let Some(document) = last.checked_add(head >> 1).filter(|d| *d >> 62 == 0) else {
            return false;
        };
        if (document == last) != is_first {
            return false;
        }
        let occurrences = if head & 1 == 0 { Some(1) } else { take(&mut block) };
        let occurrences = occurrences.and_then(|n| u32::try_from(n).ok());
        let Some(occurrences) = occurrences.filter(|n| *n > 0) else { return false };
        out.push(Posting { document, occurrences });
        (last, is_first) = (document, false);
    }
    !is_first
}

/// Puts a list that was read from blocks into order. A document that is there twice is left once.
pub fn settle(list: &mut Vec<Posting>) {
    if list.windows(2).all(|pair| pair[0].document < pair[1].document) {
        return;
    }
    list.sort_by_key(|posting| posting.document);
    list.dedup_by_key(|posting| posting.document);
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for (at, byte) in bytes.iter().take(10).enumerate() {
        let part = u64::from(byte & 0x7F);
        if at == 9 && part > 1 {
            return None;
        }
        value |= part << (7 * at);
        if byte & 0x80 == 0 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lists() -> impl Strategy<Value = Vec<Posting>> {
        let steps = proptest::collection::vec((1..1u64 << 40, 1..9u32), 1..300);
        let any = proptest::collection::vec((1..9u64, 1..u32::MAX), 1..300);
        proptest::prop_oneof![steps, any].prop_map(|steps| {
            let mut document = 0;
            let posting = |(step, occurrences)| {
                document += step;
                Posting { document, occurrences }
            };
            steps.into_iter().map(posting).collect()
        })
    }

    proptest! {
        #[test]
        fn blocks_give_the_list_back(list in lists(), most in 1..200usize) {
            let mut read = Vec::new();
            let mut rest = &list[..];
            while let Some(first) = rest.first() {
                let mut block = Vec::new();
                let done = encode(rest, most, &mut block);
                prop_assert!(done > 0 && (block.len() <= most || done == 1));
                prop_assert!(decode(first.document, &block, &mut read));
                rest = &rest[done..];
            }
            prop_assert_eq!(read, list);
        }

        #[test]
        fn damage_is_refused_or_gives_a_list(first: u64, block: Vec<u8>) {
            let mut read = Vec::new();
            if decode(first, &block, &mut read) {
                prop_assert!(read[0].document == first);
                prop_assert!(read.windows(2).all(|pair| pair[0].document < pair[1].document));
                prop_assert!(read.iter().all(|posting| posting.occurrences > 0));
            }
        }

        #[test]
        fn blocks_in_any_order_make_one_list(list in lists(), cuts: Vec<usize>) {
            let mut mixed = Vec::new();
            for cut in cuts {
                mixed.extend_from_slice(&list[cut % list.len()..]);
            }
            mixed.extend_from_slice(&list);
            settle(&mut mixed);
            prop_assert_eq!(mixed, list);
        }
    }
}
