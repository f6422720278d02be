//! Groups that several connections receive, with `gtid_ignore_duplicates`: the first connection to
//! offer a number applies it, and owns the number's domain until it has.
//!
//! # Invariants
//! - DUPLICATE-1 At most one connection applies groups of a domain at a moment, so a number that is
//!   not applied is offered by nobody else meanwhile.
//!
//! Must not apply anything.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// The domains that connections apply groups of.
#[derive(Debug, Default)]
pub(super) struct Domains {
    owned: Mutex<BTreeSet<u32>>,
    freed: Condvar,
}

/// A domain that a connection owns, until the value is dropped.
#[derive(Debug)]
pub(super) struct Owned {
    domains: Arc<Domains>,
    domain: u32,
}

/// Answer to a connection that offers a group.
#[derive(Debug)]
pub(super) enum Offer {
    /// It applies the group.
    Owned(Owned),
    /// The group is applied.
    Applied,
    /// Another connection applies groups of the domain.
    Busy,
}

impl Domains {
    /// Offers a group of a domain, for at most `longest`. `is_applied` tells whether it is.
    pub(super) fn offer(
        self: &Arc<Self>,
        domain: u32,
        longest: Duration,
        is_applied: impl Fn() -> bool,
    ) -> Offer {
        let deadline = Instant::now() + longest;
        let mut owned = self.owned.lock();
        loop {
            if is_applied() {
                return Offer::Applied;
            }
            if owned.insert(domain) {
                return Offer::Owned(Owned { domains: Arc::clone(self), domain });
            }
            if self.freed.wait_until(&mut owned, deadline).timed_out() {
                return Offer::Busy;
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.domains.owned.lock().remove(&self.domain);
        self.domains.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// DUPLICATE-1: two connections that receive the same numbers apply each once.
    #[test]
    fn each_number_is_applied_by_one_connection() {
        const NUMBERS: u64 = 300;
        let (domains, last) = (Arc::<Domains>::default(), AtomicU64::new(0));
        let applied: u64 = std::thread::scope(|scope| {
            let apply = || {
                let (mut seq, mut count) = (1, 0);
                while seq <= NUMBERS {
                    let is_applied = || last.load(Ordering::SeqCst) >= seq;
                    match domains.offer(7, Duration::from_secs(9), is_applied) {
                        Offer::Owned(owned) => {
                            std::thread::yield_now();
                            assert_eq!(last.swap(seq, Ordering::SeqCst), seq - 1);
                            count += 1;
                            drop(owned);
                        }
                        Offer::Applied => {}
                        Offer::Busy => panic!("nobody owns a domain for long"),
                    }
                    seq += 1;
                }
                count
            };
            let (first, second) = (scope.spawn(apply), scope.spawn(apply));
            first.join().unwrap() + second.join().unwrap()
        });
        assert_eq!(applied, NUMBERS);
    }

    #[test]
    fn domains_are_owned_each_by_itself() {
        let domains = Arc::<Domains>::default();
        let offer = |domain| domains.offer(domain, Duration::ZERO, || false);
        let first = offer(1);
        assert!(matches!(
            (&first, offer(2), offer(1)),
            (Offer::Owned(_), Offer::Owned(_), Offer::Busy)
        ));
        drop(first);
        assert!(matches!(offer(1), Offer::Owned(_)));
    }
}
