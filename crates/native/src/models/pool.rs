//! Model of page latches and eviction: no thread reads a page while it is changed or replaced, no
//! change and no frame is lost, and every waiter for a page or a frame continues.

use super::pages::{Pages, id};
use super::{Body, Explore, run};
use crate::ids::PageId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// A thread body that works on the pages.
fn body(pages: &Arc<Pages>, work: impl FnOnce(&Pages) + Send + 'static) -> Body<()> {
    let pages = pages.clone();
    Box::new(move || work(&pages))
}

#[test]
fn readers_see_whole_pages() {
    Explore::schedules(150).run(|| {
        let pages = Pages::new(3, 5);
        run(vec![
            body(&pages, |p| [0, 0, 1].into_iter().for_each(|page| p.change(page))),
            body(&pages, |p| {
                let seen = [0, 0].map(|page| p.peek(page));
                assert!(seen[0] <= seen[1], "time goes back: {seen:?}");
            }),
            body(&pages, |p| p.read_each(&[2, 3, 4, 0])),
        ]);
        pages.check_end();
    });
}

#[test]
fn an_unlatched_reader_notices_a_change() {
    Explore::schedules(300).run(|| {
        let pages = Pages::new(2, 1);
        pages.read(0);
        run(vec![
            body(&pages, |p| p.change(0)),
            body(&pages, |p| {
                p.peek(0);
            }),
        ]);
        pages.check_end();
    });
}

/// The frame of the page read without a latch is given to other pages and then returns to it.
#[test]
fn a_page_that_leaves_and_returns_is_noticed() {
    Explore::schedules(300).run(|| {
        let pages = Pages::new(2, 4);
        pages.read(0);
        run(vec![
            body(&pages, |p| {
                p.peek(0);
                p.peek(0);
            }),
            body(&pages, |p| p.read_each(&[1, 2, 0, 3, 0])),
        ]);
        pages.check_end();
    });
}

#[test]
fn a_page_is_read_once_for_all_who_want_it() {
    Explore::schedules(200).run(|| {
        let pages = Pages::new(4, 3);
        let all = |p: &Pages| p.read_each(&[0, 1]);
        run(vec![body(&pages, all), body(&pages, all), body(&pages, |p| p.change(0))]);
        assert_eq!(pages.pool.reads.load(crate::sync::atomic::Ordering::Relaxed), 2);
        pages.check_end();
    });
}

#[test]
fn whoever_waits_for_a_page_that_cannot_be_read_hears_of_it() {
    Explore::schedules(150).run(|| {
        let pages = Pages::new(3, 3);
        let missing = |p: &Pages| assert!(p.pool.shared(id(77)).is_err());
        run(vec![
            body(&pages, missing),
            body(&pages, missing),
            body(&pages, |p| p.read_each(&[0])),
        ]);
        pages.check_end();
    });
}

/// Runs these bodies beside an evictor thread; at the end no page is latched.
fn with_evictor(pages: &Arc<Pages>, works: Vec<fn(&Pages)>) {
    beside_evictor(pages, works);
    pages.check_end();
}

fn beside_evictor(pages: &Arc<Pages>, works: Vec<fn(&Pages)>) {
    pages.pool.set_background(true);
    let stop = Arc::new(AtomicBool::new(false));
    let left = Arc::new(AtomicUsize::new(works.len()));
    let ended = stop.clone();
    let mut bodies = vec![body(pages, move |p| {
        while !ended.load(Ordering::SeqCst) {
            p.pool.evictor_step(Duration::from_millis(100));
        }
    })];
    for work in works {
        let (left, stop) = (left.clone(), stop.clone());
        bodies.push(body(pages, move |p| {
            work(p);
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                stop.store(true, Ordering::SeqCst);
                p.pool.wake_evictor();
            }
        }));
    }
    run(bodies);
    pages.pool.set_background(false);
}

/// A request must not be lost: no other thread makes another one, or keeps a page from being
/// evicted.
#[test]
fn the_evictor_hears_of_who_waits_for_a_frame() {
    Explore::schedules(1000).run(|| {
        let pages = Pages::new(2, 5);
        with_evictor(&pages, vec![|p| p.read_each(&[0, 1, 2, 3])]);
    });
}

#[test]
fn whoever_waits_for_a_frame_gets_one() {
    Explore::schedules(2000).run(|| {
        let pages = Pages::new(4, 8);
        with_evictor(
            &pages,
            vec![|p| p.read_each(&[0, 1, 2, 3]), |p| {
                [4, 5, 6].into_iter().for_each(|page| p.change(page))
            }],
        );
    });
}

/// Waiters give up when the evictor has often found that no page can leave. That others gave up
/// must not affect later waiters.
#[test]
fn readers_give_up_while_all_pages_are_latched() {
    fn refused(p: &Pages, page: u32) {
        let error = p.pool.shared(id(page)).err().expect("no frame");
        assert!(error.to_string().contains("buffer pool exhausted"), "{error}");
    }
    Explore::schedules(100).with_timeouts().run(|| {
        let pages = Pages::new(2, 5);
        let latched = [0, 1].map(|page| pages.pool.shared(id(page)).expect("latched"));
        beside_evictor(
            &pages,
            vec![|p| {
                refused(p, 2);
                assert!(p.pool.is_exhausted(), "the evictor has not tried often");
            }],
        );
        beside_evictor(&pages, vec![|p| refused(p, 2), |p| refused(p, 2), |p| refused(p, 3)]);
        drop(latched);
        with_evictor(&pages, vec![|p| p.read_each(&[2, 3, 4])]);
    });
}

#[test]
fn a_file_can_go_while_its_pages_are_written() {
    Explore::schedules(100).run(|| {
        let pages = Pages::new(4, 3);
        pages.change(0);
        pages.change(1);
        run(vec![
            body(&pages, |p| p.pool.drop_file(super::pages::FILE)),
            body(&pages, |p| {
                p.pool.write_older_than(p.log.tail(), 9);
            }),
            body(&pages, |p| p.pool.evict_some()),
        ]);
        assert_eq!(pages.pool.free_frames(), pages.pool.capacity());
        assert!(pages.pool.shared(PageId::new(super::pages::FILE, 0)).is_err());
    });
}
