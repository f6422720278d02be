//! Packets of a server's answers: OK, ERR, EOF, column definitions, file requests.
//!
//! Must not decide which packets answer a command.

mod column;
mod eof;
mod err;
mod local_infile;
mod ok;

pub use column::{ColumnDef, put_column_count};
pub use eof::put_eof;
pub use err::{put_err, put_err_text};
pub use local_infile::put_local_infile;
pub use ok::{Ok, put_ok};
