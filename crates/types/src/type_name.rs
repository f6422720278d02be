//! Types as `SHOW COLUMNS` and `SHOW CREATE TABLE` write them.
//! Compat: the text is MariaDB's exactly, because clients parse it.

use std::fmt;

use crate::{FixedBinary, NOT_FIXED_DECIMALS, SqlType, TypeKind};

/// A string literal as MariaDB prints it in definitions.
pub fn quote_string(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

impl SqlType {
    /// Whether this is a string of bytes, not of characters.
    pub fn is_binary_string(&self) -> bool {
        self.is_string() && self.collation.is_binary()
    }

    /// The name alone, as `DATA_TYPE` shows it.
    pub fn name(&self) -> &'static str {
        if let Some(kind) = self.geometry_kind() {
            return kind.name();
        }
        let binary = self.is_binary_string();
        let pick = |text, bytes| if binary { bytes } else { text };
        match self.kind {
            TypeKind::Null => "null",
            TypeKind::TinyInt => "tinyint",
            TypeKind::SmallInt => "smallint",
            TypeKind::MediumInt => "mediumint",
            TypeKind::Int => "int",
            TypeKind::BigInt => "bigint",
            TypeKind::Float => "float",
            TypeKind::Double => "double",
            TypeKind::Decimal => "decimal",
            TypeKind::Bit => "bit",
            TypeKind::Year => "year",
            TypeKind::Date => "date",
            TypeKind::Time => "time",
            TypeKind::DateTime => "datetime",
            TypeKind::Timestamp => "timestamp",
            TypeKind::Char => pick("char", "binary"),
            TypeKind::VarChar => pick("varchar", "varbinary"),
            TypeKind::TinyText => pick("tinytext", "tinyblob"),
            TypeKind::Text => pick("text", "blob"),
            TypeKind::MediumText => pick("mediumtext", "mediumblob"),
            TypeKind::LongText => pick("longtext", "longblob"),
            TypeKind::Enum => "enum",
            TypeKind::Set => "set",
            TypeKind::Inet4 => FixedBinary::Inet4.name(),
            TypeKind::Inet6 => FixedBinary::Inet6.name(),
            TypeKind::Uuid => FixedBinary::Uuid.name(),
        }
    }

    fn write_arguments(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Bit
            | TypeKind::Year
            | TypeKind::Char
            | TypeKind::VarChar => write!(f, "({})", self.length),
            TypeKind::Decimal => write!(f, "({},{})", self.length, self.decimals),
            TypeKind::Float | TypeKind::Double if self.decimals != NOT_FIXED_DECIMALS => {
                write!(f, "({},{})", self.length, self.decimals)
            }
            TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp if self.decimals > 0 => {
                write!(f, "({})", self.decimals)
            }
            TypeKind::Enum | TypeKind::Set => self.write_members(f),
            _ => Ok(()),
        }
    }

    fn write_members(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (at, member) in self.members.iter().flat_map(|m| m.iter()).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{}", quote_string(member))?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for SqlType {
    /// The text of `COLUMN_TYPE`, without the charset.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.write_arguments(f)?;
        if self.is_numeric() && !matches!(self.kind, TypeKind::Bit | TypeKind::Year) {
            if self.unsigned {
                f.write_str(" unsigned")?;
            }
            if self.zerofill {
                f.write_str(" zerofill")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{CollationId, SqlType, TypeKind};

    #[test]
    fn names_as_shown() {
        assert_eq!(SqlType::bigint_unsigned().to_string(), "bigint(20) unsigned");
        assert_eq!(SqlType::decimal(10, 2).to_string(), "decimal(10,2)");
        assert_eq!(SqlType::varchar(5, CollationId::BINARY).to_string(), "varbinary(5)");
        assert_eq!(SqlType::datetime(3).to_string(), "datetime(3)");
        assert_eq!(SqlType::double().to_string(), "double");
        let mut set = SqlType::new(TypeKind::Set, 3, 0);
        set.members = Some(["a".into(), "b'".into()].into());
        assert_eq!(set.to_string(), "set('a','b''')");
    }
}
