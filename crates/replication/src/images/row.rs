//! Images one behind the other. Each has bits for its NULL columns, then the other values.
//!
//! Must not know the purpose of the rows: the kind of change is not seen here.

use crate::bytes::Reader;
use crate::error::{DecodeError, DecodeResult};
use crate::images::column::Column;
use crate::images::value::Value;

/// Shape of the images of an event: the columns that are present in them.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Position in the table and type of each present column.
    present: Vec<(usize, Column)>,
}

impl Shape {
    /// The columns whose bits are set, from the lowest on.
    pub fn new(columns: &[Column], present: &[u8]) -> DecodeResult<Self> {
        if present.len() != columns.len().div_ceil(8) {
            return Err(DecodeError::Invalid("present columns"));
        }
        let is_present = |at: usize| present.get(at / 8).is_some_and(|b| b & (1 << (at % 8)) != 0);
        let all = columns.iter().copied().enumerate();
        Ok(Self { present: all.filter(|(at, _)| is_present(*at)).collect() })
    }

    /// The present columns, with their positions in the table.
    pub fn columns(&self) -> &[(usize, Column)] {
        &self.present
    }

    /// Appends an image of one value for each present column. Appends nothing and returns false if
    /// count or types of the values do not fit.
    pub fn put(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> bool {
        if values.len() != self.present.len() {
            return false;
        }
        let begin = out.len();
        // The unused bits of the last byte are set.
        let bits = |part: &[Value<'_>]| {
            let bit = |byte: u8, (at, value): (usize, &Value<'_>)| match value {
                Value::Null => byte,
                _ => byte & !(1 << at),
            };
            part.iter().enumerate().fold(0xff, bit)
        };
        out.extend(values.chunks(8).map(bits));
        let mut pairs = values.iter().zip(&self.present);
        let fits = pairs.all(|(value, (_, column))| match value {
            Value::Null => true,
            value => value.put(column.kind, out),
        });
        if !fits {
            out.truncate(begin);
        }
        fits
    }
}

/// The images of a rows event.
#[derive(Clone, Debug)]
pub struct Images<'a> {
    reader: Reader<'a>,
}

impl<'a> Images<'a> {
    /// The images in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes) }
    }

    pub(super) fn reader(&mut self) -> &mut Reader<'a> {
        &mut self.reader
    }

    /// Whether all images are read.
    pub fn is_empty(&self) -> bool {
        self.reader.is_empty()
    }

    /// Clears `values` and reads the next image of a shape into it.
    pub fn next(&mut self, shape: &Shape, values: &mut Vec<Value<'a>>) -> DecodeResult<()> {
        values.clear();
        if shape.present.is_empty() {
            return Err(DecodeError::Invalid("image without columns"));
        }
        let nulls = self.reader.bytes(shape.present.len().div_ceil(8), "null columns")?;
        for (at, (_, column)) in shape.present.iter().enumerate() {
            let is_null = nulls.get(at / 8).is_some_and(|bits| bits & (1 << (at % 8)) != 0);
            values.push(match is_null {
                true => Value::Null,
                false => Value::read(column.kind, &mut self.reader)?,
            });
        }
        Ok(())
    }
}
