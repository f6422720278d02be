//! Numbers and text: MariaDB's rules for reading and printing.
//!
//! Reports what was lost; the caller decides between a warning and an error.

mod double;
mod float;
mod integer;
mod real;

pub use double::{write_f64, write_f64_within, write_fixed};
pub use float::write_f32;
pub use integer::{
    f64_to_i64, f64_to_u64, parse_integer, parse_integer_rounded, write_i64, write_u64,
    write_zerofill,
};
pub use real::{largest_of_digits, parse_f64, round_f64_to, round_fraction, truncate_f64_to};

/// Rest of a text after a number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    None,
    /// Only spaces: MariaDB reports a note.
    Spaces,
    /// Something else, or there was no number at all: MariaDB reports a warning.
    Garbage,
}

impl Rest {
    /// Kind of the rest `text[at..]`.
    pub fn of(text: &[u8], at: usize) -> Self {
        if at >= text.len() {
            Self::None
        } else if skip_spaces(text, at) == text.len() {
            Self::Spaces
        } else {
            Self::Garbage
        }
    }
}

/// A number that was read from the start of a text.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Parsed<T> {
    /// The number: zero if there was none, the nearest end of the range after an overflow.
    pub value: T,
    /// Rest of the text after the number.
    pub rest: Rest,
    /// Offset of the end of the number; zero if there was none.
    pub consumed: usize,
    /// The number is outside the range of its type.
    pub overflow: bool,
}

/// The position of the first byte from `at` that is not white space.
pub fn skip_spaces(text: &[u8], at: usize) -> usize {
    let is_space = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r');
    text[at..].iter().position(|b| !is_space(b)).map_or(text.len(), |n| at + n)
}
