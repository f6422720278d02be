//! SUM and AVG: exact over integers and decimals, in 128 bits until that overflows.
//! Doubles are added in the order of the rows.

use std::sync::Arc;

use ethnum::I256;
use selkie_types::{Column, ColumnData, Decimal, DecimalValues, Physical, SqlResult};

use super::state::{Groups, State, same_kind};
use super::{Aggregate, AggregateKind};
use crate::context::EvalContext;
use crate::kernel::{DecimalOut, NativeOut, View};

/// The state for the kind of number to sum.
pub(super) fn state(a: &Aggregate) -> Box<dyn State> {
    if a.ty.physical() == Physical::Double {
        let average = a.kind == AggregateKind::Avg;
        return Box::new(Doubles { sums: Vec::new(), counts: Vec::new(), average });
    }
    let input = &a.args[0].ty;
    let scale = if input.physical() == Physical::Decimal { input.decimals } else { 0 };
    Box::new(Exact {
        sums: Sums::Narrow(Vec::new()),
        counts: Vec::new(),
        scale,
        result_scale: a.ty.decimals,
        average: increment(a),
        narrow_only: true,
    })
}

/// Digits that `AVG` adds; `None` for SUM.
fn increment(a: &Aggregate) -> Option<u32> {
    (a.kind == AggregateKind::Avg).then_some(a.parameter as u32)
}

/// Numbers of 64 bits, of which a few thousand may have a sum of 64 bits.
trait Narrow: Copy + Into<i128> {
    /// The number, if all of a batch are far from the ends of 64 bits.
    fn small(self) -> i64;
    /// A number that has more bits the further this one is from 0.
    fn size(self) -> u64;
}

impl Narrow for i64 {
    fn small(self) -> i64 {
        self
    }

    fn size(self) -> u64 {
        (self ^ self >> 63) as u64
    }
}

impl Narrow for u64 {
    fn small(self) -> i64 {
        self as i64
    }

    fn size(self) -> u64 {
        self
    }
}

/// Whether no sum of some of the values can need more than 64 bits.
fn has_small_sums<T: Narrow>(values: &[T]) -> bool {
    const SMALL: u64 = 1 << 46;
    values.len() < 1 << 16 && values.iter().fold(0, |all, value| all | value.size()) < SMALL
}

enum Sums {
    Narrow(Vec<i128>),
    Wide(Vec<I256>),
}

/// Sums of unscaled values of one scale.
struct Exact {
    sums: Sums,
    counts: Vec<u64>,
    scale: u8,
    result_scale: u8,
    /// Digits that `AVG` adds; `None` for SUM.
    average: Option<u32>,
    /// Only 64-bit values were added: their sum cannot overflow 128 bits.
    narrow_only: bool,
}

impl Exact {
    fn widen(&mut self) -> &mut Vec<I256> {
        if let Sums::Narrow(v) = &self.sums {
            self.sums = Sums::Wide(v.iter().map(|&x| x.into()).collect());
        }
        match &mut self.sums {
            Sums::Wide(v) => v,
            Sums::Narrow(_) => unreachable!("widened above"),
        }
    }

    fn add_i128(&mut self, group: usize, v: i128) {
        if let Sums::Narrow(sums) = &mut self.sums
            && let Some(sum) = sums[group].checked_add(v)
        {
            sums[group] = sum;
            return;
        }
        self.widen()[group] += I256::from(v);
    }

    fn add_wide(&mut self, group: usize, v: I256) {
        self.widen()[group] += v;
    }

    /// Adds 64-bit values; within a batch their sum cannot overflow 128 bits.
    fn add_narrow<T: Narrow>(
        &mut self,
        values: &[T],
        column: &Column,
        groups: Groups<'_>,
        rows: usize,
    ) {
        let plain = column.validity().is_none() && !column.is_constant();
        if let (Groups::One, true, Sums::Narrow(_)) = (groups, plain, &self.sums) {
            let values = &values[..rows];
            let sum: i128 = match has_small_sums(values) {
                true => values.iter().map(|v| v.small()).sum::<i64>().into(),
                false => values.iter().map(|&v| v.into()).sum(),
            };
            self.counts[0] += rows as u64;
            return self.add_i128(0, sum);
        }
        if let (Groups::Ids(ids), true, true, Sums::Narrow(sums)) =
            (groups, plain, self.narrow_only, &mut self.sums)
        {
            for (&id, &v) in ids.iter().zip(&values[..rows]) {
                sums[id as usize] += v.into();
                self.counts[id as usize] += 1;
            }
            return;
        }
        if let (Groups::Sorted(_, sorted), true) = (groups, plain) {
            let values = &values[..rows];
            let small = has_small_sums(values);
            for (group, rows) in sorted.groups() {
                let of = |row: &u32| values[*row as usize];
                let sum: i128 = match small {
                    true => rows.iter().map(|row| of(row).small()).sum::<i64>().into(),
                    false => rows.iter().map(|row| of(row).into()).sum(),
                };
                self.counts[group] += rows.len() as u64;
                self.add_i128(group, sum);
            }
            return;
        }
        for row in 0..rows {
            if !column.is_null(row) {
                let group = groups.of(row);
                self.counts[group] += 1;
                self.add_i128(group, values[column.physical_row(row)].into());
            }
        }
    }
}

impl State for Exact {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
        match &mut self.sums {
            Sums::Narrow(v) => v.resize(groups, 0),
            Sums::Wide(v) => v.resize(groups, I256::ZERO),
        }
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let column = &*args[0];
        match column.data() {
            ColumnData::Int(v) => self.add_narrow(v, column, groups, rows),
            ColumnData::UInt(v) => self.add_narrow(v, column, groups, rows),
            ColumnData::Decimal(d) => match d.values() {
                DecimalValues::I64(v) => self.add_narrow(v, column, groups, rows),
                DecimalValues::I128(v) => {
                    self.narrow_only = false;
                    for row in (0..rows).filter(|&row| !column.is_null(row)) {
                        self.counts[groups.of(row)] += 1;
                        self.add_i128(groups.of(row), v[column.physical_row(row)]);
                    }
                }
                DecimalValues::I256(v) => {
                    for row in (0..rows).filter(|&row| !column.is_null(row)) {
                        self.counts[groups.of(row)] += 1;
                        self.add_wide(groups.of(row), v[column.physical_row(row)]);
                    }
                }
            },
            other => unreachable!("an exact sum of {:?}", other.physical()),
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        self.narrow_only &= other.narrow_only;
        for (from, &to) in map.iter().enumerate() {
            let to = to as usize;
            self.counts[to] += other.counts[from];
            match &other.sums {
                Sums::Narrow(v) => self.add_i128(to, v[from]),
                Sums::Wide(v) => self.add_wide(to, v[from]),
            }
        }
        Ok(())
    }

    fn one(&self, group: usize) -> Option<Box<dyn State>> {
        let sums = match &self.sums {
            Sums::Narrow(v) => Sums::Narrow(vec![v[group]]),
            Sums::Wide(v) => Sums::Wide(vec![v[group]]),
        };
        Some(Box::new(Self { sums, counts: vec![self.counts[group]], ..*self }))
    }

    fn give(&mut self, a: &Aggregate) {
        (self.average, self.result_scale) = (increment(a), a.ty.decimals);
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let mut out = DecimalOut::new(self.result_scale, self.counts.len());
        for (group, &count) in self.counts.iter().enumerate() {
            if count == 0 {
                out.push(None);
                continue;
            }
            let unscaled = match &self.sums {
                Sums::Narrow(v) => I256::from(v[group]),
                Sums::Wide(v) => v[group],
            };
            let sum = Decimal::new(unscaled, self.scale);
            let value = match self.average {
                None => sum,
                Some(increment) => {
                    let count = Decimal::from(count);
                    sum.checked_div(count, increment).unwrap_or(Decimal::ZERO)
                }
            };
            // Compat: a sum may have more digits than its type.
            out.push(Some(value));
        }
        Ok(out.finish())
    }
}

/// Sums of doubles.
struct Doubles {
    sums: Vec<f64>,
    counts: Vec<u64>,
    average: bool,
}

impl State for Doubles {
    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, 0.0);
        self.counts.resize(groups, 0);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let view = View::<f64>::of(&args[0]);
        for row in 0..rows {
            if let Some(v) = view.get(row) {
                let group = groups.of(row);
                self.sums[group] += v;
                self.counts[group] += 1;
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (from, &to) in map.iter().enumerate() {
            self.sums[to as usize] += other.sums[from];
            self.counts[to as usize] += other.counts[from];
        }
        Ok(())
    }

    fn give(&mut self, a: &Aggregate) {
        self.average = a.kind == AggregateKind::Avg;
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let mut out = NativeOut::new(self.sums.len());
        for (&sum, &count) in self.sums.iter().zip(&self.counts) {
            let divisor = if self.average { count as f64 } else { 1.0 };
            out.push((count > 0).then(|| sum / divisor));
        }
        Ok(out.finish())
    }
}
