//! The page: its 64-byte header and its checksum. What the other 16,320 bytes mean belongs to the
//! page's owner (the B+tree, the space maps); nothing here looks at them.

mod header;

pub(crate) use header::*;
