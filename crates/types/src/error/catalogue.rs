//! MariaDB 10.11's server errors as data: number, SQLSTATE and text of each.
//!
//! The directives in the texts keep MariaDB's notation (`%s`, `%-.192s`, `%M`, ...), because
//! clients and tests know the texts in that form. `format.rs` replaces them by position.

mod classic;
mod mariadb;
mod modern;
mod partitions;
mod replication;
mod routines;

use std::fmt;

use super::format;

pub use classic::*;
pub use mariadb::*;
pub use modern::*;
pub use partitions::*;
pub use replication::*;
pub use routines::*;

/// One error the server can return.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorDef {
    /// MariaDB's name, `ER_...`.
    pub name: &'static str,
    /// The error number.
    pub code: u16,
    /// The SQLSTATE.
    pub sqlstate: [u8; 5],
    /// The text with its directives.
    pub text: &'static str,
}

impl ErrorDef {
    /// The text with `args` in place of its directives.
    pub fn message(&self, args: &[&dyn fmt::Display]) -> String {
        format::expand(self.text, args)
    }
}

/// Declares constants of one range, and their list in ascending order of number.
macro_rules! errors {
    ($($name:ident = $code:literal $state:literal $text:literal;)*) => {
        $(
            #[doc = $text]
            pub const $name: super::ErrorDef = super::ErrorDef {
                name: stringify!($name),
                code: $code,
                sqlstate: *$state,
                text: $text,
            };
        )*
        pub(super) static ALL: &[super::ErrorDef] = &[$($name),*];
    };
}
use errors;

static RANGES: [&[ErrorDef]; 6] =
    [classic::ALL, routines::ALL, partitions::ALL, replication::ALL, mariadb::ALL, modern::ALL];

/// The definition of an error number.
pub fn by_code(code: u16) -> Option<&'static ErrorDef> {
    let range = RANGES.iter().find(|r| r.last().is_some_and(|d| d.code >= code))?;
    range.binary_search_by_key(&code, |d| d.code).ok().map(|i| &range[i])
}

/// The definition with MariaDB's name.
pub fn by_name(name: &str) -> Option<&'static ErrorDef> {
    all().find(|d| d.name == name)
}

/// All definitions, ascending.
pub fn all() -> impl Iterator<Item = &'static ErrorDef> {
    RANGES.iter().flat_map(|r| r.iter())
}
