//! MIN and MAX.
//! MIN and MAX compare under the collation of the result; equal values keep the first one seen.

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::Arc;

use selkie_types::{CollationId, Column, Date, DateTime, Decimal, Physical, SqlResult, Time};

use super::state::{Groups, State, same_kind};
use super::{Aggregate, AggregateKind};
use crate::context::EvalContext;
use crate::kernel::{BytesOut, BytesView, DecimalOut, DecimalView, Native, NativeOut, View};

/// The state for the kind of value to compare.
pub(super) fn state(a: &Aggregate) -> Box<dyn State> {
    let wanted = if a.kind == AggregateKind::Min { Ordering::Less } else { Ordering::Greater };
    match a.ty.physical() {
        Physical::Int => best(wanted, Natives::<i64>::default()),
        Physical::UInt => best(wanted, Natives::<u64>::default()),
        Physical::Double => best(wanted, Natives::<f64>::default()),
        Physical::Date => best(wanted, Natives::<Date>::default()),
        Physical::Time => best(wanted, Natives::<Time>::default()),
        Physical::DateTime => best(wanted, Natives::<DateTime>::default()),
        Physical::Decimal => best(wanted, Decimals { scale: a.ty.decimals }),
        Physical::Bytes => best(wanted, Strings { collation: a.ty.collation }),
    }
}

fn best<C: Compared + 'static>(wanted: Ordering, compared: C) -> Box<dyn State> {
    Box::new(Best { wanted, compared, values: Vec::new() })
}

/// A kind of ordered values.
trait Compared: Copy + Send {
    /// A value in a column.
    type Seen<'v>: Copy;
    /// A value that outlives its column.
    type Kept: Clone + Send;

    /// Calls `offer` with the row and the value of each row that has one.
    fn each<'v>(column: &'v Column, rows: usize, offer: impl FnMut(usize, Self::Seen<'v>));
    /// A kept value in the form it has in a column.
    fn seen(kept: &Self::Kept) -> Self::Seen<'_>;
    /// Copies a value so that it outlives its column.
    fn keep(seen: Self::Seen<'_>) -> Self::Kept;
    /// The order of two values; `None` for numbers without an order.
    fn compare(&self, a: Self::Seen<'_>, b: Self::Seen<'_>) -> Option<Ordering>;
    /// A column of the values.
    fn column(&self, values: &[Option<Self::Kept>]) -> Column;
}

/// The best value so far of each group.
struct Best<C: Compared> {
    wanted: Ordering,
    compared: C,
    values: Vec<Option<C::Kept>>,
}

impl<C: Compared> Best<C> {
    #[inline]
    fn offer(&mut self, group: usize, seen: C::Seen<'_>) {
        let best = &mut self.values[group];
        let wanted = Some(self.wanted);
        if best.as_ref().is_none_or(|b| self.compared.compare(seen, C::seen(b)) == wanted) {
            *best = Some(C::keep(seen));
        }
    }
}

impl<C: Compared + 'static> State for Best<C> {
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
        C::each(&args[0], rows, |row, seen| self.offer(groups.of(row), seen));
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        for (&to, kept) in map.iter().zip(&other.values) {
            if let Some(kept) = kept {
                self.offer(to as usize, C::seen(kept));
            }
        }
        Ok(())
    }

    fn one(&self, group: usize) -> Option<Box<dyn State>> {
        let values = vec![self.values[group].clone()];
        Some(Box::new(Self { wanted: self.wanted, compared: self.compared, values }))
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        Ok(self.compared.column(&self.values))
    }
}

/// Kinds whose values a column holds directly.
#[derive(Clone, Copy)]
struct Natives<T>(PhantomData<T>);

impl<T> Default for Natives<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Native + PartialOrd + Send> Compared for Natives<T> {
    type Seen<'v> = T;
    type Kept = T;

    #[inline]
    fn each<'v>(column: &'v Column, rows: usize, mut offer: impl FnMut(usize, Self::Seen<'v>)) {
        let view = View::<T>::of(column);
        (0..rows).for_each(|row| view.get(row).into_iter().for_each(|v| offer(row, v)));
    }

    fn seen(kept: &T) -> T {
        *kept
    }

    fn keep(seen: T) -> T {
        seen
    }

    fn compare(&self, a: T, b: T) -> Option<Ordering> {
        a.partial_cmp(&b)
    }

    fn column(&self, values: &[Option<T>]) -> Column {
        let mut out = NativeOut::new(values.len());
        values.iter().for_each(|v| out.push(*v));
        out.finish()
    }
}

#[derive(Clone, Copy)]
struct Decimals {
    scale: u8,
}

impl Compared for Decimals {
    type Seen<'v> = Decimal;
    type Kept = Decimal;

    fn each<'v>(column: &'v Column, rows: usize, mut offer: impl FnMut(usize, Self::Seen<'v>)) {
        let view = DecimalView::of(column);
        (0..rows).for_each(|row| view.get(row).into_iter().for_each(|v| offer(row, v)));
    }

    fn seen(kept: &Decimal) -> Decimal {
        *kept
    }

    fn keep(seen: Decimal) -> Decimal {
        seen
    }

    fn compare(&self, a: Decimal, b: Decimal) -> Option<Ordering> {
        Some(a.cmp(&b))
    }

    fn column(&self, values: &[Option<Decimal>]) -> Column {
        let mut out = DecimalOut::new(self.scale, values.len());
        values.iter().for_each(|v| out.push(*v));
        out.finish()
    }
}

#[derive(Clone, Copy)]
struct Strings {
    collation: CollationId,
}

impl Compared for Strings {
    type Seen<'v> = &'v [u8];
    type Kept = Box<[u8]>;

    fn each<'v>(column: &'v Column, rows: usize, mut offer: impl FnMut(usize, Self::Seen<'v>)) {
        let view = BytesView::of(column);
        (0..rows).for_each(|row| view.get(row).into_iter().for_each(|v| offer(row, v)));
    }

    fn seen(kept: &Box<[u8]>) -> &[u8] {
        kept
    }

    fn keep(seen: &[u8]) -> Box<[u8]> {
        seen.into()
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Option<Ordering> {
        Some(self.collation.compare(a, b))
    }

    fn column(&self, values: &[Option<Box<[u8]>>]) -> Column {
        let mut out = BytesOut::new(values.len());
        values.iter().for_each(|v| out.push(v.as_deref()));
        out.finish()
    }
}
