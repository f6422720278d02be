//! `COM_STMT_BULK_EXECUTE`: one statement, many rows of parameters.
//!
//! Must not look up the statement: the caller knows its parameter count and types.

use super::param::{Param, ParamType};
use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;

/// One cell of a bulk row.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkCell<'a> {
    /// A value.
    Value(Param<'a>),
    /// The column's default.
    Default,
    /// The column is left out of the row.
    Ignore,
}

/// The head of `COM_STMT_BULK_EXECUTE`.
#[derive(Clone, Debug)]
pub struct Bulk<'a> {
    /// Statement id.
    pub statement: u32,
    /// Whether the client wants a result for each row.
    pub unit_results: bool,
    sends_types: bool,
    rest: Reader<'a>,
}

const SEND_UNIT_RESULTS: u16 = 64;
const SEND_TYPES: u16 = 128;

impl<'a> Bulk<'a> {
    /// Reads the head, after the command byte.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        let statement = r.u32("statement id")?;
        let flags = r.u16("bulk flags")?;
        if flags & !(SEND_UNIT_RESULTS | SEND_TYPES) != 0 {
            return Err(DecodeError::Invalid("bulk flags"));
        }
        Ok(Self {
            statement,
            unit_results: flags & SEND_UNIT_RESULTS != 0,
            sends_types: flags & SEND_TYPES != 0,
            rest: r,
        })
    }

    /// Reads all rows of `count` parameters, and converts each cell with `make`.
    pub fn rows<T>(
        &self,
        count: usize,
        types: &mut Vec<ParamType>,
        mut make: impl FnMut(BulkCell<'a>) -> T,
    ) -> DecodeResult<Vec<Vec<T>>> {
        let mut r = self.rest.clone();
        if self.sends_types {
            *types = (0..count).map(|_| ParamType::decode(&mut r)).collect::<DecodeResult<_>>()?;
        }
        if count == 0 || types.len() != count {
            return Err(DecodeError::Invalid("bulk parameters"));
        }
        let mut rows = Vec::new();
        while !r.is_empty() {
            let mut row = Vec::with_capacity(count);
            for declared in types.iter() {
                row.push(make(cell(&mut r, *declared)?));
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

fn cell<'a>(r: &mut Reader<'a>, declared: ParamType) -> DecodeResult<BulkCell<'a>> {
    Ok(match r.u8("bulk indicator")? {
        0 => BulkCell::Value(Param::decode(r, declared)?),
        1 => BulkCell::Value(Param::Null),
        2 => BulkCell::Default,
        3 | 4 => BulkCell::Ignore,
        _ => return Err(DecodeError::Invalid("bulk indicator")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stmt::IntWidth;
    use proptest::prelude::*;

    #[test]
    fn two_rows() {
        let p = [1, 0, 0, 0, 128, 0, 3, 0, 253, 0, 0, 9, 0, 0, 0, 1, 2, 0, 2, b'h', b'i'];
        let bulk = Bulk::decode(&p).unwrap();
        let rows = bulk.rows(2, &mut Vec::new(), |cell| cell).unwrap();
        assert_eq!(
            rows[0],
            [BulkCell::Value(Param::Int(9, IntWidth::Long)), BulkCell::Value(Param::Null)]
        );
        assert_eq!(rows[1], [BulkCell::Default, BulkCell::Value(Param::Text(b"hi"))]);
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), n in 0usize..9) {
            if let Ok(b) = Bulk::decode(&bytes) {
                let _ = b.rows(n, &mut Vec::new(), |cell| cell);
            }
        }
    }
}
