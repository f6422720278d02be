//! Keys and table constraints, CREATE INDEX.
//! Missing names stay missing: they are generated when the table is made.

use super::{PResult, Parser};
use crate::ast::{
    AlterAlgorithm, AlterLock, CheckDef, CreateIndex, ForeignKeyDef, Ident, IndexAlgorithm,
    IndexDef, IndexKind, IndexOptions, IndexPart, Statement, TableElement,
};
use crate::lexer::{Kw, T};
use selkie_types::SqlError;
use selkie_types::error::catalogue::{ER_FIELD_SPECIFIED_TWICE, ER_WRONG_COLUMN_NAME};

impl Parser<'_> {
    /// Whether a key or constraint follows, not a column.
    pub(super) fn at_constraint(&mut self) -> bool {
        match self.tok.kind {
            T::Word(
                Kw::CONSTRAINT
                | Kw::PRIMARY
                | Kw::UNIQUE
                | Kw::KEY
                | Kw::INDEX
                | Kw::FULLTEXT
                | Kw::SPATIAL
                | Kw::FOREIGN
                | Kw::CHECK,
            ) => true,
            T::Word(Kw::PERIOD) => self.peek() == T::Word(Kw::FOR),
            _ => false,
        }
    }

    /// A key, a foreign key, a check or a period.
    pub(super) fn constraint(&mut self) -> PResult<TableElement> {
        if self.at(Kw::PERIOD) {
            self.next();
            self.next();
            let name = self.period_name()?;
            let (start, end) = self.period_columns(&name)?;
            return Ok(TableElement::Period { name, start, end });
        }
        let mut name = None;
        if self.eat(Kw::CONSTRAINT) {
            let if_not_exists = self.if_not_exists()?;
            name = if self.at_ident() { Some(self.new_ident()?) } else { None };
            if !self.at_any(&[Kw::PRIMARY, Kw::UNIQUE, Kw::FOREIGN, Kw::CHECK]) {
                return Err(self.error());
            }
            if if_not_exists {
                return self.unnamed_constraint(name, true);
            }
        }
        self.unnamed_constraint(name, false)
    }

    fn unnamed_constraint(
        &mut self,
        name: Option<Ident>,
        if_not_exists: bool,
    ) -> PResult<TableElement> {
        if self.eat(Kw::CHECK) {
            let expr = self.parens(Self::expr)?;
            return Ok(TableElement::Check(CheckDef { name, if_not_exists, expr }.into()));
        }
        if self.at(Kw::FOREIGN) {
            return self.foreign_key(name, if_not_exists);
        }
        let kind = self.index_kind()?;
        let mut index = self.index_def(kind)?;
        index.if_not_exists |= if_not_exists;
        index.name = index.name.or(name);
        Ok(TableElement::Index(index.into()))
    }

    /// The name of a new period.
    pub(super) fn period_name(&mut self) -> PResult<Ident> {
        let name = self.ident()?;
        match name.value.is_empty() || name.value.ends_with(' ') {
            true => Err(SqlError::new(&ER_WRONG_COLUMN_NAME, &[&name])),
            false => Ok(name),
        }
    }

    /// The columns of the period `name`. Compat: those of SYSTEM_TIME are looked at later.
    pub(super) fn period_columns(&mut self, name: &Ident) -> PResult<(Ident, Ident)> {
        let (start, end) = self.parens(|p| {
            let start = p.ident()?;
            p.expect(T::Comma)?;
            Ok((start, p.ident()?))
        })?;
        match start.is(&end.value) && !name.is("SYSTEM_TIME") {
            true => Err(SqlError::new(&ER_FIELD_SPECIFIED_TWICE, &[&start])),
            false => Ok((start, end)),
        }
    }

    /// `PRIMARY KEY`, `UNIQUE [KEY]`, `KEY`, `FULLTEXT [KEY]`, `SPATIAL [KEY]`.
    pub(super) fn index_kind(&mut self) -> PResult<IndexKind> {
        let words = [Kw::PRIMARY, Kw::UNIQUE, Kw::KEY, Kw::INDEX, Kw::FULLTEXT, Kw::SPATIAL];
        let kind = match self.expect_any(&words)? {
            Kw::PRIMARY => {
                self.expect(Kw::KEY)?;
                return Ok(IndexKind::Primary);
            }
            Kw::UNIQUE => IndexKind::Unique,
            Kw::FULLTEXT => IndexKind::Fulltext,
            Kw::SPATIAL => IndexKind::Spatial,
            _ => return Ok(IndexKind::Plain),
        };
        self.eat_any(&[Kw::KEY, Kw::INDEX]);
        Ok(kind)
    }

    fn index_def(&mut self, kind: IndexKind) -> PResult<IndexDef> {
        let if_not_exists = self.if_not_exists()?;
        let name = if self.at_ident() && !self.at2(Kw::TYPE, Kw::BTREE) {
            Some(self.new_ident()?)
        } else {
            None
        };
        let mut options = IndexOptions::default();
        self.index_algorithm(&mut options)?;
        let (parts, without_overlaps) = self.index_parts(kind)?;
        self.index_options(&mut options)?;
        Ok(IndexDef { kind, name, if_not_exists, parts, without_overlaps, options })
    }

    fn index_parts(&mut self, kind: IndexKind) -> PResult<(Vec<IndexPart>, Option<Ident>)> {
        self.expect(T::LParen)?;
        let mut parts = Vec::new();
        let mut without_overlaps = None;
        loop {
            let column = self.ident()?;
            let allowed = matches!(kind, IndexKind::Primary | IndexKind::Unique);
            if allowed && !parts.is_empty() && self.eat(Kw::WITHOUT) {
                self.expect(Kw::OVERLAPS)?;
                without_overlaps = Some(column);
                break;
            }
            let length = if self.at(T::LParen) { Some(self.parens(Self::u64)?) } else { None };
            let descending = self.eat_any(&[Kw::ASC, Kw::DESC]) == Some(Kw::DESC);
            parts.push(IndexPart { column, length, descending });
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect(T::RParen)?;
        Ok((parts, without_overlaps))
    }

    /// `USING BTREE` or `TYPE BTREE`, if present.
    fn index_algorithm(&mut self, options: &mut IndexOptions) -> PResult<bool> {
        if self.eat_any(&[Kw::USING, Kw::TYPE]).is_none() {
            return Ok(false);
        }
        options.algorithm = Some(match self.expect_any(&[Kw::BTREE, Kw::HASH, Kw::RTREE])? {
            Kw::BTREE => IndexAlgorithm::Btree,
            Kw::HASH => IndexAlgorithm::Hash,
            _ => IndexAlgorithm::Rtree,
        });
        Ok(true)
    }

    pub(super) fn index_options(&mut self, o: &mut IndexOptions) -> PResult<()> {
        loop {
            if self.at_any(&[Kw::USING, Kw::TYPE]) {
                self.index_algorithm(o)?;
            } else if self.eat(Kw::KEY_BLOCK_SIZE) {
                self.eat(T::Eq);
                o.key_block_size = Some(self.u64()?);
            } else if self.eat(Kw::COMMENT) {
                o.comment = Some(self.comment()?);
            } else if self.eat2(Kw::WITH, Kw::PARSER) {
                o.parser = Some(self.ident()?);
            } else if self.eat(Kw::IGNORED) {
                o.ignored = Some(true);
            } else if self.eat2(Kw::NOT, Kw::IGNORED) {
                o.ignored = Some(false);
            } else if self.eat(Kw::VISIBLE) {
                // Compat: the option is accepted and has no effect.
            } else if self.at_ident() && self.peek() == T::Eq && !self.at_any(&[Kw::ALGORITHM]) {
                let option = self.engine_option()?;
                if option.name.is("clustering") {
                    o.clustering = option.value.as_deref().map(|v| !v.eq_ignore_ascii_case("no"));
                } else {
                    o.engine.push(option);
                }
            } else {
                return Ok(());
            }
        }
    }

    fn foreign_key(
        &mut self,
        constraint: Option<Ident>,
        if_not_exists: bool,
    ) -> PResult<TableElement> {
        self.next();
        self.expect(Kw::KEY)?;
        let if_not_exists = self.if_not_exists()? || if_not_exists;
        let name = if self.at_ident() { Some(self.new_ident()?) } else { None };
        let columns = self.paren_list(|p| {
            let column = p.ident()?;
            if p.at(T::LParen) {
                p.parens(Self::u64)?;
            }
            p.eat_any(&[Kw::ASC, Kw::DESC]);
            Ok(column)
        })?;
        let references = self.references()?;
        let key = ForeignKeyDef { constraint, name, if_not_exists, columns, references };
        Ok(TableElement::ForeignKey(key.into()))
    }

    /// `CREATE [OR REPLACE] [kind] INDEX ...`; the words before the kind are consumed.
    pub(super) fn create_index(&mut self, or_replace: bool) -> PResult<Statement> {
        let kind = match self.eat_any(&[Kw::UNIQUE, Kw::FULLTEXT, Kw::SPATIAL]) {
            Some(Kw::UNIQUE) => IndexKind::Unique,
            Some(Kw::FULLTEXT) => IndexKind::Fulltext,
            Some(_) => IndexKind::Spatial,
            None => IndexKind::Plain,
        };
        self.expect(Kw::INDEX)?;
        let if_not_exists = self.if_not_exists()?;
        self.check_or_replace(or_replace, if_not_exists)?;
        let name = Some(self.new_ident()?);
        let mut options = IndexOptions::default();
        self.index_algorithm(&mut options)?;
        self.expect(Kw::ON)?;
        let table = self.table_name()?;
        let (parts, without_overlaps) = self.index_parts(kind)?;
        let mut wait = self.lock_wait_opt()?;
        self.index_options(&mut options)?;
        wait = wait.or(self.lock_wait_opt()?);
        let (algorithm, lock) = self.algorithm_and_lock()?;
        let index = IndexDef { kind, name, if_not_exists, parts, without_overlaps, options };
        let create = CreateIndex { or_replace, index, table, wait, algorithm, lock };
        Ok(Statement::CreateIndex(create.into()))
    }

    /// `ALGORITHM = x` and `LOCK = y` at the end of CREATE INDEX and DROP INDEX.
    pub(super) fn algorithm_and_lock(
        &mut self,
    ) -> PResult<(Option<AlterAlgorithm>, Option<AlterLock>)> {
        let (mut algorithm, mut lock) = (None, None);
        loop {
            if self.at(Kw::ALGORITHM) {
                algorithm = Some(self.alter_algorithm()?);
            } else if self.at(Kw::LOCK) {
                lock = Some(self.alter_lock()?);
            } else {
                return Ok((algorithm, lock));
            }
        }
    }
}
