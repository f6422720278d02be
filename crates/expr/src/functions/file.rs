//! LOAD_FILE.
//! No I/O here: the session reads the file and checks privileges and `secure_file_priv`.

use selkie_types::{CollationId, Column, SqlResult};

use crate::expr::Expr;
use crate::function::{Binding, Function, Nature};
use crate::kernel::{Frame, bytes_to_bytes};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] =
    &[Function::new("LOAD_FILE", 1, 1, bind).nature(Nature::Volatile)];

fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.utf8_text(0);
    b.collation = CollationId::BINARY;
    let ty = b.string_type(u32::MAX.into());
    b.maybe(ty, load)
}

/// NULL for a file that does not exist, must not be read or is too long.
fn load(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |name, out| {
        let Ok(name) = std::str::from_utf8(name) else { return false };
        let Some(content) = frame.ctx.session.load_file(name, frame.ctx.types.max_allowed_packet)
        else {
            return false;
        };
        if frame.too_long(content.len()) {
            return false;
        }
        out.extend_from_slice(&content);
        true
    })
}
