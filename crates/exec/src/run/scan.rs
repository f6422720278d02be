//! How rows of tables are found and decoded. Knows no session, so that any thread may use it.

mod computed;
mod decode;
mod fit;
mod like;
mod range;

pub(crate) use computed::{computed, nulls};
pub(crate) use decode::{Decoder, unpad};
pub(crate) use range::{Keys, Range, keys_of, put_equal, ranges_of};
