//! Where the crate's locks, atomics and pauses come from: `parking_lot` and `std`, by name only.
//! The models (`crate::models`) are compiled with others in their place, under which a scheduler
//! decides at every step which thread goes on; what they run is the engine's own code.
//!
//! Counters that nothing decides by (`stripe`) and the simulated disk stay outside: they are no
//! steps.

#[cfg(all(test, feature = "models"))]
mod modelled;

#[cfg(all(test, feature = "models"))]
pub(crate) use modelled::*;
#[cfg(not(all(test, feature = "models")))]
pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
#[cfg(not(all(test, feature = "models")))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic,
    thread::{sleep, yield_now},
};

/// A capacity, or the smaller one of the models: what takes many threads here must take few there.
pub(crate) const fn capacity(usual: usize, modelled: usize) -> usize {
    if cfg!(all(test, feature = "models")) { modelled } else { usual }
}
