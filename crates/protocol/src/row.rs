//! Fields of result rows in the text and the binary protocol.
//!
//! Must not know where values come from.

pub mod binary;
pub mod text;
