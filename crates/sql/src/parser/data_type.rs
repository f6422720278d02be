//! Types of columns, and targets of CAST.
//! Accepts all types of MariaDB's grammar. COLLATE of a column is read by its definition.

use selkie_types::SqlMode;
use selkie_types::error::catalogue::ER_UNKNOWN_DATA_TYPE;

use super::{PResult, Parser};
use crate::ast::{CastType, CharsetName, DataType, TypeName};
use crate::lexer::{Kw, T};

/// Attributes that may follow a type.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// `(n)`, UNSIGNED, ZEROFILL.
    Integer,
    /// `(n)` or `(n,m)`, UNSIGNED, ZEROFILL.
    Real,
    /// `(n)`, optional.
    Length,
    /// `(n)`, required.
    NeedsLength,
    /// `(n)` and a character set.
    Text,
    /// `(n)`, required, and a character set.
    TextNeedsLength,
    /// A character set.
    PlainText,
    /// Members and a character set.
    Members,
    /// No attribute.
    Bare,
    /// `(n)` or `(n,m)`, without a meaning.
    Spatial,
}

/// A dialect whose types are meant where names differ.
#[derive(Clone, Copy, PartialEq)]
enum Dialect {
    MariaDb,
    Oracle,
    MaxDb,
}

impl Parser<'_> {
    /// A type with its attributes except COLLATE.
    pub(super) fn data_type(&mut self) -> PResult<DataType> {
        let start = self.tok.start;
        let dialect = self.dialect_of_type()?;
        let word = self.type_word();
        let (name, shape) = self.type_name()?;
        let mut data_type = DataType {
            name,
            length: None,
            decimals: None,
            unsigned: false,
            zerofill: false,
            charset: None,
            binary: false,
            collations: Vec::new(),
            members: Vec::new(),
            span: crate::ast::Span::default(),
        };
        self.type_attributes(&mut data_type, shape)?;
        data_type.name = match (dialect, word, data_type.name) {
            (Dialect::Oracle, Kw::DATE, _) => TypeName::DateTime,
            (Dialect::Oracle, Kw::BLOB, _) if data_type.length.is_none() => TypeName::LongBlob,
            (Dialect::Oracle, Kw::NUMBER, _) if data_type.length.is_none() => TypeName::Double,
            (Dialect::MaxDb, Kw::TIMESTAMP, _) => TypeName::DateTime,
            (_, _, name) => name,
        };
        data_type.span = self.span_from(start);
        Ok(data_type)
    }

    /// The dialect whose types are meant: the one before a dot, else that of the mode. Compat: all
    /// of them know all types.
    fn dialect_of_type(&mut self) -> PResult<Dialect> {
        if self.peek() != T::Dot || !self.at_ident() {
            return Ok(match self.is_oracle() {
                true => Dialect::Oracle,
                false if self.mode.contains(SqlMode::MAXDB) => Dialect::MaxDb,
                false => Dialect::MariaDb,
            });
        }
        let schema = self.ident()?;
        self.next();
        let dialect = match () {
            () if schema.is("mariadb_schema") => Dialect::MariaDb,
            () if schema.is("oracle_schema") => Dialect::Oracle,
            () if schema.is("maxdb_schema") => Dialect::MaxDb,
            () => {
                let word = String::from_utf8_lossy(self.raw(self.tok)).to_lowercase();
                let name = format!("{schema}.{word}");
                return self.fail(&ER_UNKNOWN_DATA_TYPE, &[&name]);
            }
        };
        Ok(dialect)
    }

    /// The keyword of a type. The lexer takes one behind a dot for a plain name.
    fn type_word(&self) -> Kw {
        match self.tok.kind {
            T::Word(Kw::NotKeyword) => Kw::lookup(self.raw(self.tok)),
            T::Word(kw) => kw,
            _ => Kw::NotKeyword,
        }
    }

    fn type_attributes(&mut self, t: &mut DataType, shape: Shape) -> PResult<()> {
        use Shape::*;
        match shape {
            Members => t.members = self.paren_list(Self::string)?,
            NeedsLength | TextNeedsLength if self.place.any_length && !self.at(T::LParen) => {}
            NeedsLength | TextNeedsLength => t.length = Some(self.parens(Self::length)?),
            Spatial if self.at(T::LParen) => {
                self.parens(|p| {
                    p.length()?;
                    p.eat(T::Comma).then(|| p.length()).transpose()
                })?;
            }
            Real if self.at(T::LParen) => {
                let both = matches!(t.name, TypeName::Double | TypeName::Real);
                (t.length, t.decimals) = self.parens(|p| {
                    let length = p.length()?;
                    match both {
                        true => p.expect(T::Comma).and_then(|()| p.length()).map(Some),
                        false => p.eat(T::Comma).then(|| p.length()).transpose(),
                    }
                    .map(|decimals| (Some(length), decimals))
                })?;
            }
            Integer | Length | Text if self.at(T::LParen) => {
                t.length = Some(self.parens(Self::length)?)
            }
            _ => {}
        }
        if matches!(shape, Integer | Real) {
            while let Some(word) = self.eat_any(&[Kw::UNSIGNED, Kw::SIGNED, Kw::ZEROFILL]) {
                t.zerofill |= word == Kw::ZEROFILL;
                t.unsigned |= word != Kw::SIGNED;
            }
        }
        if matches!(shape, Text | TextNeedsLength | PlainText | Members) {
            (t.charset, t.binary) = self.type_charset()?;
        }
        Ok(())
    }

    /// `CHARACTER SET x`, ASCII, UNICODE, BYTE, and BINARY before or after it.
    pub(super) fn type_charset(&mut self) -> PResult<(Option<CharsetName>, bool)> {
        let mut binary = self.eat(Kw::BINARY);
        let named = |name: &str| Some(CharsetName::Named(name.into()));
        let charset = match self.tok.kind {
            T::Word(Kw::ASCII) => named("latin1"),
            T::Word(Kw::UNICODE) => named("ucs2"),
            T::Word(Kw::BYTE) if !binary => named("binary"),
            _ => {
                let charset =
                    if self.eat_charset() { Some(self.type_charset_name()?) } else { None };
                binary |= charset.is_some() && self.eat(Kw::BINARY);
                return Ok((charset, binary));
            }
        };
        self.next();
        binary |= self.eat(Kw::BINARY);
        Ok((charset, binary))
    }

    /// A character set or DEFAULT.
    pub(super) fn type_charset_name(&mut self) -> PResult<CharsetName> {
        Ok(self.charset_or_default()?.map_or(CharsetName::Default, CharsetName::Named))
    }

    fn type_name(&mut self) -> PResult<(TypeName, Shape)> {
        use Shape as S;
        use TypeName as N;
        let T::Word(_) = self.tok.kind else { return Err(self.error()) };
        let kw = self.type_word();
        if let Some(found) = simple_type(kw) {
            self.next();
            if kw == Kw::DOUBLE {
                self.eat(Kw::PRECISION);
            }
            return Ok(found);
        }
        match kw {
            Kw::CHAR | Kw::CHARACTER | Kw::NCHAR | Kw::NATIONAL => self.char_type(kw),
            Kw::LONG => {
                self.next();
                if self.eat(Kw::VARBINARY) {
                    return Ok((N::MediumBlob, S::Bare));
                }
                if self.eat_any(&[Kw::CHAR, Kw::CHARACTER]).is_some() {
                    self.expect(Kw::VARYING)?;
                } else {
                    self.eat_any(&[Kw::VARCHAR, Kw::VARCHARACTER]);
                }
                Ok((N::MediumText, S::PlainText))
            }
            _ => self.named_type(),
        }
    }

    fn char_type(&mut self, kw: Kw) -> PResult<(TypeName, Shape)> {
        self.next();
        let national = kw != Kw::CHAR && kw != Kw::CHARACTER;
        let mut varying = false;
        if kw == Kw::NATIONAL {
            let word =
                self.expect_any(&[Kw::CHAR, Kw::CHARACTER, Kw::VARCHAR, Kw::VARCHARACTER])?;
            varying = matches!(word, Kw::VARCHAR | Kw::VARCHARACTER);
        } else if national {
            varying = self.eat_any(&[Kw::VARCHAR, Kw::VARCHARACTER]).is_some();
        }
        varying |= self.eat(Kw::VARYING);
        Ok(match (national, varying) {
            (true, true) => (TypeName::NVarChar, Shape::TextNeedsLength),
            (true, false) => (TypeName::NChar, Shape::Text),
            (false, true) => (TypeName::VarChar, Shape::TextNeedsLength),
            (false, false) => (TypeName::Char, Shape::Text),
        })
    }

    /// Types that are no keywords. Compat: an unknown name gives error 4161.
    fn named_type(&mut self) -> PResult<(TypeName, Shape)> {
        use TypeName as N;
        const NAMES: &[(&str, TypeName)] = &[
            ("uuid", N::Uuid),
            ("inet4", N::Inet4),
            ("inet6", N::Inet6),
            ("geometry", N::Geometry),
            ("point", N::Point),
            ("linestring", N::LineString),
            ("polygon", N::Polygon),
            ("multipoint", N::MultiPoint),
            ("multilinestring", N::MultiLineString),
            ("multipolygon", N::MultiPolygon),
            ("geometrycollection", N::GeometryCollection),
        ];
        let name = self.ident()?;
        match NAMES.iter().find(|n| name.is(n.0)) {
            Some(&(_, found)) if found.is_spatial() => Ok((found, Shape::Spatial)),
            Some(&(_, found)) => Ok((found, Shape::Bare)),
            None => self.fail(&ER_UNKNOWN_DATA_TYPE, &[&name]),
        }
    }

    /// Target type of CAST.
    pub(super) fn cast_type(&mut self) -> PResult<CastType> {
        let T::Word(kw) = self.tok.kind else { return Err(self.error()) };
        if matches!(kw, Kw::CHAR | Kw::CHARACTER | Kw::NCHAR | Kw::VARCHAR) {
            return self.cast_char(kw);
        }
        if kw == Kw::VARCHAR2 && self.is_oracle() {
            return self.cast_char(kw);
        }
        let named = !kw.is_reserved() && simple_type(kw).is_none();
        if named && !matches!(kw, Kw::SIGNED) {
            let (name, _) = self.named_type()?;
            return Ok(CastType::Other(name));
        }
        let token = self.next();
        Ok(match kw {
            Kw::BINARY => CastType::Binary(self.length_opt()?),
            Kw::INTERVAL => {
                self.expect(Kw::DAY_SECOND)?;
                CastType::IntervalDaySecond(self.length_opt()?)
            }
            Kw::SIGNED | Kw::UNSIGNED => {
                self.eat_any(&[Kw::INT, Kw::INTEGER]);
                if kw == Kw::SIGNED { CastType::Signed } else { CastType::Unsigned }
            }
            Kw::INT | Kw::INTEGER => CastType::Signed,
            Kw::DECIMAL | Kw::DEC => {
                let (precision, decimals) = self.precision()?;
                CastType::Decimal { precision, decimals }
            }
            Kw::FLOAT | Kw::FLOAT4 => CastType::Float,
            // Compat: CAST knows only some of the synonyms of a type.
            Kw::DOUBLE | Kw::FLOAT8 => CastType::Double(self.double_digits()?),
            Kw::DATE => CastType::Date,
            Kw::TIME => CastType::Time(self.length_opt()?),
            Kw::DATETIME => CastType::DateTime(self.length_opt()?),
            _ => return Err(self.error_at(token)),
        })
    }

    /// `(M, D)`, if present.
    fn double_digits(&mut self) -> PResult<Option<(u64, u64)>> {
        if !self.at(T::LParen) {
            return Ok(None);
        }
        self.parens(|p| {
            let precision = p.length()?;
            p.expect(T::Comma)?;
            Ok(Some((precision, p.length()?)))
        })
    }

    fn cast_char(&mut self, kw: Kw) -> PResult<CastType> {
        self.next();
        let varying = matches!(kw, Kw::VARCHAR | Kw::VARCHAR2);
        let length = if varying { Some(self.parens(Self::length)?) } else { self.length_opt()? };
        if kw == Kw::NCHAR {
            let charset = Some(CharsetName::Named("utf8mb3".into()));
            return Ok(CastType::Char { length, charset, binary: false, collation: None });
        }
        let (charset, binary) = self.type_charset()?;
        let collation = self.eat(Kw::COLLATE).then(|| self.collation_name()).transpose()?;
        Ok(CastType::Char { length, charset, binary, collation })
    }

    fn length_opt(&mut self) -> PResult<Option<u64>> {
        if self.at(T::LParen) { self.parens(Self::length).map(Some) } else { Ok(None) }
    }

    fn precision(&mut self) -> PResult<(Option<u64>, Option<u64>)> {
        if !self.at(T::LParen) {
            return Ok((None, None));
        }
        self.parens(|p| {
            let precision = p.length()?;
            Ok((Some(precision), p.eat(T::Comma).then(|| p.length()).transpose()?))
        })
    }
}

/// Types that consist of one keyword.
fn simple_type(kw: Kw) -> Option<(TypeName, Shape)> {
    use Shape as S;
    use TypeName as N;
    Some(match kw {
        Kw::TINYINT | Kw::INT1 => (N::TinyInt, S::Integer),
        Kw::SMALLINT | Kw::INT2 => (N::SmallInt, S::Integer),
        Kw::MEDIUMINT | Kw::MIDDLEINT | Kw::INT3 => (N::MediumInt, S::Integer),
        Kw::INT | Kw::INTEGER | Kw::INT4 => (N::Int, S::Integer),
        Kw::BIGINT | Kw::INT8 => (N::BigInt, S::Integer),
        Kw::SERIAL => (N::Serial, S::Bare),
        Kw::BOOL | Kw::BOOLEAN => (N::Bool, S::Bare),
        Kw::BIT => (N::Bit, S::Length),
        Kw::FLOAT | Kw::FLOAT4 => (N::Float, S::Real),
        Kw::DOUBLE | Kw::FLOAT8 => (N::Double, S::Real),
        Kw::REAL => (N::Real, S::Real),
        Kw::DECIMAL | Kw::NUMERIC | Kw::DEC | Kw::FIXED | Kw::NUMBER => (N::Decimal, S::Real),
        Kw::YEAR => (N::Year, S::Integer),
        Kw::DATE => (N::Date, S::Bare),
        Kw::TIME => (N::Time, S::Length),
        Kw::DATETIME => (N::DateTime, S::Length),
        Kw::TIMESTAMP => (N::Timestamp, S::Length),
        Kw::VARCHAR | Kw::VARCHARACTER | Kw::VARCHAR2 => (N::VarChar, S::TextNeedsLength),
        Kw::NVARCHAR => (N::NVarChar, S::TextNeedsLength),
        Kw::BINARY => (N::Binary, S::Length),
        Kw::VARBINARY => (N::VarBinary, S::NeedsLength),
        Kw::RAW => (N::VarBinary, S::NeedsLength),
        Kw::TINYBLOB => (N::TinyBlob, S::Bare),
        Kw::BLOB => (N::Blob, S::Length),
        Kw::MEDIUMBLOB => (N::MediumBlob, S::Bare),
        Kw::LONGBLOB => (N::LongBlob, S::Bare),
        Kw::TINYTEXT => (N::TinyText, S::PlainText),
        Kw::TEXT => (N::Text, S::Text),
        Kw::MEDIUMTEXT => (N::MediumText, S::PlainText),
        Kw::LONGTEXT | Kw::CLOB => (N::LongText, S::PlainText),
        Kw::ENUM => (N::Enum, S::Members),
        Kw::SET => (N::Set, S::Members),
        Kw::JSON => (N::Json, S::Bare),
        _ => return None,
    })
}
