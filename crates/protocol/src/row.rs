//! Fields of result rows in the text and the binary protocol.
//!
//! Must not know where the values come from.

pub mod binary;
pub mod text;
