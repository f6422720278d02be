//! Keys: byte strings whose order (memcmp) is the order of the values, part after part.
//!
//! A part that may be NULL starts with [`NULL`] or [`NOT_NULL`]; NULL sorts first. No key is a
//! prefix of another key of the same parts. A descending part is the ascending part with all bytes
//! inverted ([`invert`]). Must not know about tables: the caller chooses the parts.

mod decode;
mod number;
mod part;
mod simple;
#[cfg(test)]
mod tests;
mod text;

pub use decode::KeyReader;
pub use number::{
    decimal_width, put_date, put_datetime, put_decimal, put_f32, put_f64, put_i64, put_int,
    put_time, put_u64, put_uint,
};
pub use part::KeyPart;
pub use text::{put_text, put_text_prefix, text_len};

/// First byte of a part that is NULL.
pub const NULL: u8 = 0;
/// First byte of a nullable part that has a value.
pub const NOT_NULL: u8 = 1;

/// Turns an ascending part into a descending one, and back.
pub fn invert(part: &mut [u8]) {
    for b in part {
        *b = !*b;
    }
}

/// The smallest key greater than all keys that start with `prefix`; `false` if there is none.
pub fn successor(prefix: &mut Vec<u8>) -> bool {
    while let Some(last) = prefix.pop() {
        if last < 0xFF {
            prefix.push(last + 1);
            return true;
        }
    }
    false
}
