//! Buffers that a thread keeps from one statement to the next: a short statement allocates nothing
//! for the rows it reads. A thread keeps one buffer per slot, and only if it is small.

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::thread::LocalKey;

/// A thread's place for one buffer.
pub type KeptSlot<T> = Cell<Option<Box<T>>>;

/// A buffer type that can be kept.
pub trait Keepable: Default + 'static {
    /// Removes the content and keeps the capacity; false if that is too large to be kept.
    fn empty(&mut self) -> bool;
}

impl Keepable for Vec<u8> {
    fn empty(&mut self) -> bool {
        const MOST: usize = 64 << 10;
        self.clear();
        self.capacity() <= MOST
    }
}

/// An empty buffer from the thread's slot; it returns there when dropped. While the slot is empty,
/// other calls get new buffers.
pub struct Kept<T: Keepable> {
    slot: &'static LocalKey<KeptSlot<T>>,
    buffer: Option<Box<T>>,
}

impl<T: Keepable> Kept<T> {
    /// The buffer kept in `slot`, or a new one.
    pub fn take(slot: &'static LocalKey<KeptSlot<T>>) -> Self {
        let kept = slot.try_with(Cell::take).ok().flatten();
        Self { slot, buffer: Some(kept.unwrap_or_default()) }
    }
}

impl<T: Keepable> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.buffer.as_ref().expect("a buffer is there until it goes back")
    }
}

impl<T: Keepable> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.buffer.as_mut().expect("a buffer is there until it goes back")
    }
}

impl<T: Keepable> Drop for Kept<T> {
    fn drop(&mut self) {
        let Some(mut buffer) = self.buffer.take() else { return };
        if buffer.empty() {
            // A thread that ends has no slot any more.
            let _ = self.slot.try_with(|slot| slot.set(Some(buffer)));
        }
    }
}

impl<T: Keepable + fmt::Debug> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local!(static SLOT: KeptSlot<Vec<u8>> = const { Cell::new(None) });

    #[test]
    fn a_buffer_comes_back_empty_with_its_room() {
        let mut first = Kept::take(&SLOT);
        first.extend_from_slice(&[1; 100]);
        let second = Kept::take(&SLOT);
        assert_eq!((first.len(), second.len(), second.capacity()), (100, 0, 0));
        drop(second);
        drop(first);
        let third = Kept::take(&SLOT);
        assert!(third.is_empty() && third.capacity() >= 100);
    }

    #[test]
    fn large_ones_are_not_kept() {
        Kept::take(&SLOT).reserve(1 << 20);
        assert_eq!(Kept::take(&SLOT).capacity(), 0);
    }
}
