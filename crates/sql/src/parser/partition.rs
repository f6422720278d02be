//! PARTITION BY and SUBPARTITION BY of CREATE TABLE and ALTER TABLE.
//! Whether methods and definitions fit together is checked when the table is made.

use super::{PResult, Parser};
use crate::ast::{PartitionBy, PartitionMethod, SubpartitionBy};
use crate::lexer::{Kw, T};

impl Parser<'_> {
    /// `PARTITION BY ...`, if present.
    pub(super) fn partition_by_opt(&mut self) -> PResult<Option<Box<PartitionBy>>> {
        if !self.eat2(Kw::PARTITION, Kw::BY) {
            return Ok(None);
        }
        let method = self.partition_method()?;
        let count = self.eat(Kw::PARTITIONS).then(|| self.u64()).transpose()?;
        let subpartition = self.subpartition_by()?;
        let partitions = if self.at(T::LParen) { self.partition_defs()? } else { Vec::new() };
        Ok(Some(PartitionBy { method, count, subpartition, partitions }.into()))
    }

    fn partition_method(&mut self) -> PResult<PartitionMethod> {
        match self.tok.kind {
            T::Word(Kw::RANGE | Kw::LIST) => {
                let range = self.next().kind == T::Word(Kw::RANGE);
                if self.eat_any(&[Kw::COLUMNS, Kw::FIELDS]).is_some() {
                    let columns = self.ident_list()?;
                    return Ok(match range {
                        true => PartitionMethod::RangeColumns(columns),
                        false => PartitionMethod::ListColumns(columns),
                    });
                }
                let expr = self.parens(Self::expr)?;
                Ok(if range { PartitionMethod::Range(expr) } else { PartitionMethod::List(expr) })
            }
            T::Word(Kw::SYSTEM_TIME) => {
                self.next();
                self.system_time_method()
            }
            _ => self.hash_or_key(),
        }
    }

    fn hash_or_key(&mut self) -> PResult<PartitionMethod> {
        let linear = self.eat(Kw::LINEAR);
        if self.eat(Kw::HASH) {
            return Ok(PartitionMethod::Hash { linear, expr: self.parens(Self::expr)? });
        }
        self.expect(Kw::KEY)?;
        let mut algorithm = None;
        if self.eat(Kw::ALGORITHM) {
            self.expect(T::Eq)?;
            algorithm = Some(self.u64()?);
        }
        let columns =
            self.parens(|p| if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::ident) })?;
        Ok(PartitionMethod::Key { linear, algorithm, columns })
    }

    fn system_time_method(&mut self) -> PResult<PartitionMethod> {
        let (mut interval, mut starts, mut limit, mut auto) = (None, None, None, false);
        if self.at(Kw::INTERVAL) {
            let (amount, unit) = self.interval_argument()?;
            interval = Some((Box::new(amount), unit));
            if self.eat(Kw::STARTS) {
                starts = Some(self.boxed_expr()?);
            }
        } else if self.eat(Kw::LIMIT) {
            limit = Some(self.u64()?);
        }
        if self.eat(Kw::AUTO) {
            auto = true;
        }
        Ok(PartitionMethod::SystemTime { interval, starts, limit, auto })
    }

    fn subpartition_by(&mut self) -> PResult<Option<SubpartitionBy>> {
        if !self.eat(Kw::SUBPARTITION) {
            return Ok(None);
        }
        self.expect(Kw::BY)?;
        let method = self.hash_or_key()?;
        let count = self.eat(Kw::SUBPARTITIONS).then(|| self.u64()).transpose()?;
        Ok(Some(SubpartitionBy { method, count }))
    }
}
