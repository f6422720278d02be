//! Variance and standard deviation, by Welford's recurrence.
//! States of workers are combined by the pairwise form of the recurrence.

use std::sync::Arc;

use selkie_types::{Column, SqlResult};

use super::AggregateKind;
use super::state::{Groups, State, same_kind};
use crate::context::EvalContext;
use crate::kernel::{NativeOut, View};

/// Count, mean and sum of squared distances from the mean.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, v: f64) {
        self.count += 1.0;
        let before = self.mean;
        self.mean += (v - before) / self.count;
        self.squares += (v - before) * (v - self.mean);
    }

    fn merge(&mut self, other: Self) {
        if other.count == 0.0 {
            return;
        }
        let count = self.count + other.count;
        let distance = other.mean - self.mean;
        self.squares += other.squares + distance * distance * self.count * other.count / count;
        self.mean += distance * other.count / count;
        self.count = count;
    }
}

/// Spread of the values of each group.
pub(super) struct Spread {
    kind: AggregateKind,
    moments: Vec<Moments>,
}

impl Spread {
    pub(super) fn new(kind: AggregateKind) -> Self {
        Self { kind, moments: Vec::new() }
    }

    fn result(&self, m: &Moments) -> Option<f64> {
        use AggregateKind::{Std, StddevSamp, VarSamp};
        let sample = matches!(self.kind, StddevSamp | VarSamp);
        let divisor = if sample { m.count - 1.0 } else { m.count };
        if divisor <= 0.0 {
            return None;
        }
        let variance = m.squares / divisor;
        let spread = if matches!(self.kind, Std | StddevSamp) { variance.sqrt() } else { variance };
        // Distances beyond the range of doubles give NaN, which is not shown.
        (!spread.is_nan()).then_some(spread)
    }
}

impl State for Spread {
    fn resize(&mut self, groups: usize) {
        self.moments.resize(groups, Moments::default());
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
                self.moments[groups.of(row)].add(v);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: Box<dyn State>, map: &[u32], _: &EvalContext<'_>) -> SqlResult<()> {
        let other = same_kind::<Self>(other);
        map.iter().zip(&other.moments).for_each(|(&to, m)| self.moments[to as usize].merge(*m));
        Ok(())
    }

    fn finish(&mut self, _: &EvalContext<'_>) -> SqlResult<Column> {
        let mut out = NativeOut::new(self.moments.len());
        self.moments.iter().for_each(|m| out.push(self.result(m)));
        Ok(out.finish())
    }
}
