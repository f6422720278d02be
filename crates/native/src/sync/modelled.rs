//! The primitives under shuttle: locks with the interface of `parking_lot`, and atomics whose every
//! operation is a step. All are sequentially consistent, so a missing fence is not found here.
//!
//! The atomics have the size of real ones and may be zero bytes, since the pool places them in
//! mapped memory; shuttle's own cannot. Outside of a model they are plain atomics.

use shuttle::rand::Rng;
use shuttle::sync as shuttled;
pub(crate) use shuttle::sync::{RwLockReadGuard, RwLockWriteGuard};
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::Duration;

thread_local! {
    static STEPS: Cell<bool> = const { Cell::new(false) };
    static TIMEOUTS: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether atomic operations of this thread are steps.
pub(crate) fn set_steps(on: bool) {
    STEPS.set(on);
}

/// Sets whether waits with a timeout may end without a wake-up. If they may not, a lost wake-up is
/// a deadlock.
pub(crate) fn set_timeouts(on: bool) {
    TIMEOUTS.set(on);
}

/// A step: the scheduler may switch threads here.
#[inline]
pub(crate) fn step() {
    if STEPS.get() {
        shuttled::atomic::AtomicBool::new(false).load(atomic::Ordering::SeqCst);
    }
}

/// A step without progress of this thread.
pub(crate) fn yield_now() {
    if STEPS.get() {
        shuttle::thread::yield_now();
    }
}

pub(crate) fn sleep(_: Duration) {
    yield_now();
}

pub(crate) fn spin_loop() {
    yield_now();
}

/// `parking_lot::Mutex`.
#[derive(Default, Debug)]
pub(crate) struct Mutex<T>(shuttled::Mutex<T>);

/// `parking_lot::MutexGuard`.
pub(crate) struct MutexGuard<'m, T> {
    mutex: &'m Mutex<T>,
    /// Empty only inside a wait.
    held: Option<shuttled::MutexGuard<'m, T>>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(shuttled::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            mutex: self,
            held: Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        Some(MutexGuard { mutex: self, held: Some(self.0.try_lock().ok()?) })
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.held.as_ref().expect("not inside a wait")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.as_mut().expect("not inside a wait")
    }
}

/// `parking_lot::Condvar`.
#[derive(Default, Debug)]
pub(crate) struct Condvar(shuttled::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Condvar {
        Condvar(shuttled::Condvar::new())
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.held.take().expect("one wait at a time");
        guard.held = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// Wait with a timeout. To others, a wait that timed out looks as if it had ended when it
    /// began, however late its thread continues; so it is modelled as a wait that ends at once.
    pub(crate) fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: Duration) {
        if !TIMEOUTS.get() || shuttle::rand::thread_rng().gen_bool(0.5) {
            return self.wait(guard);
        }
        guard.held = None;
        yield_now();
        guard.held = guard.mutex.lock().held.take();
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// `parking_lot::RwLock`.
#[derive(Default, Debug)]
pub(crate) struct RwLock<T>(shuttled::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) const fn new(value: T) -> RwLock<T> {
        RwLock(shuttled::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> shuttled::RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn try_write(&self) -> Option<shuttled::RwLockWriteGuard<'_, T>> {
        self.0.try_write().ok()
    }

    pub(crate) fn write(&self) -> shuttled::RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `std::sync::atomic`.
pub(crate) mod atomic {
    use super::step;
    pub(crate) use std::sync::atomic::Ordering;

    /// Does nothing: every step is sequentially consistent.
    pub(crate) fn fence(_: Ordering) {}

    macro_rules! atomic {
        ($name:ident, $value:ty, $($what:tt)*) => {
            #[derive(Default, Debug)]
            #[repr(transparent)]
            pub(crate) struct $name(std::sync::atomic::$name);

            #[allow(dead_code, reason = "not every operation is used on every type")]
            impl $name {
                pub(crate) const fn new(value: $value) -> $name {
                    $name(std::sync::atomic::$name::new(value))
                }

                pub(crate) fn load(&self, _: Ordering) -> $value {
                    step();
                    self.0.load(Ordering::SeqCst)
                }

                pub(crate) fn store(&self, value: $value, _: Ordering) {
                    step();
                    self.0.store(value, Ordering::SeqCst);
                }

                pub(crate) fn swap(&self, value: $value, _: Ordering) -> $value {
                    step();
                    self.0.swap(value, Ordering::SeqCst)
                }

                pub(crate) fn compare_exchange(
                    &self,
                    current: $value,
                    new: $value,
                    _: Ordering,
                    _: Ordering,
                ) -> Result<$value, $value> {
                    step();
                    self.0.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst)
                }

                pub(crate) fn compare_exchange_weak(
                    &self,
                    current: $value,
                    new: $value,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$value, $value> {
                    self.compare_exchange(current, new, success, failure)
                }

                pub(crate) fn fetch_update(
                    &self,
                    _: Ordering,
                    _: Ordering,
                    update: impl FnMut($value) -> Option<$value>,
                ) -> Result<$value, $value> {
                    step();
                    self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, update)
                }

                atomic!(@ $value, $($what)*);
            }
        };
        (@ $value:ty, flag) => {};
        (@ $value:ty, number) => {
            atomic!(@op fetch_add $value);
            atomic!(@op fetch_sub $value);
            atomic!(@op fetch_max $value);
            atomic!(@op fetch_min $value);
            atomic!(@op fetch_or $value);
        };
        (@op $op:ident $value:ty) => {
            pub(crate) fn $op(&self, value: $value, _: Ordering) -> $value {
                step();
                self.0.$op(value, Ordering::SeqCst)
            }
        };
    }

    atomic!(AtomicBool, bool, flag);
    atomic!(AtomicU8, u8, number);
    atomic!(AtomicU16, u16, number);
    atomic!(AtomicU32, u32, number);
    atomic!(AtomicU64, u64, number);
    atomic!(AtomicI64, i64, number);
    atomic!(AtomicUsize, usize, number);

    /// Chunks of memory are published through this pointer; its operations are steps too.
    #[repr(transparent)]
    pub(crate) struct AtomicPtr<T>(std::sync::atomic::AtomicPtr<T>);

    impl<T> AtomicPtr<T> {
        pub(crate) const fn new(pointer: *mut T) -> AtomicPtr<T> {
            AtomicPtr(std::sync::atomic::AtomicPtr::new(pointer))
        }

        pub(crate) fn load(&self, _: Ordering) -> *mut T {
            step();
            self.0.load(Ordering::SeqCst)
        }

        pub(crate) fn store(&self, pointer: *mut T, _: Ordering) {
            step();
            self.0.store(pointer, Ordering::SeqCst);
        }
    }
}
