//! Named places where a test can end the process. Their names are those of the steps in the rules
//! of `docs/durability.md`. Outside of unit tests they compile to nothing.

/// The place `name`; does nothing outside of unit tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn reached(_name: &'static str) {}

#[cfg(test)]
pub(crate) use armed::{arm, disarm, reached};

#[cfg(test)]
mod armed {
    use crate::disk::sim::{ProcessEnded, SimDisk};
    use std::cell::RefCell;

    struct Armed {
        name: &'static str,
        /// Passes that are still let through.
        left: u64,
        disk: SimDisk,
    }

    // Per thread: a simulated process has one thread, and tests run in parallel.
    thread_local! { static ARMED: RefCell<Option<Armed>> = const { RefCell::new(None) } }

    /// Makes the `n`-th pass of the place `name` from now, counted from 1, end the process and its
    /// disk.
    pub(crate) fn arm(name: &'static str, n: u64, disk: &SimDisk) {
        let armed = Armed { name, left: n, disk: disk.clone() };
        ARMED.with_borrow_mut(|now| *now = Some(armed));
    }

    /// Disarms the place. Returns true if it was not passed often enough.
    pub(crate) fn disarm() -> bool {
        ARMED.take().is_some()
    }

    /// The place `name`; ends the process if it is armed and due.
    pub(crate) fn reached(name: &'static str) {
        let due = ARMED.with_borrow_mut(|now| {
            let armed = now.as_mut().filter(|armed| armed.name == name)?;
            armed.left -= 1;
            if armed.left == 0 { now.take() } else { None }
        });
        // A process that is already ending does not end again.
        if let Some(armed) = due.filter(|_| !std::thread::panicking()) {
            armed.disk.power_off();
            std::panic::panic_any(ProcessEnded);
        }
    }
}
