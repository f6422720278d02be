//! The page: its 64-byte header and its checksum. The other 16,320 bytes belong to the page's owner
//! (the B+tree, the space maps); nothing here may read them.

mod header;

pub(crate) use header::*;
