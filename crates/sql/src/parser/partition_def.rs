//! Definitions of single partitions, also for ALTER TABLE's actions on partitions.
//! Values may be expressions; they are evaluated when the table is made.

use super::{PResult, Parser};
use crate::ast::{Expr, PartitionDef, PartitionOption, PartitionValues, SubpartitionDef};
use crate::lexer::{Kw, T};
use selkie_types::error::catalogue::{
    ER_MAXVALUE_IN_VALUES_IN, ER_PARTITION_COLUMN_LIST_ERROR, ER_PARTITION_REQUIRES_VALUES_ERROR,
    ER_PARTITION_WRONG_NO_PART_ERROR, ER_PARTITION_WRONG_NO_SUBPART_ERROR, ER_PARTITION_WRONG_TYPE,
    ER_PARTITION_WRONG_VALUES_ERROR, ER_ROW_SINGLE_PARTITION_FIELD_ERROR,
};

/// Numbers that the clause around a list of partitions gives.
pub(super) struct Wanted {
    /// Of partitions.
    pub(super) parts: Option<u64>,
    /// Of subpartitions of each: none, any or so many.
    pub(super) subs: Option<Option<u64>>,
    /// Of columns, if values are of columns.
    pub(super) columns: Option<usize>,
    /// Kind of the method, if its partitions are neither of history nor of current rows.
    pub(super) kind: Option<&'static str>,
}

impl Parser<'_> {
    /// The partitions of PARTITION BY; their numbers must be those that the clause gives.
    pub(super) fn partition_list(&mut self, wanted: &Wanted) -> PResult<Vec<PartitionDef>> {
        self.expect(T::LParen)?;
        let (mut out, mut subs) = (Vec::new(), wanted.subs.flatten());
        loop {
            let (def, last) = self.partition_def_in(wanted, subs)?;
            // The first partition tells how many subpartitions each has.
            if wanted.subs.is_some() && last > 0 {
                subs = subs.or(Some(last));
            }
            let without = wanted.subs.is_some() && last == 0 && subs.is_some();
            let listed = out.iter().any(|def: &PartitionDef| !def.subpartitions.is_empty());
            if without && listed {
                return Err(self.error_named(&ER_PARTITION_WRONG_NO_SUBPART_ERROR));
            }
            out.push(def);
            if !self.eat(T::Comma) {
                break;
            }
        }
        if !self.at(T::RParen) {
            return Err(self.error());
        }
        if wanted.parts.is_some_and(|count| count != out.len() as u64) {
            return Err(self.error_named(&ER_PARTITION_WRONG_NO_PART_ERROR));
        }
        self.expect(T::RParen)?;
        Ok(out)
    }

    /// A partition, and the number of its subpartitions.
    fn partition_def_in(
        &mut self,
        wanted: &Wanted,
        subs: Option<u64>,
    ) -> PResult<(PartitionDef, u64)> {
        let mut def = self.partition_head(Some(wanted))?;
        let by_time = matches!(def.values, PartitionValues::History | PartitionValues::Current);
        if let Some(kind) = wanted.kind.filter(|_| by_time) {
            return self.fail(&ER_PARTITION_WRONG_TYPE, &[&"SYSTEM_TIME", &kind]);
        }
        if !self.eat(T::LParen) {
            return Ok((def, 0));
        }
        loop {
            self.expect(Kw::SUBPARTITION)?;
            let name = self.alias()?;
            let options = self.partition_options()?;
            def.subpartitions.push(SubpartitionDef { name, options });
            if !self.eat(T::Comma) {
                break;
            }
        }
        let count = def.subpartitions.len() as u64;
        if wanted.subs.is_some() && subs.is_some_and(|subs| subs != count) {
            return Err(self.error_named(&ER_PARTITION_WRONG_NO_SUBPART_ERROR));
        }
        self.expect(T::RParen)?;
        Ok((def, count))
    }

    /// `(PARTITION .., PARTITION ..)`.
    pub(super) fn partition_defs(&mut self) -> PResult<Vec<PartitionDef>> {
        self.paren_list(Self::partition_def)
    }

    /// `PARTITION name VALUES .. options (subpartitions)`.
    pub(super) fn partition_def(&mut self) -> PResult<PartitionDef> {
        let def = self.partition_head(None)?;
        let subpartitions = match self.at(T::LParen) {
            true => self.paren_list(|p| {
                p.expect(Kw::SUBPARTITION)?;
                let name = p.alias()?;
                Ok(SubpartitionDef { name, options: p.partition_options()? })
            })?,
            false => Vec::new(),
        };
        Ok(PartitionDef { subpartitions, ..def })
    }

    /// A partition without its subpartitions; `wanted` is what a clause around it gives.
    fn partition_head(&mut self, wanted: Option<&Wanted>) -> PResult<PartitionDef> {
        // Compat: the word PARTITION is optional.
        self.eat(Kw::PARTITION);
        let name = self.new_ident()?;
        let values = self.partition_values(wanted)?;
        let options = self.partition_options()?;
        Ok(PartitionDef { name, values, options, subpartitions: Vec::new() })
    }

    fn partition_values(&mut self, wanted: Option<&Wanted>) -> PResult<PartitionValues> {
        let columns = wanted.and_then(|wanted| wanted.columns);
        let kind = wanted.and_then(|wanted| wanted.kind);
        if self.eat(Kw::DEFAULT) {
            return Ok(PartitionValues::Default);
        }
        if self.eat(Kw::HISTORY) {
            return Ok(PartitionValues::History);
        }
        if self.eat(Kw::CURRENT) {
            return Ok(PartitionValues::Current);
        }
        let missing = &ER_PARTITION_REQUIRES_VALUES_ERROR;
        if !self.eat(Kw::VALUES) {
            return match kind {
                Some("RANGE") => self.fail(missing, &[&"RANGE", &"LESS THAN"]),
                Some("LIST") => self.fail(missing, &[&"LIST", &"IN"]),
                _ => Ok(PartitionValues::None),
            };
        }
        let wrong = &ER_PARTITION_WRONG_VALUES_ERROR;
        // Compat: a list of values of one column is checked when the table is made.
        let many = columns.filter(|columns| *columns > 1);
        if self.eat(Kw::LESS) {
            self.expect(Kw::THAN)?;
            if kind.is_some_and(|kind| kind != "RANGE") {
                return self.fail(wrong, &[&"RANGE", &"LESS THAN"]);
            }
            if self.at(Kw::MAXVALUE) && many.is_some() {
                return Err(self.error_named(&ER_PARTITION_COLUMN_LIST_ERROR));
            }
            let values = match self.eat(Kw::MAXVALUE) {
                true => vec![None],
                false => self.tuple(many, Self::bound)?,
            };
            return Ok(PartitionValues::LessThan(values));
        }
        self.expect(Kw::IN)?;
        if kind.is_some_and(|kind| kind != "LIST") {
            return self.fail(wrong, &[&"LIST", &"IN"]);
        }
        self.expect(T::LParen)?;
        let tuples = match self.at(T::LParen) {
            true => self.tuples(columns)?,
            false => self.list(|p| p.listed_value().map(|value| vec![value]))?,
        };
        if many.is_some() && tuples.iter().any(|tuple| tuple.len() == 1) {
            return Err(self.error_named(&ER_PARTITION_COLUMN_LIST_ERROR));
        }
        self.expect(T::RParen)?;
        Ok(PartitionValues::In(tuples))
    }

    /// An expression, or `None` for MAXVALUE.
    fn bound(&mut self) -> PResult<Option<Expr>> {
        if self.eat(Kw::MAXVALUE) { Ok(None) } else { self.expr().map(Some) }
    }

    fn listed_value(&mut self) -> PResult<Expr> {
        if self.at(Kw::MAXVALUE) {
            return Err(self.error_named(&ER_MAXVALUE_IN_VALUES_IN));
        }
        self.expr()
    }

    /// Tuples of values; of so many columns, or of as many as the first one has.
    fn tuples(&mut self, columns: Option<usize>) -> PResult<Vec<Vec<Expr>>> {
        let mut many = columns.filter(|columns| *columns > 1);
        let tuples = self.list(|p| {
            let tuple = p.tuple(many, Self::listed_value)?;
            many = many.or(Some(tuple.len()).filter(|_| columns.is_none()));
            Ok(tuple)
        })?;
        if columns.or(many) == Some(1) && self.at(T::RParen) {
            return Err(self.error_named(&ER_ROW_SINGLE_PARTITION_FIELD_ERROR));
        }
        Ok(tuples)
    }

    /// Values in parentheses, `columns` of them.
    fn tuple<R>(
        &mut self,
        columns: Option<usize>,
        mut value: impl FnMut(&mut Self) -> PResult<R>,
    ) -> PResult<Vec<R>> {
        self.expect(T::LParen)?;
        let mut count = 0;
        let values = self.list(|p| {
            count += 1;
            let value = value(p)?;
            match columns {
                Some(columns) if count > columns => p.fail(&ER_PARTITION_COLUMN_LIST_ERROR, &[]),
                _ => Ok(value),
            }
        })?;
        if columns.is_some_and(|columns| count < columns) {
            return Err(self.error_named(&ER_PARTITION_COLUMN_LIST_ERROR));
        }
        self.expect(T::RParen)?;
        Ok(values)
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
            if self.at_ident() {
                // Compat: the name of an option, so that what comes next is wrong.
                self.next();
                return Err(self.error());
            }
            return Ok(None);
        }
        self.next();
        self.eat(T::Eq);
        Ok(Some(match kw {
            Kw::ENGINE => PartitionOption::Engine(self.alias()?),
            Kw::COMMENT => PartitionOption::Comment(self.comment()?),
            Kw::MAX_ROWS => PartitionOption::MaxRows(self.u64()?),
            Kw::MIN_ROWS => PartitionOption::MinRows(self.u64()?),
            Kw::TABLESPACE => PartitionOption::Tablespace(self.ident()?),
            _ => PartitionOption::NodeGroup(self.u64()?),
        }))
    }
}
