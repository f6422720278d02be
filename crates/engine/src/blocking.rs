//! Tells the owner of a thread that the thread is about to wait, or that it makes progress. The
//! owner may let another thread work meanwhile, or do what cannot wait. All waits but those for a
//! latch go through [`blocking`].
//!
//! Must not wait itself. Never called while a latch is held (I30).

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::WaitKind;

/// Observer of the waits of one thread.
pub trait WaitObserver: Send + Sync {
    /// The thread is about to wait.
    fn begin(&self, kind: WaitKind);
    /// The wait is over.
    fn end(&self, kind: WaitKind);
    /// The thread makes progress; called at least once per batch of rows.
    fn goes_on(&self) {}
    /// The thread's statement reads much, and holds nothing that others wait for.
    fn reads_much(&self) {}
}

thread_local! {
    static OBSERVER: RefCell<Option<Arc<dyn WaitObserver>>> = const { RefCell::new(None) };
    static NOTE: RefCell<Option<Arc<AtomicU8>>> = const { RefCell::new(None) };
    static WAITING: Cell<bool> = const { Cell::new(false) };
}

/// Sets the observer of this thread's waits.
pub fn observe_waits(observer: Option<Arc<dyn WaitObserver>>) {
    OBSERVER.with(|cell| *cell.borrow_mut() = observer);
}

/// Sets the byte in which each wait of this thread is noted while it lasts: the kind's number plus
/// one, as [`noted_wait`] reads it. Returns the byte used before.
pub fn note_waits(note: Option<Arc<AtomicU8>>) -> Option<Arc<AtomicU8>> {
    NOTE.with(|cell| cell.replace(note))
}

/// The wait noted in `note`, if one lasts.
pub fn noted_wait(note: &AtomicU8) -> Option<WaitKind> {
    let number = note.load(Ordering::Relaxed);
    WaitKind::ALL.into_iter().find(|kind| *kind as u8 + 1 == number)
}

/// A noted wait; dropping it ends the note.
struct Noted(Option<Arc<AtomicU8>>);

impl Noted {
    fn begin(kind: WaitKind) -> Self {
        let note = NOTE.with(|cell| cell.borrow().clone());
        if let Some(note) = &note {
            note.store(kind as u8 + 1, Ordering::Relaxed);
        }
        Self(note)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(note) = &self.0 {
            note.store(0, Ordering::Relaxed);
        }
    }
}

/// Runs `wait`, which may block. The observer hears only of the outermost of nested calls.
pub fn blocking<R>(kind: WaitKind, wait: impl FnOnce() -> R) -> R {
    let _noted = Noted::begin(kind);
    let observer = OBSERVER.with(|cell| cell.borrow().clone());
    let Some(observer) = observer.filter(|_| !WAITING.replace(true)) else { return wait() };
    let _end = Ended { observer: &*observer, kind };
    observer.begin(kind);
    wait()
}

/// Tells the observer that this thread makes progress. Not with a latch held.
pub fn going_on() {
    OBSERVER.with_borrow(|observer| {
        if let Some(observer) = observer {
            observer.goes_on();
        }
    });
}

/// Tells the observer that this thread's statement reads much, and holds nothing that others wait
/// for.
pub fn reading_much() {
    OBSERVER.with_borrow(|observer| {
        if let Some(observer) = observer {
            observer.reads_much();
        }
    });
}

/// Reports the end of a wait when dropped, so also when the wait ends by a panic.
struct Ended<'a> {
    observer: &'a dyn WaitObserver,
    kind: WaitKind,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        WAITING.set(false);
        self.observer.end(self.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[derive(Default)]
    struct Count(AtomicU32, AtomicU32);

    impl WaitObserver for Count {
        fn begin(&self, _: WaitKind) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn end(&self, _: WaitKind) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn outer_waits_are_told_once() {
        let count = Arc::new(Count::default());
        observe_waits(Some(count.clone()));
        let result = blocking(WaitKind::Sleep, || blocking(WaitKind::RowLock, || 7));
        observe_waits(None);
        blocking(WaitKind::Sleep, || ());
        let seen = (count.0.load(Ordering::Relaxed), count.1.load(Ordering::Relaxed));
        assert_eq!((result, seen), (7, (1, 1)));
    }
}
