//! The request for a file of the client (`LOAD DATA LOCAL INFILE`).
//!
//! Must not be sent to a client without the `LOCAL_FILES` capability.

/// Appends the request for the file `name`.
pub fn put_local_infile(out: &mut Vec<u8>, name: &[u8]) {
    out.push(0xfb);
    out.extend_from_slice(name);
}
