//! Finding and decoding rows of tables. Must not know a session, so that any thread may use it.
//! Shared by table scans, lookups and HANDLER.

mod ahead;
mod columns;
pub(crate) mod computed;
mod conjunct;
mod decode;
mod encoded;
mod fit;
mod lane_rows;
mod like;
mod parts;
mod range;

pub(crate) use ahead::{Ahead, BlockRows, Fold, Read, has_parameter, suits_lanes};
pub(crate) use columns::{ColumnParts, Piece};
pub(crate) use computed::{computed, nulls};
pub(crate) use decode::{Decoder, unpad};
pub(crate) use encoded::Encoded;
pub(crate) use lane_rows::LaneRows;
pub(crate) use parts::{leaves, parts_read};
pub(crate) use range::{Keys, Range, keys_of, put_equal, ranges_of};
