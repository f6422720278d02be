//! Tests of order, equality and hashes under each collation.
//! Equal texts must have equal hashes and keys under every one of them.

use std::cmp::Ordering::{self, *};

use proptest::prelude::*;

use super::*;

fn compare(collation: &str, a: &[u8], b: &[u8]) -> Ordering {
    let c = CollationId::from_name(collation).unwrap().info();
    let order = c.compare(a, b);
    assert_eq!(c.compare(b, a), order.reverse());
    assert_eq!(c.equal(a, b), order == Equal);
    if order == Equal {
        assert_eq!(c.hash(a, 1), c.hash(b, 1));
    }
    order
}

fn text(collation: &str, a: &str, b: &str) -> Ordering {
    compare(collation, a.as_bytes(), b.as_bytes())
}

#[test]
fn registry() {
    for c in CollationId::all() {
        assert_eq!(CollationId::from_name(c.name), Some(c.id));
        assert_eq!(c.id.info().name, c.name);
    }
    assert_eq!(CollationId::from_name("utf8_general_ci"), Some(CollationId::UTF8MB3_GENERAL_CI));
    assert_eq!(Charset::from_name("UTF8"), Some(Charset::Utf8mb3));
    assert_eq!(Charset::Utf8mb4.bin_collation(), CollationId::UTF8MB4_BIN);
    assert!(CollationId::from_number(9999).is_none());
    for &c in Charset::ALL {
        assert_eq!(c.default_collation().charset(), c);
        assert_eq!(c.bin_collation().charset(), c);
    }
}

#[test]
fn trailing_spaces() {
    for c in ["utf8mb4_general_ci", "utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_unicode_ci"] {
        assert_eq!(text(c, "a", "a  "), Equal, "{c}");
        assert_eq!(text(c, "", "  "), Equal, "{c}");
        assert_eq!(text(c, "a", "a x"), Less, "{c}");
    }
    assert_eq!(text("utf8mb4_general_ci", "a", "a\t"), Greater);
    assert_eq!(text("utf8mb4_bin", "a", "a\t"), Greater);
    for c in ["binary", "utf8mb4_nopad_bin", "utf8mb4_general_nopad_ci", "latin1_swedish_nopad_ci"]
    {
        assert_eq!(text(c, "a", "a "), Less, "{c}");
    }
}

#[test]
fn letters() {
    assert_eq!(text("utf8mb4_general_ci", "résumé", "RESUME"), Equal);
    assert_eq!(text("utf8mb4_general_ci", "ß", "s"), Equal);
    assert_eq!(text("utf8mb4_unicode_ci", "ß", "ss"), Equal);
    assert_eq!(text("utf8mb4_general_ci", "😀", "😁"), Equal);
    assert_eq!(text("utf8mb4_unicode_520_ci", "😀", "😁"), Less);
    assert_eq!(text("utf8mb4_bin", "a", "B"), Greater);
    assert_eq!(text("utf8mb4_bin", "é", "ê"), Less);
    assert_eq!(compare("latin1_swedish_ci", b"\xE9", b"E"), Equal);
    assert_eq!(compare("latin1_swedish_ci", b"\xC4", b"Z"), Greater);
    assert_eq!(compare("latin1_german1_ci", b"\xC4", b"A"), Equal);
    assert_eq!(compare("utf16_bin", b"\xFF\x5E", b"\xD8\x3D\xDE\x00"), Less);
    assert_eq!(compare("ucs2_general_ci", b"\0a", b"\0A\0 "), Equal);
    assert_eq!(text("utf8mb4_unicode_ci", "a\u{1}b", "ab"), Equal);
}

fn any_text() -> impl Strategy<Value = String> {
    "[aAbB \t\u{0}éÉßsſ€漢😀😁]{0,6}"
}

proptest! {
    #[test]
    fn order_is_transitive_and_hashes_agree(a in any_text(), b in any_text(), c in any_text()) {
        for collation in CollationId::all() {
            let convert = |s: &str| Charset::Utf8mb4.convert(s.as_bytes(), collation.charset).0.into_owned();
            let (a, b, c) = (convert(&a), convert(&b), convert(&c));
            let (ab, bc) = (collation.compare(&a, &b), collation.compare(&b, &c));
            prop_assert_eq!(collation.compare(&b, &a), ab.reverse());
            if ab == bc {
                prop_assert_eq!(collation.compare(&a, &c), ab);
            }
            prop_assert_eq!(collation.equal(&a, &b), ab == Equal);
            if ab == Equal {
                prop_assert_eq!(collation.hash(&a, 7), collation.hash(&b, 7));
            }
        }
    }

    #[test]
    fn conversion_round_trips(text in "\\PC{0,12}") {
        for charset in [Charset::Utf16, Charset::Utf16le, Charset::Utf32] {
            let there = Charset::Utf8mb4.convert(text.as_bytes(), charset).0;
            let back = charset.convert(&there, Charset::Utf8mb4).0;
            prop_assert_eq!(&back[..], text.as_bytes());
            prop_assert_eq!(charset.char_count(&there), text.chars().count());
            prop_assert!(charset.is_well_formed(&there));
        }
    }
}
