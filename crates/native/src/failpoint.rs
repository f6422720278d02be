//! Named places where a test can end the process. The names are those of the steps that the rules
//! of `docs/durability.md` speak of; outside of unit tests a place is nothing at all.

/// A place that tests know by `name`.
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
        /// Passes still let through.
        left: u64,
        disk: SimDisk,
    }

    // Per thread: simulated processes are single-threaded, and tests run beside each other.
    thread_local! { static ARMED: RefCell<Option<Armed>> = const { RefCell::new(None) } }

    /// Ends the process, and its disk, at the `n`-th pass from now of the place `name`, counted
    /// from 1.
    pub(crate) fn arm(name: &'static str, n: u64, disk: &SimDisk) {
        let armed = Armed { name, left: n, disk: disk.clone() };
        ARMED.with_borrow_mut(|now| *now = Some(armed));
    }

    /// Lets everything pass; whether the place was never reached so often.
    pub(crate) fn disarm() -> bool {
        ARMED.take().is_some()
    }

    /// A place that tests know by `name`.
    pub(crate) fn reached(name: &'static str) {
        let due = ARMED.with_borrow_mut(|now| {
            let armed = now.as_mut().filter(|armed| armed.name == name)?;
            armed.left -= 1;
            if armed.left == 0 { now.take() } else { None }
        });
        // A process that is ending already does not end again.
        if let Some(armed) = due.filter(|_| !std::thread::panicking()) {
            armed.disk.power_off();
            std::panic::panic_any(ProcessEnded);
        }
    }
}
