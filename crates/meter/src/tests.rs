//! Tests of accounts, with this crate's allocator as that of the test program.
//!
//! Limits are the process's, so the tests run one at a time.

use std::alloc::System;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use selkie_types::error::catalogue::{
    ER_OPTION_PREVENTS_STATEMENT, ER_OUT_OF_RESOURCES, ER_STATEMENT_TIMEOUT,
};

use crate::*;

#[global_allocator]
static ALLOCATOR: Counting<System> = Counting(System);

/// Lock of a test: the limits are the whole process's.
static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE.lock()
}

fn account() -> Arc<Account> {
    let account = Arc::new(Account::default());
    account.begin_command();
    account
}

#[test]
fn a_thread_charges_whom_it_works_for() {
    let _alone = alone();
    let (one, other) = (account(), account());
    let of_one = attach(&one);
    let held = vec![0u8; 1_000_000];
    {
        let _of_other = attach(&other);
        drop(vec![0u8; 3_000_000]);
    }
    drop(of_one);
    assert_eq!((one.used(), one.most()), (1_000_000, 1_000_000));
    assert_eq!(other.used(), 0);
    assert!((3_000_000..3_000_100).contains(&other.most()));
    assert!(total_used() > 900_000);
    drop(held);
    assert_eq!(one.used(), 1_000_000, "freed by somebody else");
}

#[test]
fn each_limit_has_its_error() {
    let _alone = alone();
    let account = account();
    let _attached = attach(&account);
    set_limits(i64::MAX, 1_000_000);
    let mut held = vec![0u8; 500_000];
    assert!(check().is_ok());
    assert!(room(600_000).is_err_and(|e| e.is(&ER_OUT_OF_RESOURCES)));
    held.resize(1_200_000, 0);
    assert!(spend(1).is_err_and(|e| e.is(&ER_OUT_OF_RESOURCES)));
    assert!(spend(1).is_err(), "it holds it still");
    drop(held);
    assert!(spend(1).is_ok());
    let held = vec![0u8; 700_000];
    account.set_limit(600_000);
    assert!(check().is_err_and(|e| e.is(&ER_OPTION_PREVENTS_STATEMENT)));
    drop(held);
    set_limits(i64::MAX, i64::MAX);
    account.set_deadline(Some(Instant::now()));
    assert!(check().is_err_and(|e| e.is(&ER_STATEMENT_TIMEOUT)));
    account.begin_command();
    assert!(check().is_ok());
}

#[test]
fn a_large_value_that_grows_is_there_once() {
    let _alone = alone();
    let account = account();
    let _attached = attach(&account);
    let mut held: Vec<u8> = Vec::with_capacity(2 << 20);
    held.resize(2 << 20, 1);
    held.reserve_exact(2 << 20);
    assert_eq!(account.most(), 4 << 20);
    assert!(check().is_ok());
    drop(held);
    assert!(check().is_ok());
    assert!(account.used() < 1000);
}

#[test]
fn work_that_returns_no_errors_is_ended() {
    let _alone = alone();
    let account = account();
    let _attached = attach(&account);
    account.ask(Asked::EndStatement);
    tick(usize::MAX >> 1);
    let ended = interruptible(|| {
        loop {
            tick(1000);
        }
    });
    assert!(ended.is_err());
    let _free = detached();
    assert_eq!(
        interruptible(|| {
            tick(1 << 30);
            5
        })
        .ok(),
        Some(5)
    );
}

#[test]
fn work_that_cannot_be_ended_makes_the_next_look_come_sooner() {
    let _alone = alone();
    let account = account();
    let _attached = attach(&account);
    assert!(check().is_ok() && spend(1 << 20).is_ok());
    account.ask(Asked::EndStatement);
    for _ in 0..10 {
        tick(1 << 20);
    }
    assert!(spend(1).is_err());
}

#[test]
fn a_large_block_keeps_its_bytes_wherever_it_grows() {
    let _alone = alone();
    let account = account();
    let _attached = attach(&account);
    let byte = |at: usize| (at / 4096) as u8 ^ at as u8;
    let mut block: Vec<u8> = (0..1 << 20).map(byte).collect();
    for size in [3 << 20, 9 << 20, 40 << 20] {
        let from = block.len();
        block.reserve_exact(size - from);
        block.extend((from..size).map(byte));
        assert!(check().is_ok());
        assert_eq!(account.used(), size as i64);
    }
    for size in [5 << 20, 1 << 20] {
        block.truncate(size);
        block.shrink_to_fit();
        assert!(block.iter().enumerate().all(|(at, b)| *b == byte(at)));
    }
    drop(block);
    assert!(vec![0u8; 5 << 20].iter().all(|b| *b == 0));
    assert!(check().is_ok());
    assert_eq!(account.used(), 0);
}

#[test]
fn much_is_asked_for_before_it_is_made() {
    let _alone = alone();
    let account = account();
    let _attached = attach(&account);
    set_limits(i64::MAX, 1_000_000);
    assert!(ask(200_000).is_ok());
    assert!(ask(900_000).is_ok());
    assert!(ask(1_100_000).is_err_and(|e| e.is(&ER_OUT_OF_RESOURCES)));
    let made = interruptible(|| {
        demand(1_100_000);
        vec![1u8; 1_100_000]
    });
    assert!(made.is_err_and(|e| e.is(&ER_OUT_OF_RESOURCES)));
    assert!(account.most() < 1_000_000);
    demand(1_100_000);
    set_limits(i64::MAX, i64::MAX);
}

#[test]
fn small_blocks_given_back_are_told_when_the_work_is_over() {
    let _alone = alone();
    let account = account();
    let blocks: Vec<_> = (0..10_000).map(|_| vec![0u8; 100]).collect();
    let before = total_used();
    drop((attach(&account), blocks));
    drop(detached());
    assert!(total_used() < before - 900_000, "{} of {before}", total_used());
}

#[test]
fn the_block_freed_last_is_given_first_and_none_is_given_twice() {
    let _alone = alone();
    let blocks = || (0..40).map(|n| vec![n; 1024]).collect::<Vec<Vec<u64>>>();
    for _ in 0..3 {
        let filled = blocks();
        let mut all: Vec<_> = filled.iter().map(|block| block.as_ptr()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), filled.len());
        assert!(filled.iter().zip(0..).all(|(block, n)| block.iter().all(|v| *v == n)));
    }
    let one = vec![7u64; 1024];
    let at = one.as_ptr();
    drop(one);
    let next = vec![0u64; 1024];
    assert_eq!((next.as_ptr(), next.iter().max()), (at, Some(&0)));
    // A thread that ends gives back what it keeps, whoever allocated it.
    let moved = blocks();
    std::thread::spawn(move || drop(moved)).join().expect("no panic");
    drop(blocks());
}

#[test]
fn a_block_that_grows_and_shrinks_keeps_its_bytes() {
    let _alone = alone();
    let mut bytes: Vec<u8> = Vec::new();
    for n in 0..20_000_u32 {
        bytes.push(n as u8);
        if n % 97 == 0 {
            bytes.shrink_to_fit();
        }
    }
    assert!(bytes.iter().zip(0..).all(|(byte, n): (&u8, u32)| *byte == n as u8));
    while !bytes.is_empty() {
        bytes.truncate(bytes.len() - bytes.len().div_ceil(10));
        bytes.shrink_to_fit();
    }
    let (before, words) = (total_used(), vec![0u64; 1000]);
    drop(words);
    assert!(total_used() <= before + (64 << 10));
}

#[test]
fn memory_set_aside_leaves_the_statements_their_room() {
    let _alone = alone();
    let account = account();
    let _attached = attach(&account);
    let cache = {
        let _server = detached();
        vec![1u8; 20 << 20]
    };
    set_limits(total_used() + (1 << 20), i64::MAX);
    let held = vec![1u8; 6 << 20];
    assert!(check().is_err_and(|e| e.is(&ER_OUT_OF_RESOURCES)));
    set_aside(20 << 20);
    assert!(check().is_ok());
    set_aside(-(20 << 20));
    assert!(check().is_err());
    drop((held, cache));
    set_limits(i64::MAX, i64::MAX);
}
