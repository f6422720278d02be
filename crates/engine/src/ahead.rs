//! Prefetch: asks the processor to load memory that will be used soon, while it does other work.
//!
//! A prefetch is only a hint. It reads nothing and may be given any address, also one of memory
//! that is freed by then.

use std::sync::Arc;

/// Bytes of a cache line.
pub const CACHE_LINE: usize = 64;

/// Asks for the cache lines of `bytes` bytes at `address`. Any address is allowed: nothing is read,
/// and nothing happens if there is no such memory any more.
#[inline]
pub fn fetch_ahead(address: usize, bytes: usize) {
    let first = address & !(CACHE_LINE - 1);
    for line in (first..address + bytes).step_by(CACHE_LINE) {
        fetch_line(line);
    }
}

/// Address and length of the strong count of a text. It is the first of the two counts in front of
/// the text.
pub fn count_of(text: &Arc<str>) -> (usize, usize) {
    (text.as_ptr().addr() - size_of::<usize>() * 2, size_of::<usize>())
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn fetch_line(address: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint. It reads nothing the program could see and cannot fault,
    // whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) }
}

/// Other processors get no hint: a missing hint only costs time.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn fetch_line(_: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_memory_does_not_fault() {
        for address in [0, 1, 64, usize::MAX / 2, usize::MAX - 4096] {
            fetch_ahead(address, 200);
        }
    }

    #[test]
    fn texts_are_counted_in_front() {
        let text: Arc<str> = Arc::from("counted");
        let others = vec![text.clone(); 41];
        let (address, bytes) = count_of(&text);
        let count = Arc::as_ptr(&text).cast::<usize>().with_addr(address);
        assert_eq!(bytes, size_of_val(&Arc::strong_count(&text)));
        // SAFETY: the address lies in the memory of `text`, which no other thread has.
        assert_eq!(unsafe { count.read() }, others.len() + 1);
    }
}
