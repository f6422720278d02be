//! The `sql_mode` variable as a bit set, with MariaDB's names, bits and combination modes.
//! Clients see the number as `@@sql_mode+0`, so the bits must never change.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use crate::error::catalogue::{ER_WRONG_VALUE_FOR_VAR, ErrorDef};
use crate::error::{SqlError, SqlResult};

const WRONG_VALUE: &ErrorDef = &ER_WRONG_VALUE_FOR_VAR;

/// A set of sql modes; the bits are MariaDB's.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct SqlMode(u64);

macro_rules! modes {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl SqlMode {
            $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)*
        }
        /// Names in bit order.
        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

modes! {
    /// `REAL` is `FLOAT`.
    REAL_AS_FLOAT = 0;
    /// `||` concatenates.
    PIPES_AS_CONCAT = 1;
    /// Double quotes enclose identifiers.
    ANSI_QUOTES = 2;
    /// A space may stand between a function name and its parenthesis.
    IGNORE_SPACE = 3;
    /// Unknown table options are warnings.
    IGNORE_BAD_TABLE_OPTIONS = 4;
    /// Selected columns must be grouped or aggregated.
    ONLY_FULL_GROUP_BY = 5;
    /// The difference of unsigned numbers is signed.
    NO_UNSIGNED_SUBTRACTION = 6;
    /// `DATA DIRECTORY` is ignored.
    NO_DIR_IN_CREATE = 7;
    /// PostgreSQL flavour.
    POSTGRESQL = 8;
    /// Oracle flavour.
    ORACLE = 9;
    /// SQL Server flavour.
    MSSQL = 10;
    /// DB2 flavour.
    DB2 = 11;
    /// MaxDB flavour.
    MAXDB = 12;
    /// `SHOW CREATE TABLE` leaves out key options.
    NO_KEY_OPTIONS = 13;
    /// `SHOW CREATE TABLE` leaves out table options.
    NO_TABLE_OPTIONS = 14;
    /// `SHOW CREATE TABLE` leaves out field options.
    NO_FIELD_OPTIONS = 15;
    /// MySQL 3.23 flavour.
    MYSQL323 = 16;
    /// MySQL 4.0 flavour.
    MYSQL40 = 17;
    /// Standard SQL flavour.
    ANSI = 18;
    /// Zero is stored and does not generate the next auto-increment value.
    NO_AUTO_VALUE_ON_ZERO = 19;
    /// A backslash is an ordinary character.
    NO_BACKSLASH_ESCAPES = 20;
    /// Bad values are errors in transactional tables.
    STRICT_TRANS_TABLES = 21;
    /// Bad values are errors in all tables.
    STRICT_ALL_TABLES = 22;
    /// A month or day of zero is a bad date.
    NO_ZERO_IN_DATE = 23;
    /// `0000-00-00` is a bad date.
    NO_ZERO_DATE = 24;
    /// Any day up to 31 is accepted in any month.
    ALLOW_INVALID_DATES = 25;
    /// Division by zero is reported.
    ERROR_FOR_DIVISION_BY_ZERO = 26;
    /// Strict, with all date checks.
    TRADITIONAL = 27;
    /// `GRANT` does not create accounts.
    NO_AUTO_CREATE_USER = 28;
    /// `NOT` binds tighter than comparison.
    HIGH_NOT_PRECEDENCE = 29;
    /// A missing engine is an error.
    NO_ENGINE_SUBSTITUTION = 30;
    /// `CHAR` values keep their padding.
    PAD_CHAR_TO_FULL_LENGTH = 31;
    /// The empty string literal is NULL.
    EMPTY_STRING_IS_NULL = 32;
    /// `UPDATE` assigns all columns at once.
    SIMULTANEOUS_ASSIGNMENT = 33;
    /// Fractional seconds are rounded, not cut.
    TIME_ROUND_FRACTIONAL = 34;
}

impl SqlMode {
    /// No mode at all.
    pub const EMPTY: Self = Self(0);

    /// Default of a server.
    pub const DEFAULT: Self = Self(
        Self::STRICT_TRANS_TABLES.0
            | Self::ERROR_FOR_DIVISION_BY_ZERO.0
            | Self::NO_AUTO_CREATE_USER.0
            | Self::NO_ENGINE_SUBSTITUTION.0,
    );

    const STRICT: Self = Self(Self::STRICT_TRANS_TABLES.0 | Self::STRICT_ALL_TABLES.0);

    /// Whether all modes of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether bad values are errors, at least in transactional tables.
    pub fn is_strict(self) -> bool {
        self.0 & Self::STRICT.0 != 0
    }

    /// The number that `@@sql_mode+0` shows.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// This set plus `other`.
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set minus `other`.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set with this number, combination modes expanded.
    pub fn from_bits(bits: u64) -> SqlResult<Self> {
        if bits >> NAMES.len() != 0 {
            return Err(SqlError::new(WRONG_VALUE, &[&"sql_mode", &bits]));
        }
        Ok(Self(bits).expanded())
    }

    /// The set for a list `A,B,...`, combination modes expanded.
    pub fn parse(list: &str) -> SqlResult<Self> {
        let mut bits = 0;
        for word in list.split(',').map(str::trim_end).filter(|w| !w.is_empty()) {
            let bit = NAMES.iter().position(|n| n.eq_ignore_ascii_case(word));
            let by_number = || word.parse::<usize>().ok().filter(|&n| n < NAMES.len());
            match bit.or_else(by_number) {
                Some(bit) => bits |= 1 << bit,
                None => return Err(SqlError::new(WRONG_VALUE, &[&"sql_mode", &word])),
            }
        }
        Ok(Self(bits).expanded())
    }

    /// Adds the modes that the combination modes stand for.
    fn expanded(self) -> Self {
        let foreign = Self::PIPES_AS_CONCAT | Self::ANSI_QUOTES | Self::IGNORE_SPACE;
        let bare = foreign | Self::NO_KEY_OPTIONS | Self::NO_TABLE_OPTIONS | Self::NO_FIELD_OPTIONS;
        let traditional = Self::STRICT
            | Self::NO_ZERO_IN_DATE
            | Self::NO_ZERO_DATE
            | Self::ERROR_FOR_DIVISION_BY_ZERO
            | Self::NO_AUTO_CREATE_USER
            | Self::NO_ENGINE_SUBSTITUTION;
        let combinations = [
            (Self::ANSI, foreign | Self::REAL_AS_FLOAT),
            (Self::POSTGRESQL, bare),
            (Self::MSSQL, bare),
            (Self::DB2, bare),
            (Self::MAXDB, bare | Self::NO_AUTO_CREATE_USER),
            (Self::ORACLE, bare | Self::NO_AUTO_CREATE_USER | Self::SIMULTANEOUS_ASSIGNMENT),
            (Self::MYSQL323, Self::HIGH_NOT_PRECEDENCE),
            (Self::MYSQL40, Self::HIGH_NOT_PRECEDENCE),
            (Self::TRADITIONAL, traditional),
        ];
        let mut all = self;
        for (mode, meaning) in combinations {
            if self.contains(mode) {
                all = all | meaning;
            }
        }
        all
    }
}

impl BitOr for SqlMode {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for SqlMode {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Default for SqlMode {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for SqlMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = NAMES.iter().enumerate().filter(|(bit, _)| self.0 >> bit & 1 == 1);
        for (i, (_, name)) in set.enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_text() {
        assert_eq!(
            SqlMode::DEFAULT.to_string(),
            "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
        );
        assert_eq!(SqlMode::parse(&SqlMode::DEFAULT.to_string()).unwrap(), SqlMode::DEFAULT);
    }

    #[test]
    fn combinations() {
        assert_eq!(
            SqlMode::parse("ansi").unwrap().to_string(),
            "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI"
        );
        assert!(SqlMode::parse("TRADITIONAL").unwrap().contains(SqlMode::STRICT_ALL_TABLES));
        assert!(SqlMode::parse("").unwrap() == SqlMode::EMPTY);
    }

    #[test]
    fn unknown_names() {
        let e = SqlMode::parse("ANSI,FOO").unwrap_err();
        assert_eq!(e.message(), "Variable 'sql_mode' can't be set to the value of 'FOO'");
        assert!(SqlMode::from_bits(1 << 35).is_err());
    }
}
