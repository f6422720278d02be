//! Definitions of single partitions, also for ALTER TABLE's actions on partitions.
//! Values may be expressions; they are evaluated when the table is made.

use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, PartitionDef, PartitionOption, PartitionValues, SubpartitionDef};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `(PARTITION .., PARTITION ..)`.
    pub(super) fn partition_defs(&mut self) -> PResult<Vec<PartitionDef>> {
        self.paren_list(Self::partition_def)
    }

    /// `PARTITION name VALUES .. options (subpartitions)`.
    pub(super) fn partition_def(&mut self) -> PResult<PartitionDef> {
        // Compat: the word PARTITION is optional.
        self.eat(Kw::PARTITION);
        let name = self.new_ident()?;
        let values = self.partition_values()?;
        let options = self.partition_options()?;
        let subpartitions = match self.at(T::LParen) {
            true => self.paren_list(|p| {
                p.expect(Kw::SUBPARTITION)?;
                let name = p.alias()?;
                Ok(SubpartitionDef { name, options: p.partition_options()? })
            })?,
            false => Vec::new(),
        };
        Ok(PartitionDef { name, values, options, subpartitions })
    }

    fn partition_values(&mut self) -> PResult<PartitionValues> {
        if self.eat(Kw::DEFAULT) {
            return Ok(PartitionValues::Default);
        }
        if self.eat(Kw::HISTORY) {
            return Ok(PartitionValues::History);
        }
        if self.eat(Kw::CURRENT) {
            return Ok(PartitionValues::Current);
        }
        if !self.eat(Kw::VALUES) {
            return Ok(PartitionValues::None);
        }
        if self.eat(Kw::LESS) {
            self.expect(Kw::THAN)?;
            let values = match self.eat(Kw::MAXVALUE) {
                true => vec![None],
                false => self.paren_list(Self::bound)?,
            };
            return Ok(PartitionValues::LessThan(values));
        }
        self.expect(Kw::IN)?;
        if self.at(T::LParen) && self.peek() == T::Word(Kw::DEFAULT) {
            self.next();
            self.next();
            self.expect(T::RParen)?;
            return Ok(PartitionValues::Default);
        }
        self.paren_list(Self::value_tuple).map(PartitionValues::In)
    }

    /// An expression, or `None` for MAXVALUE.
    fn bound(&mut self) -> PResult<Option<Expr>> {
        if self.eat(Kw::MAXVALUE) { Ok(None) } else { self.expr().map(Some) }
    }

    fn value_tuple(&mut self) -> PResult<Vec<Expr>> {
        let expr = self.expr()?;
        Ok(match expr.kind {
            ExprKind::Row(values) => values,
            kind => vec![Expr { kind, span: expr.span }],
        })
    }

    fn partition_options(&mut self) -> PResult<Vec<PartitionOption>> {
        let mut options = Vec::new();
        while let Some(option) = self.partition_option()? {
            options.push(option);
        }
        Ok(options)
    }

    fn partition_option(&mut self) -> PResult<Option<PartitionOption>> {
        if self.at2(Kw::STORAGE, Kw::ENGINE) {
            self.next();
        }
        let T::Word(kw) = self.tok.kind else { return Ok(None) };
        if matches!(kw, Kw::DATA | Kw::INDEX) {
            self.next();
            self.expect(Kw::DIRECTORY)?;
            self.eat(T::Eq);
            let path = self.text()?;
            return Ok(Some(match kw {
                Kw::DATA => PartitionOption::DataDirectory(path),
                _ => PartitionOption::IndexDirectory(path),
            }));
        }
        let known = matches!(
            kw,
            Kw::ENGINE | Kw::COMMENT | Kw::MAX_ROWS | Kw::MIN_ROWS | Kw::TABLESPACE | Kw::NODEGROUP
        );
        if !known {
            if self.at_ident() && self.peek() == T::Eq {
                return self.engine_option().map(|o| Some(PartitionOption::Other(o)));
            }
            return Ok(None);
        }
        self.next();
        self.eat(T::Eq);
        Ok(Some(match kw {
            Kw::ENGINE => PartitionOption::Engine(self.alias()?),
            Kw::COMMENT => PartitionOption::Comment(self.text()?),
            Kw::MAX_ROWS => PartitionOption::MaxRows(self.u64()?),
            Kw::MIN_ROWS => PartitionOption::MinRows(self.u64()?),
            Kw::TABLESPACE => PartitionOption::Tablespace(self.ident()?),
            _ => PartitionOption::NodeGroup(self.u64()?),
        }))
    }
}
