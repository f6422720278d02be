//! Status variables of QUERY events: the session's settings that a statement depends on.
//!
//! Must not apply defaults: what an event does not say is not here.

use crate::bytes::{Reader, put_le, put_short, put_u16, put_u32, put_u64};
use crate::error::DecodeResult;

/// Bits of [`StatusVar::Flags2`].
pub mod flags2 {
    /// `sql_auto_is_null` is on.
    pub const AUTO_IS_NULL: u32 = 1 << 14;
    /// `check_constraint_checks` is off.
    pub const NO_CHECK_CONSTRAINTS: u32 = 1 << 15;
    /// `autocommit` is off.
    pub const NOT_AUTOCOMMIT: u32 = 1 << 19;
    /// `explicit_defaults_for_timestamp` is on.
    pub const EXPLICIT_DEFAULTS: u32 = 1 << 24;
    /// `foreign_key_checks` is off.
    pub const NO_FOREIGN_KEYS: u32 = 1 << 26;
    /// `unique_checks` is off.
    pub const NO_UNIQUE_CHECKS: u32 = 1 << 27;
    /// `sql_if_exists` is on.
    pub const IF_EXISTS: u32 = 1 << 28;
    /// `system_versioning_insert_history` is on.
    pub const INSERT_HISTORY: u32 = 1 << 30;
}

/// One status variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StatusVar<'a> {
    /// See [`flags2`].
    Flags2(u32),
    /// `sql_mode`.
    SqlMode(u64),
    /// The catalog with a zero behind it, as MySQL 5.0.0 to 5.0.3 wrote it.
    CatalogNul(&'a [u8]),
    /// `auto_increment_increment` and `auto_increment_offset`.
    AutoIncrement(u16, u16),
    /// Numbers of `character_set_client`, `collation_connection`, `collation_server`.
    Charset(u16, u16, u16),
    /// `time_zone`.
    TimeZone(&'a [u8]),
    /// The catalog.
    Catalog(&'a [u8]),
    /// Number of `lc_time_names`.
    LcTimeNames(u16),
    /// Number of `collation_database`.
    CollationDatabase(u16),
    /// Tables that a multi-table UPDATE changes, a bit for each.
    TableMapForUpdate(u64),
    /// Account that a definition belongs to: user and host.
    Invoker(&'a [u8], &'a [u8]),
    /// Microseconds of the time at which the statement began.
    HrNow(u32),
    /// Number of the transaction that a definition was changed in.
    Xid(u64),
    /// Flags of the group, and what an ALTER that was split began as.
    GtidFlags3(u8, Option<u64>),
    /// A variable of MySQL alone, with its code and bytes.
    Other(u8, &'a [u8]),
    /// A variable that is not known, and all that is behind it.
    Unknown(u8, &'a [u8]),
}

/// Bits of [`StatusVar::GtidFlags3`] with a number behind them: COMMIT and ROLLBACK of an ALTER.
const HAS_START: u8 = 4 | 8;

/// The status variables of an event, as bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusVars<'a>(pub &'a [u8]);

impl<'a> StatusVars<'a> {
    /// The variables in order. Nothing comes behind an error, or behind one that is not known.
    pub fn iter(self) -> impl Iterator<Item = DecodeResult<StatusVar<'a>>> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || {
            if reader.is_empty() {
                return None;
            }
            let found = StatusVar::decode(&mut reader);
            if found.is_err() {
                reader.take_rest();
            }
            Some(found)
        })
    }

    /// The bytes as far as their length fits into two bytes.
    pub(super) fn short(self) -> &'a [u8] {
        self.0.get(..usize::from(u16::MAX)).unwrap_or(self.0)
    }
}

impl<'a> StatusVar<'a> {
    /// The next variable of at least one byte.
    fn decode(reader: &mut Reader<'a>) -> DecodeResult<Self> {
        let code = reader.u8("code of a status variable")?;
        Ok(match code {
            0 => Self::Flags2(reader.u32("flags2")?),
            1 => Self::SqlMode(reader.u64("sql_mode")?),
            2 => Self::CatalogNul(reader.short_name("catalog")?),
            3 => Self::AutoIncrement(reader.u16("auto_increment")?, reader.u16("auto_increment")?),
            4 => {
                let mut number = || reader.u16("charset");
                Self::Charset(number()?, number()?, number()?)
            }
            5 => Self::TimeZone(reader.short_bytes("time zone")?),
            6 => Self::Catalog(reader.short_bytes("catalog")?),
            7 => Self::LcTimeNames(reader.u16("lc_time_names")?),
            8 => Self::CollationDatabase(reader.u16("collation_database")?),
            9 => Self::TableMapForUpdate(reader.u64("tables to update")?),
            11 => Self::Invoker(reader.short_bytes("user")?, reader.short_bytes("host")?),
            128 => Self::HrNow(reader.le(3, "microseconds")? as u32),
            129 => Self::Xid(reader.u64("xid")?),
            130 => {
                let flags = reader.u8("flags of the group")?;
                let has_start = flags & HAS_START != 0;
                Self::GtidFlags3(flags, has_start.then(|| reader.u64("start")).transpose()?)
            }
            code => Self::of_mysql(code, reader)?,
        })
    }

    /// A variable that MariaDB does not write.
    fn of_mysql(code: u8, reader: &mut Reader<'a>) -> DecodeResult<Self> {
        let field = "status variable of MySQL";
        let length = match code {
            10 => 4,
            12 => databases(reader.peek())?,
            13 => 3,
            16 | 19 | 20 => 1,
            17 => 8,
            18 => 2,
            code => return Ok(Self::Unknown(code, reader.take_rest())),
        };
        Ok(Self::Other(code, reader.bytes(length, field)?))
    }

    /// Appends the variable.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.code());
        match *self {
            Self::Flags2(flags) => put_u32(out, flags),
            Self::SqlMode(number) | Self::TableMapForUpdate(number) | Self::Xid(number) => {
                put_u64(out, number);
            }
            Self::CatalogNul(name) => super::query::put_name(out, name),
            Self::AutoIncrement(increment, offset) => {
                put_u16(out, increment);
                put_u16(out, offset);
            }
            Self::Charset(client, connection, server) => {
                [client, connection, server].iter().for_each(|number| put_u16(out, *number));
            }
            Self::TimeZone(text) | Self::Catalog(text) => put_short(out, text),
            Self::LcTimeNames(number) | Self::CollationDatabase(number) => put_u16(out, number),
            Self::Invoker(user, host) => {
                put_short(out, user);
                put_short(out, host);
            }
            Self::HrNow(micros) => put_le(out, u64::from(micros), 3),
            Self::GtidFlags3(flags, start) => {
                out.push(flags);
                start.iter().for_each(|start| put_u64(out, *start));
            }
            Self::Other(_, bytes) | Self::Unknown(_, bytes) => out.extend_from_slice(bytes),
        }
    }

    fn code(&self) -> u8 {
        match self {
            Self::Flags2(_) => 0,
            Self::SqlMode(_) => 1,
            Self::CatalogNul(_) => 2,
            Self::AutoIncrement(..) => 3,
            Self::Charset(..) => 4,
            Self::TimeZone(_) => 5,
            Self::Catalog(_) => 6,
            Self::LcTimeNames(_) => 7,
            Self::CollationDatabase(_) => 8,
            Self::TableMapForUpdate(_) => 9,
            Self::Invoker(..) => 11,
            Self::HrNow(_) => 128,
            Self::Xid(_) => 129,
            Self::GtidFlags3(..) => 130,
            Self::Other(code, _) | Self::Unknown(code, _) => *code,
        }
    }
}

/// Count of databases that stands for "too many to name".
const TOO_MANY: u8 = 254;

/// Length of MySQL's list of databases that a statement changes: a count, names with zeros behind.
fn databases(bytes: &[u8]) -> DecodeResult<usize> {
    let mut reader = Reader::new(bytes);
    let count = reader.u8("count of databases")?;
    let names = if count == TOO_MANY { 0 } else { count };
    for _ in 0..names {
        let rest = reader.peek();
        let name = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        reader.bytes(name.saturating_add(1), "name of a database")?;
    }
    Ok(bytes.len() - reader.remaining())
}
