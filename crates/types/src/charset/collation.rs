//! Collations: identity and properties.
//! No algorithms here; comparison, hashing, search and keys are in the sibling files.

use super::Charset;
use super::registry;

/// MariaDB's number of a collation.
#[derive(
    Copy, Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct CollationId(pub u16);

/// Meaning of trailing spaces in a comparison.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pad {
    /// The shorter string is compared as if it were padded with spaces.
    PadSpace,
    /// A string is greater than its prefixes.
    NoPad,
}

/// Source of the weights of characters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// The code of the character.
    Code,
    /// A table of 256 one-byte weights in `data/`.
    Table(u8),
    /// The two-byte weights of `general_ci`.
    General,
    /// The two-byte weights of `general_mysql500_ci`.
    General500,
    /// The Unicode collation algorithm 4.0.0, first level.
    Unicode400,
    /// The Unicode collation algorithm 5.2.0, first level.
    Unicode520,
    /// A table of the Unicode collation algorithm, changed by the tailoring with this number.
    Tailored(u8),
    /// The table of an East Asian character set.
    MultiByte,
    /// German telephone books in latin1: an umlaut counts as two letters.
    German,
    /// An order that depends on the whole text ([`super::whole`]).
    Whole(u8),
}

/// A collation and its properties.
#[derive(Debug)]
pub struct Collation {
    /// MariaDB's number.
    pub id: CollationId,
    /// The name in lower case.
    pub name: &'static str,
    /// Its character set.
    pub charset: Charset,
    /// `SORTLEN` in MariaDB's list.
    pub sort_len: u8,
    /// Meaning of trailing spaces.
    pub pad: Pad,
    pub(crate) rule: Rule,
    /// The further levels of weights that count, numbered from 1; the first level always counts.
    pub(crate) levels: &'static [u8],
}

impl CollationId {
    /// `latin1_swedish_ci`.
    pub const LATIN1_SWEDISH_CI: Self = Self(8);
    /// `ascii_general_ci`.
    pub const ASCII_GENERAL_CI: Self = Self(11);
    /// `utf8mb3_general_ci`, the collation of names and metadata.
    pub const UTF8MB3_GENERAL_CI: Self = Self(33);
    /// `utf8mb4_general_ci`.
    pub const UTF8MB4_GENERAL_CI: Self = Self(45);
    /// `utf8mb4_bin`.
    pub const UTF8MB4_BIN: Self = Self(46);
    /// `latin1_bin`.
    pub const LATIN1_BIN: Self = Self(47);
    /// `binary`.
    pub const BINARY: Self = Self(63);
    /// `utf8mb3_bin`.
    pub const UTF8MB3_BIN: Self = Self(83);
    /// `utf8mb4_unicode_ci`.
    pub const UTF8MB4_UNICODE_CI: Self = Self(224);

    /// The collation with this name; letter case does not count; `utf8_...` is `utf8mb3_...`.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(found) = registry::named(name) {
            return Some(found);
        }
        let name = name.to_ascii_lowercase();
        match name.strip_prefix("utf8_") {
            Some(rest) => registry::named(&format!("utf8mb3_{rest}")),
            None => registry::named(&name),
        }
    }

    /// The collation with this name, in which the character set may be missing (`uca1400_ai_ci`);
    /// `charset` is then used.
    pub fn resolve(name: &str, charset: Charset) -> Option<Self> {
        let short = name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("uca1400_"));
        if short {
            Self::from_name(&format!("{}_{name}", charset.name()))
        } else {
            Self::from_name(name)
        }
    }

    /// The collation with a number from a client, if it is supported.
    pub fn from_number(id: u16) -> Option<Self> {
        registry::find(Self(id)).map(|c| c.id)
    }

    /// All supported collations, by number.
    pub fn all() -> impl Iterator<Item = &'static Collation> {
        registry::all()
    }

    /// The properties; for an unsupported number those of `binary`.
    pub fn info(self) -> &'static Collation {
        registry::find(self).unwrap_or(registry::binary())
    }

    /// The name in lower case.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The character set.
    pub fn charset(self) -> Charset {
        self.info().charset
    }

    /// Whether this is `binary`, which orders bytes, not characters.
    pub const fn is_binary(self) -> bool {
        self.0 == Self::BINARY.0
    }

    /// Whether this is the default of its character set.
    pub fn is_default(self) -> bool {
        self.charset().default_collation() == self
    }
}

impl Collation {
    /// Whether characters compare by their codes (`_bin` collations and `binary`).
    pub fn is_bin(&self) -> bool {
        self.rule == Rule::Code
    }

    /// Whether upper and lower case differ.
    pub fn is_case_sensitive(&self) -> bool {
        self.is_bin() || self.name.ends_with("_cs")
    }

    /// Whether this is the default of its character set.
    pub fn is_default(&self) -> bool {
        self.charset.default_collation() == self.id
    }
}
