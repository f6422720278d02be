//! Columns of images for each `binlog_row_image`, compared with images that MariaDB wrote.
//!
//! Relies on the order of statements in `image_minimal` and `image_noblob` of the corpus: their
//! facts are listed in it.

mod common;

use common::corpus;
use selkie_replication::Event;
use selkie_replication::codec::Change;
use selkie_replication::file::Events;
use selkie_replication::images::{ColumnFacts, RowImage};

#[test]
fn images_have_the_columns_that_matter() {
    let none = ColumnFacts::default();
    let key = ColumnFacts { in_key: true, ..none };
    let set = ColumnFacts { is_assigned: true, ..none };
    let blob = ColumnFacts { is_blob: true, ..none };
    let virtual_one = ColumnFacts { is_virtual: true, is_assigned: true, ..none };
    let changed_blob = ColumnFacts { is_blob: true, is_assigned: true, ..none };
    let columns = [key, set, none, blob, virtual_one, changed_blob, none, none, none];
    assert_eq!(RowImage::Full.before(&columns), [0xff, 1]);
    assert_eq!(RowImage::Full.after(&columns), [0xff, 1]);
    assert_eq!(RowImage::Minimal.before(&columns), [0b1, 0]);
    assert_eq!(RowImage::Minimal.after(&columns), [0b10_0010, 0]);
    assert_eq!(RowImage::NoBlob.before(&columns), [0b1101_0111, 1]);
    assert_eq!(RowImage::NoBlob.after(&columns), [0b1111_0111, 1]);
    for image in [RowImage::Minimal, RowImage::NoBlob] {
        assert_eq!(
            (image.before(&columns[1..]), image.after(&columns[1..])),
            (vec![0xff], vec![0xff])
        );
    }
}

/// Facts about columns, a letter for each fact: k key, a assigned, b blob, v virtual.
fn facts(text: &str) -> Vec<ColumnFacts> {
    let column = |letters: &str| ColumnFacts {
        in_key: letters.contains('k'),
        is_assigned: letters.contains('a'),
        is_blob: letters.contains('b'),
        is_virtual: letters.contains('v'),
    };
    text.split(' ').map(column).collect()
}

/// Compares the columns in the images of a recorded file with those selected for each event.
fn compare(name: &str, image: RowImage, statements: &[&str]) {
    let files = corpus();
    let file = files.iter().find(|file| file.name == name).unwrap();
    let mut statements = statements.iter();
    for placed in Events::new(&file.log) {
        let Event::Rows(rows) = placed.unwrap().event else { continue };
        let text = statements.next().unwrap();
        let columns = facts(text);
        let (before, after) = (image.before(&columns), image.after(&columns));
        let expected = match rows.change {
            Change::Write => (after, Vec::new()),
            Change::Update => (before, after),
            Change::Delete => (before, Vec::new()),
        };
        let found = (rows.present.to_vec(), rows.present_after.to_vec());
        assert_eq!(expected, found, "{name}: {:?} {text}", rows.change);
    }
    assert_eq!(statements.next(), None);
}

#[test]
fn minimal_images_are_those_of_mariadb() {
    let statements = [
        "ka a a b va a",
        "k - a b va a",
        "k - - ba v a",
        "k - - b v -",
        "a a ka ba",
        "- - k ba",
        "- - k b",
        "a a",
        "a -",
        "- -",
    ];
    compare("image_minimal", RowImage::Minimal, &statements);
}

#[test]
fn images_without_blobs_are_those_of_mariadb() {
    let statements = ["ka ba ba a a a", "k b b a - -", "k ba b - - -", "k b b - - -"];
    compare("image_noblob", RowImage::NoBlob, &statements);
}
