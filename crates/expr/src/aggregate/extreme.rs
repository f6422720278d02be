//! MIN, MAX and the value of any row.

use std::cmp::Ordering;
use std::sync::Arc;

use selkie_types::{
    CollationId, Column, Date, DateTime, Decimal, Physical, SqlResult, SqlType, Time, Value,
};

use super::state::{Groups, State, same_kind};
use super::{Aggregate, AggregateKind};
use crate::context::EvalContext;
use crate::eval::ColumnScale;
use crate::kernel::{BytesOut, BytesView, DecimalOut, DecimalView, Native, NativeOut, View};

/// The state for the kind of value that is compared.
pub(super) fn state(a: &Aggregate) -> Box<dyn State> {
    let wanted = if a.kind == AggregateKind::Min { Ordering::Less } else { Ordering::Greater };
    match a.ty.physical() {
        Physical::Int => natives::<i64>(wanted),
        Physical::UInt => natives::<u64>(wanted),
        Physical::Double => natives::<f64>(wanted),
        Physical::Date => natives::<Date>(wanted),
        Physical::Time => natives::<Time>(wanted),
        Physical::DateTime => natives::<DateTime>(wanted),
        Physical::Decimal => {
            Box::new(Decimals { wanted, scale: a.ty.decimals, values: Vec::new() })
        }
        Physical::Bytes => {
            Box::new(Strings { wanted, collation: a.ty.collation, values: Vec::new() })
        }
    }
}

fn natives<T: Native + PartialOrd + Send>(wanted: Ordering) -> Box<dyn State> {
    Box::new(Natives::<T> { wanted, values: Vec::new() })
}

/// The best value so far of each group.
struct Natives<T> {
    wanted: Ordering,
    values: Vec<Option<T>>,
}

impl<T: Native + PartialOrd> Natives<T> {
    #[inline]
    fn offer(&mut self, group: usize, v: T) {
        let wanted = self.wanted;
        let best = &mut self.values[group];
        if best.is_none_or(|b| v.partial_cmp(&b) == Some(wanted)) {
            *best = Some(v);
        }
    }
}

impl<T: Native + PartialOrd + Send> State for Natives<T> {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, None);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let view = View::<T>::of(&args[0]);
        for row in 0..rows {
            if let Some(v) = view.get(row) {
                self.offer(groups.of(row), v);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (&to, v) in map.iter().zip(&other.values) {
            if let Some(v) = *v {
                self.offer(to as usize, v);
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let mut out = NativeOut::new(self.values.len());
        self.values.iter().for_each(|v| out.push(*v));
        Ok(out.finish())
    }
}

struct Decimals {
    wanted: Ordering,
    scale: u8,
    values: Vec<Option<Decimal>>,
}

impl Decimals {
    fn offer(&mut self, group: usize, v: Decimal) {
        let wanted = self.wanted;
        let best = &mut self.values[group];
        if best.is_none_or(|b| v.cmp(&b) == wanted) {
            *best = Some(v);
        }
    }
}

impl State for Decimals {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, None);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let view = DecimalView::of(&args[0]);
        for row in 0..rows {
            if let Some(v) = view.get(row) {
                self.offer(groups.of(row), v);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (&to, v) in map.iter().zip(&other.values) {
            if let Some(v) = *v {
                self.offer(to as usize, v);
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let mut out = DecimalOut::new(self.scale, self.values.len());
        self.values.iter().for_each(|v| out.push(*v));
        Ok(out.finish())
    }
}

struct Strings {
    wanted: Ordering,
    collation: CollationId,
    values: Vec<Option<Box<[u8]>>>,
}

impl Strings {
    fn offer(&mut self, group: usize, v: &[u8]) {
        let best = &mut self.values[group];
        let better = best.as_ref().is_none_or(|b| self.collation.compare(v, b) == self.wanted);
        if better {
            *best = Some(v.into());
        }
    }
}

impl State for Strings {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, None);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let view = BytesView::of(&args[0]);
        for row in 0..rows {
            if let Some(v) = view.get(row) {
                self.offer(groups.of(row), v);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (&to, v) in map.iter().zip(&other.values) {
            if let Some(v) = v {
                self.offer(to as usize, v);
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let mut out = BytesOut::new(self.values.len());
        self.values.iter().for_each(|v| out.push(v.as_deref()));
        Ok(out.finish())
    }
}

/// The value of the first row of each group, NULL included.
pub(super) struct First {
    ty: SqlType,
    values: Vec<Option<Value>>,
}

impl First {
    pub(super) fn new(a: &Aggregate) -> Self {
        Self { ty: a.ty.clone(), values: Vec::new() }
    }
}

impl State for First {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, None);
    }

    fn update(
        &mut self,
        groups: Groups<'_>,
        rows: usize,
        args: &[Arc<Column>],
        _: &EvalContext<'_>,
    ) -> SqlResult<()> {
        for row in 0..rows {
            let first = &mut self.values[groups.of(row)];
            if first.is_none() {
                *first = Some(args[0].value(row));
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (&to, v) in map.iter().zip(other.values) {
            let first = &mut self.values[to as usize];
            if first.is_none() {
                *first = v;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let rows = self.values.len();
        let mut out = Column::new(self.ty.physical(), self.ty.decimals_of_column(), rows);
        for value in &self.values {
            out.push(value.as_ref().unwrap_or(&Value::Null));
        }
        Ok(out)
    }
}
