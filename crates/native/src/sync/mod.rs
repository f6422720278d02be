//! The crate's source of locks, atomics and pauses: `parking_lot` and `std`, by name only. The
//! models (`crate::models`) are compiled with substitutes, under which a scheduler decides at every
//! step which thread continues; the code they run is the engine's own.
//!
//! Statistics counters (`stripe`) and the simulated disk do not use this module: they are no steps.

#[cfg(all(test, feature = "models"))]
mod modelled;

#[cfg(all(test, feature = "models"))]
pub(crate) use modelled::*;
#[cfg(not(all(test, feature = "models")))]
pub(crate) use parking_lot::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
#[cfg(not(all(test, feature = "models")))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic,
    thread::{sleep, yield_now},
};

/// A capacity, or the smaller one of the models, which have few threads to reach it.
pub(crate) const fn capacity(usual: usize, modelled: usize) -> usize {
    if cfg!(all(test, feature = "models")) { modelled } else { usual }
}
