//! Options of tables.
//! Unknown options are kept for the engine: whether they are an error depends on `sql_mode`.

use super::{PResult, Parser};
use crate::ast::{EngineOption, RowFormat, TableOption};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// Options, with or without commas between them.
    pub(super) fn table_options(&mut self) -> PResult<Vec<TableOption>> {
        let mut options = Vec::new();
        let mut comma = false;
        loop {
            match self.table_option()? {
                Some(option) => options.push(option),
                None if comma => return Err(self.error()),
                None => return Ok(options),
            }
            comma = self.eat(T::Comma);
        }
    }

    /// One option, if present.
    pub(super) fn table_option(&mut self) -> PResult<Option<TableOption>> {
        let T::Word(kw) = self.tok.kind else { return self.other_option() };
        if let Some(option) = self.number_option(kw)? {
            return Ok(Some(option));
        }
        if let Some(option) = self.text_option(kw)? {
            return Ok(Some(option));
        }
        let option = match kw {
            Kw::ENGINE => {
                self.option_word();
                TableOption::Engine(self.alias()?)
            }
            Kw::DEFAULT | Kw::CHARSET | Kw::CHARACTER | Kw::CHAR | Kw::COLLATE => {
                return self.charset_option();
            }
            Kw::ROW_FORMAT => {
                self.option_word();
                TableOption::RowFormat(self.row_format()?)
            }
            Kw::INSERT_METHOD => {
                self.option_word();
                let words = [Kw::NO, Kw::FIRST, Kw::LAST];
                if !self.at_any(&words) {
                    return Err(self.error());
                }
                TableOption::InsertMethod(self.ident()?)
            }
            Kw::UNION => {
                if !matches!(self.peek(), T::Eq | T::LParen) {
                    return Ok(None);
                }
                self.option_word();
                TableOption::Union(self.parens(|p| {
                    if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::table_name) }
                })?)
            }
            Kw::TABLESPACE => {
                self.next();
                TableOption::Tablespace(self.ident()?)
            }
            Kw::STORAGE => {
                self.next();
                if !self.at_any(&[Kw::DISK, Kw::MEMORY]) {
                    return Err(self.error());
                }
                TableOption::Storage(self.ident()?)
            }
            Kw::SEQUENCE => {
                self.option_word();
                TableOption::Sequence(self.u64()? != 0)
            }
            Kw::WITH if self.peek() == T::Word(Kw::SYSTEM) => {
                self.expect_all(&[Kw::WITH, Kw::SYSTEM, Kw::VERSIONING])?;
                TableOption::SystemVersioning
            }
            _ => return self.other_option(),
        };
        Ok(Some(option))
    }

    /// Consumes the option's word and an optional equals sign.
    fn option_word(&mut self) {
        self.next();
        self.eat(T::Eq);
    }

    fn number_option(&mut self, kw: Kw) -> PResult<Option<TableOption>> {
        let make: fn(u64) -> TableOption = match kw {
            Kw::AUTO_INCREMENT => TableOption::AutoIncrement,
            Kw::AVG_ROW_LENGTH => TableOption::AvgRowLength,
            Kw::CHECKSUM | Kw::TABLE_CHECKSUM => |n| TableOption::Checksum(n != 0),
            Kw::PAGE_CHECKSUM => |n| TableOption::PageChecksum(n != 0),
            Kw::DELAY_KEY_WRITE => |n| TableOption::DelayKeyWrite(n != 0),
            Kw::KEY_BLOCK_SIZE => TableOption::KeyBlockSize,
            Kw::MAX_ROWS => TableOption::MaxRows,
            Kw::MIN_ROWS => TableOption::MinRows,
            Kw::PACK_KEYS
            | Kw::TRANSACTIONAL
            | Kw::STATS_AUTO_RECALC
            | Kw::STATS_PERSISTENT
            | Kw::STATS_SAMPLE_PAGES => {
                return self.number_or_default(kw).map(Some);
            }
            _ => return Ok(None),
        };
        self.option_word();
        Ok(Some(make(self.u64()?)))
    }

    fn number_or_default(&mut self, kw: Kw) -> PResult<TableOption> {
        self.option_word();
        let value = if self.eat(Kw::DEFAULT) { None } else { Some(self.u64()?) };
        let flag = value.map(|v| v != 0);
        Ok(match kw {
            Kw::PACK_KEYS => TableOption::PackKeys(flag),
            Kw::TRANSACTIONAL => TableOption::Transactional(flag),
            Kw::STATS_AUTO_RECALC => TableOption::StatsAutoRecalc(flag),
            Kw::STATS_PERSISTENT => TableOption::StatsPersistent(flag),
            _ => TableOption::StatsSamplePages(value),
        })
    }

    fn text_option(&mut self, kw: Kw) -> PResult<Option<TableOption>> {
        let option = match kw {
            Kw::COMMENT => {
                self.option_word();
                TableOption::Comment(self.comment()?)
            }
            Kw::CONNECTION => {
                self.option_word();
                TableOption::Connection(self.string()?)
            }
            Kw::PASSWORD => {
                self.option_word();
                TableOption::Password(self.string()?)
            }
            Kw::DATA | Kw::INDEX if self.peek() == T::Word(Kw::DIRECTORY) => {
                self.next();
                self.option_word();
                let path = self.text()?;
                match kw {
                    Kw::DATA => TableOption::DataDirectory(path),
                    _ => TableOption::IndexDirectory(path),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(option))
    }

    /// `[DEFAULT] CHARACTER SET [=] x` or `[DEFAULT] COLLATE [=] x`.
    fn charset_option(&mut self) -> PResult<Option<TableOption>> {
        self.eat(Kw::DEFAULT);
        if self.eat_charset() {
            self.eat(T::Eq);
            return Ok(Some(TableOption::Charset(self.type_charset_name()?)));
        }
        self.expect(Kw::COLLATE)?;
        self.eat(T::Eq);
        Ok(Some(TableOption::Collate(self.collation_name()?)))
    }

    fn row_format(&mut self) -> PResult<RowFormat> {
        let words = [
            Kw::DEFAULT,
            Kw::DYNAMIC,
            Kw::FIXED,
            Kw::COMPRESSED,
            Kw::REDUNDANT,
            Kw::COMPACT,
            Kw::PAGE,
        ];
        Ok(match self.expect_any(&words)? {
            Kw::DEFAULT => RowFormat::Default,
            Kw::DYNAMIC => RowFormat::Dynamic,
            Kw::FIXED => RowFormat::Fixed,
            Kw::COMPRESSED => RowFormat::Compressed,
            Kw::REDUNDANT => RowFormat::Redundant,
            Kw::COMPACT => RowFormat::Compact,
            _ => RowFormat::Page,
        })
    }

    fn other_option(&mut self) -> PResult<Option<TableOption>> {
        if !self.at_ident() || self.at(Kw::TYPE) || self.peek() != T::Eq {
            return Ok(None);
        }
        Ok(Some(TableOption::Other(self.engine_option()?)))
    }

    /// `name = value`: a string, a number, a word, DEFAULT.
    pub(super) fn engine_option(&mut self) -> PResult<EngineOption> {
        let name = self.ident()?;
        self.expect(T::Eq)?;
        let value = match self.tok.kind {
            T::Str => Some(self.text()?),
            T::Int => Some(self.u64()?.to_string().into()),
            T::HexNumber => Some(self.u64()?.to_string().into()),
            T::Word(Kw::DEFAULT) => {
                self.next();
                None
            }
            T::Word(Kw::ON) => {
                self.next();
                Some("ON".into())
            }
            _ => Some(self.ident()?.value),
        };
        Ok(EngineOption { name, value })
    }
}
