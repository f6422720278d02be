//! PARTITION BY and SUBPARTITION BY of CREATE TABLE and ALTER TABLE.
//! Whether methods and definitions fit together is checked when the table is made.

use super::partition_def::Wanted;
use super::{PResult, Parser};
use crate::ast::{Expr, ExprKind, Ident, PartitionBy, PartitionMethod, SubpartitionBy};
use crate::lexer::{Kw, T};
use selkie_types::error::catalogue::ER_TOO_MANY_PARTITION_FUNC_FIELDS_ERROR;

/// Most columns by which rows are partitioned.
const MOST_COLUMNS: usize = 32;

/// Number of values in each tuple that partitions list; `None` if the method has other partitions.
fn columns_of(method: &PartitionMethod) -> Option<usize> {
    match method {
        PartitionMethod::RangeColumns(columns) | PartitionMethod::ListColumns(columns) => {
            Some(columns.len())
        }
        PartitionMethod::List(_) => Some(1),
        _ => None,
    }
}

/// The kind of a method whose partitions are neither of history nor of current rows.
fn kind_of(method: &PartitionMethod) -> Option<&'static str> {
    use PartitionMethod as M;
    match method {
        M::SystemTime { .. } => None,
        M::Hash { .. } => Some("HASH"),
        M::Key { .. } => Some("KEY"),
        M::Range(_) | M::RangeColumns(_) => Some("RANGE"),
        M::List(_) | M::ListColumns(_) => Some("LIST"),
    }
}

impl Parser<'_> {
    /// `PARTITION BY ...`, if present.
    pub(super) fn partition_by_opt(&mut self) -> PResult<Option<Box<PartitionBy>>> {
        if !self.eat2(Kw::PARTITION, Kw::BY) {
            return Ok(None);
        }
        let method = self.partition_method()?;
        let count = self.eat(Kw::PARTITIONS).then(|| self.u64()).transpose()?;
        let subpartition = self.subpartition_by()?;
        let wanted = Wanted {
            parts: count,
            subs: subpartition.as_ref().map(|sub| sub.count),
            columns: columns_of(&method),
            kind: kind_of(&method),
        };
        let partitions = match self.at(T::LParen) {
            true => self.partition_list(&wanted)?,
            false => Vec::new(),
        };
        Ok(Some(PartitionBy { method, count, subpartition, partitions }.into()))
    }

    /// The expression in parentheses of RANGE or LIST. Compat: VALUES(column) is read here.
    fn partition_function(&mut self) -> PResult<Expr> {
        let outer = std::mem::replace(&mut self.place.values_function, true);
        let expr = self.parens(Self::operand);
        self.place.values_function = outer;
        expr
    }

    fn partition_method(&mut self) -> PResult<PartitionMethod> {
        match self.tok.kind {
            T::Word(Kw::RANGE | Kw::LIST) => {
                let range = self.next().kind == T::Word(Kw::RANGE);
                if self.eat_any(&[Kw::COLUMNS, Kw::FIELDS]).is_some() {
                    let columns = self.ident_list()?;
                    self.check_columns(&columns)?;
                    return Ok(match range {
                        true => PartitionMethod::RangeColumns(columns),
                        false => PartitionMethod::ListColumns(columns),
                    });
                }
                let expr = self.partition_function()?;
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
            return Ok(PartitionMethod::Hash { linear, expr: self.parens(Self::operand)? });
        }
        self.expect(Kw::KEY)?;
        let mut algorithm = None;
        if self.eat(Kw::ALGORITHM) {
            self.expect(T::Eq)?;
            let token = self.tok;
            algorithm = Some(self.u64()?);
            if !matches!(algorithm, Some(1 | 2)) {
                return Err(self.error_at(token));
            }
        }
        let columns =
            self.parens(|p| if p.at(T::RParen) { Ok(Vec::new()) } else { p.list(Self::ident) })?;
        self.check_columns(&columns)?;
        Ok(PartitionMethod::Key { linear, algorithm, columns })
    }

    /// Compat: too many columns are found before anything else is checked.
    fn check_columns(&self, columns: &[Ident]) -> PResult<()> {
        match columns.len() > MOST_COLUMNS {
            true => {
                let what = "list of partition fields";
                self.fail(&ER_TOO_MANY_PARTITION_FUNC_FIELDS_ERROR, &[&what])
            }
            false => Ok(()),
        }
    }

    fn system_time_method(&mut self) -> PResult<PartitionMethod> {
        let (mut interval, mut starts, mut limit, mut auto) = (None, None, None, false);
        if self.at(Kw::INTERVAL) {
            let (amount, unit) = self.interval_argument()?;
            interval = Some((Box::new(amount), unit));
            if self.eat(Kw::STARTS) {
                let token = self.tok;
                let expr = self.boxed_expr()?;
                if !matches!(expr.kind, ExprKind::Literal(_)) {
                    return Err(self.error_at(token));
                }
                starts = Some(expr);
            }
        } else if self.eat(Kw::LIMIT) {
            limit = Some(self.u64()?);
        }
        if (interval.is_some() || limit.is_some()) && self.eat(Kw::AUTO) {
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
