//! USER_VAR: a user variable that the next statement reads.
//!
//! Must not convert values: they keep the bytes of the event.

use crate::bytes::{Reader, put_long, put_u32};
use crate::error::DecodeResult;

/// A user variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UserVar<'a> {
    /// Name of the variable.
    pub name: &'a [u8],
    /// Value of the variable; none stands for NULL.
    pub value: Option<UserValue<'a>>,
    /// Bytes behind a NULL: empty, unless the event replaces a longer one and fills its length.
    pub behind_null: &'a [u8],
}

/// A value that is not NULL.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UserValue<'a> {
    /// Type of the value, such as [`UserValue::STRING`].
    pub kind: u8,
    /// Number of the value's collation.
    pub collation: u32,
    /// Text, eight bytes of a float or an integer, or precision, scale and digits of a decimal.
    pub bytes: &'a [u8],
    /// Bytes behind the value: an integer has one byte of flags.
    pub flags: &'a [u8],
}

impl UserValue<'_> {
    /// A string.
    pub const STRING: u8 = 0;
    /// A double.
    pub const REAL: u8 = 1;
    /// An integer.
    pub const INT: u8 = 2;
    /// A decimal.
    pub const DECIMAL: u8 = 4;

    /// Whether an integer is unsigned.
    pub fn is_unsigned(&self) -> bool {
        self.flags.first().is_some_and(|flags| flags & 1 != 0)
    }
}

impl<'a> UserVar<'a> {
    pub(super) fn decode(mut rest: Reader<'a>) -> DecodeResult<Self> {
        let length = rest.u32("length of a variable's name")?;
        let name = rest.counted(u64::from(length), "name of a variable")?;
        if rest.u8("whether a variable is null")? != 0 {
            return Ok(Self { name, value: None, behind_null: rest.take_rest() });
        }
        let kind = rest.u8("type of a variable")?;
        let collation = rest.u32("collation of a variable")?;
        let length = rest.u32("length of a variable")?;
        let bytes = rest.counted(u64::from(length), "value of a variable")?;
        let flags = rest.take_rest();
        Ok(Self {
            name,
            value: Some(UserValue { kind, collation, bytes, flags }),
            behind_null: &[],
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_long(out, self.name);
        let Some(value) = &self.value else {
            out.push(1);
            out.extend_from_slice(self.behind_null);
            return;
        };
        out.push(0);
        out.push(value.kind);
        put_u32(out, value.collation);
        put_long(out, value.bytes);
        out.extend_from_slice(value.flags);
    }
}
