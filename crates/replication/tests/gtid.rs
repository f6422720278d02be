//! Rules about the numbers of groups: their texts, strict mode, counting, positions.
//!
//! Expected results must be those of MariaDB 10.11, also where they look odd.

use selkie_replication::Gtid;
use selkie_replication::gtid::{BinlogState, OutOfOrder, ParseError, Position};

fn gtid(text: &str) -> Gtid {
    text.parse().unwrap()
}

fn position(text: &str) -> Position {
    text.parse().unwrap()
}

#[test]
fn numbers_are_three_integers() {
    assert_eq!(gtid("1-2-3"), Gtid { domain: 1, server: 2, seq: 3 });
    assert_eq!(gtid("4294967295-4294967295-18446744073709551615").seq, u64::MAX);
    for text in [" 1-2-3", "1- 2-+3", "\t+1-02-003", "\n1-2- \r3"] {
        assert_eq!(gtid(text), gtid("1-2-3"), "{text:?}");
    }
    let bad = [
        "",
        "1",
        "1-2",
        "1-2-3-4",
        "a-2-3",
        "1-2-",
        "-1-2-3",
        "1--2-3",
        "1-2-3 ",
        "1 -2-3",
        "+ 1-2-3",
        "1-2-3.5",
        "0x1-2-3",
        "4294967296-1-1",
        "1-1-18446744073709551616",
    ];
    assert!(bad.iter().all(|text| text.parse::<Gtid>() == Err(ParseError::Malformed)));
}

#[test]
fn lists_have_a_domain_once() {
    assert_eq!(position("2-2-5, 0-1-3").to_string(), "0-1-3,2-2-5");
    assert!(position("").is_empty() && position("").to_string().is_empty());
    let twice = "0-1-3,0-2-4".parse::<Position>();
    assert_eq!(twice, Err(ParseError::DuplicateDomain(gtid("0-1-3"), gtid("0-2-4"))));
    for text in [" ", "0-1-3,", ",0-1-3", "0-1-3 ,1-1-1", "0-1-3 1-1-1"] {
        assert_eq!(text.parse::<Position>(), Err(ParseError::Malformed), "{text:?}");
    }
    let servers: BinlogState = "0-1-3,0-2-4".parse().unwrap();
    assert_eq!(servers.last(0), Some(gtid("0-2-4")));
    let twice: BinlogState = "0-1-3,0-1-4".parse().unwrap();
    assert_eq!(twice.to_string(), "0-1-4");
}

#[test]
fn the_next_number_is_above_all_that_were_seen() {
    let mut state = BinlogState::default();
    assert_eq!(state.next_seq(0), Some(1));
    state.add(gtid("0-1-5"));
    state.add(gtid("0-2-3"));
    assert_eq!((state.next_seq(0), state.next_seq(1)), (Some(6), Some(1)));
    state.add(gtid("1-1-18446744073709551615"));
    assert_eq!(state.next_seq(1), None);
}

#[test]
fn strict_mode_wants_rising_numbers() {
    let mut state = BinlogState::default();
    state.add(gtid("0-1-5"));
    let refused = |text| Err(OutOfOrder { gtid: gtid(text), existing: gtid("0-1-5") });
    assert_eq!(state.check_strict(gtid("0-2-5")), refused("0-2-5"));
    assert_eq!(state.check_strict(gtid("0-1-4")), refused("0-1-4"));
    assert_eq!(state.check_strict(gtid("0-1-7")), Ok(()));
    assert_eq!(state.check_strict(gtid("1-1-1")), Ok(()));
}

#[test]
fn after_a_lower_number_strict_mode_goes_on_from_it_but_counting_does_not() {
    // As MariaDB 10.11 did it: 0-8-2 without strict mode behind 0-3-13, then 0-8-5 in strict mode.
    let mut state: BinlogState = "0-1-9,0-2-4,0-3-13".parse().unwrap();
    state.add(gtid("0-8-2"));
    assert_eq!(state.check_strict(gtid("0-8-5")), Ok(()));
    state.add(gtid("0-8-5"));
    assert_eq!(state.next_seq(0), Some(14));
}

#[test]
fn a_state_keeps_servers_and_which_was_last() {
    let mut state = BinlogState::default();
    ["0-1-1", "0-2-2", "3-1-7", "0-1-3"].iter().for_each(|text| state.add(gtid(text)));
    assert_eq!(state.to_string(), "0-2-2,0-1-3,3-1-7");
    assert_eq!(state.position(), position("0-1-3,3-1-7"));
    assert_eq!(state.gtids().collect::<BinlogState>(), state);
    assert!(state.has(gtid("0-2-1")) && !state.has(gtid("0-2-3")) && !state.has(gtid("0-9-1")));
    assert_eq!(state.last_of(0, 2), Some(gtid("0-2-2")));
    assert!(state.forget(3) && !state.forget(3));
    assert_eq!(state.to_string(), "0-2-2,0-1-3");
}

#[test]
fn positions_are_compared_by_domain() {
    let here = position("0-1-5,1-1-2");
    assert!(here.has(gtid("0-9-5")) && !here.has(gtid("0-1-6")) && !here.has(gtid("2-1-1")));
    assert!(here.reaches(&position("0-1-5")) && here.reaches(&position("")));
    assert!(!here.reaches(&position("0-1-5,1-1-3")) && !here.reaches(&position("2-1-1")));
    let mut risen = here.clone();
    risen.raise(gtid("0-1-4"));
    assert_eq!(risen, here);
    risen.raise(gtid("0-2-6"));
    assert_eq!(risen.to_string(), "0-2-6,1-1-2");
}

#[test]
fn the_current_position_has_groups_of_the_server_itself() {
    let applied = position("0-1-5,1-1-2");
    let logged: BinlogState = "0-7-9,1-3-4,2-7-1".parse().unwrap();
    let current = applied.current(logged.position().gtids(), 7);
    assert_eq!(current.to_string(), "0-7-9,1-1-2,2-7-1");
}
