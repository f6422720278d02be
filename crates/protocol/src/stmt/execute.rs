//! `COM_STMT_EXECUTE`: flags, null bitmap, types and values of the parameters.
//!
//! Must not look up the statement: the caller knows its parameter count, last types and long data.

use super::param::{Param, ParamType};
use crate::error::{DecodeError, DecodeResult};
use crate::reader::Reader;

/// Cursor that EXECUTE requests.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum CursorType {
    /// Rows are sent at once.
    #[default]
    None,
    /// Rows are fetched with `COM_STMT_FETCH`.
    ReadOnly,
}

/// The fixed part of `COM_STMT_EXECUTE`.
#[derive(Clone, Debug)]
pub struct Execute<'a> {
    /// Statement id; `u32::MAX` means the last prepared statement.
    pub statement: u32,
    /// Requested cursor.
    pub cursor: CursorType,
    rest: Reader<'a>,
}

impl<'a> Execute<'a> {
    /// Reads the fixed part, after the command byte.
    pub fn decode(payload: &'a [u8]) -> DecodeResult<Self> {
        let mut r = Reader::new(payload);
        let statement = r.u32("statement id")?;
        let flags = r.u8("execute flags")?;
        r.u32("iteration count")?;
        let cursor = if flags & 1 != 0 { CursorType::ReadOnly } else { CursorType::None };
        Ok(Self { statement, cursor, rest: r })
    }

    /// Reads the parameters and passes each to `put`. `types` are the last bound ones; they are
    /// replaced if new types are sent. `long_data(i)` is the data that was sent in pieces for
    /// parameter `i`. Values without any types are invalid.
    pub fn params(
        &self,
        count: usize,
        types: &mut Vec<ParamType>,
        long_data: impl Fn(usize) -> Option<&'a [u8]>,
        mut put: impl FnMut(Param<'a>),
    ) -> DecodeResult<()> {
        if count == 0 {
            return Ok(());
        }
        let mut r = self.rest.clone();
        let nulls = r.bytes(count.div_ceil(8), "null bitmap")?;
        if r.u8("new parameters flag")? != 0 {
            let mut sent = Vec::with_capacity(count.min(r.remaining()));
            for _ in 0..count {
                sent.push(ParamType::decode(&mut r)?);
            }
            *types = sent;
        }
        if types.len() != count {
            return Err(DecodeError::Invalid("new parameters flag"));
        }
        let is_null = |i: usize| nulls.get(i / 8).is_some_and(|b| b & (1 << (i % 8)) != 0);
        for (i, declared) in types.iter().copied().enumerate() {
            put(match long_data(i) {
                Some(bytes) => Param::of_pieces(bytes, declared)?,
                None if is_null(i) => Param::Null,
                None => Param::decode(&mut r, declared)?,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::binary::{DateTimeParts, TimeParts, put_datetime, put_time};
    use crate::stmt::IntWidth;
    use crate::writer::{put_lenenc_bytes, put_u32};
    use proptest::prelude::*;

    fn params<'a>(
        e: &Execute<'a>,
        count: usize,
        types: &mut Vec<ParamType>,
        long_data: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> DecodeResult<Vec<Param<'a>>> {
        let mut out = Vec::new();
        e.params(count, types, long_data, |param| out.push(param)).map(|()| out)
    }

    fn payload(nulls: &[u8], types: &[(u8, u8)], values: &[u8]) -> Vec<u8> {
        let mut p = Vec::new();
        put_u32(&mut p, 7);
        p.push(0);
        put_u32(&mut p, 1);
        p.extend_from_slice(nulls);
        p.push(1);
        types.iter().for_each(|(t, f)| p.extend_from_slice(&[*t, *f]));
        p.extend_from_slice(values);
        p
    }

    #[test]
    fn all_kinds() {
        let t = DateTimeParts { year: 2024, month: 2, day: 29, hour: 1, ..Default::default() };
        let d = TimeParts { negative: true, hours: 30, micros: 5, ..Default::default() };
        let mut values = vec![0xff, 0xff];
        put_datetime(&mut values, &t);
        put_time(&mut values, &d);
        put_lenenc_bytes(&mut values, b"abc");
        let p = payload(
            &[0b10_0000],
            &[(1, 0), (1, 0x80), (12, 0), (11, 0), (253, 0), (3, 0), (252, 0)],
            &values,
        );
        let e = Execute::decode(&p).unwrap();
        let mut types = Vec::new();
        let got = params(&e, 7, &mut types, |i| (i == 6).then_some(&b"long"[..])).unwrap();
        assert_eq!(
            got,
            [
                Param::Int(-1, IntWidth::Tiny),
                Param::Uint(255, IntWidth::Tiny),
                Param::DateTime(t),
                Param::Time(d),
                Param::Text(b"abc"),
                Param::Null,
                Param::Blob(b"long"),
            ]
        );
        assert_eq!(types.len(), 7);
    }

    #[test]
    fn types_are_remembered() {
        let mut p = payload(&[0], &[(3, 0)], &[5, 0, 0, 0]);
        let mut types = Vec::new();
        params(&Execute::decode(&p).unwrap(), 1, &mut types, |_| None).unwrap();
        p.drain(10..13);
        p[9] = 0;
        p.insert(10, 0);
        let got = params(&Execute::decode(&p).unwrap(), 1, &mut types, |_| None);
        assert_eq!(got, Ok(vec![Param::Int(5, IntWidth::Long)]));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), n in 0usize..40) {
            if let Ok(e) = Execute::decode(&bytes) {
                let _ = params(&e, n, &mut Vec::new(), |_| None);
            }
        }
    }
}
