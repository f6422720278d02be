//! Visibility of transactions of `mysql.transaction_registry` to each other, for rows of tables
//! that are versioned by transaction. The registry itself is behind the
//! [`SubqueryRunner`](crate::SubqueryRunner) trait.
//!
//! No statement can call these functions by name: FOR SYSTEM_TIME stands for them.

use selkie_types::{Column, Date, DateTime, SqlResult, SqlType, TypeKind};

use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel, Nature};
use crate::kernel::{Frame, NativeOut};

/// The last transaction that was committed at a time or before; 0 if there is none.
pub(crate) static NUMBER_AT: Function =
    Function::new("TRT_TRX_ID", 1, 1, number_at).nature(Nature::Volatile);
/// Whether a transaction sees the changes of another.
pub(crate) static SEES: Function =
    Function::new("TRT_TRX_SEES", 2, 2, |b| sees(b, |f| seen(f, 0))).nature(Nature::Volatile);
/// The same; a transaction sees its own changes.
pub(crate) static SEES_OR_IS: Function =
    Function::new("TRT_TRX_SEES_EQ", 2, 2, |b| sees(b, |f| seen(f, 1))).nature(Nature::Volatile);
/// The time at which a transaction was committed, in the session's time zone.
pub(crate) static COMMIT_TIME: Function =
    Function::new("TRT_COMMIT_TS", 1, 1, commit_time).nature(Nature::Volatile);

/// The last time of a TIMESTAMP, for times behind it.
const LATEST: DateTime = DateTime::from_parts(Date::from_parts(2038, 1, 19), 3, 14, 7, 999_999);

fn number_at(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.datetime(0);
    let ty = SqlType { unsigned: true, ..SqlType::new(TypeKind::BigInt, 20, 0) };
    b.maybe(ty, |frame| {
        let times = frame.view::<DateTime>(0);
        let mut out = NativeOut::new(frame.rows);
        // Mostly one time for all rows.
        let mut last = None;
        for row in 0..frame.rows {
            let Some(time) = times.get(row) else {
                out.push(None);
                continue;
            };
            let number = match last {
                Some((known, number)) if known == time => number,
                _ => match frame.ctx.types.time_zone.to_utc(time) {
                    Some(utc) => frame.ctx.subqueries.transaction_at(utc)?,
                    None if time.date().year() < 2000 => 0,
                    None => frame.ctx.subqueries.transaction_at(LATEST)?,
                },
            };
            last = Some((time, number));
            out.push(Some(number));
        }
        Ok(out.finish())
    })
}

fn sees(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    b.uint(0);
    b.uint(1);
    b.maybe(SqlType::new(TypeKind::Int, 1, 0), kernel)
}

/// `itself`: the answer for a transaction and itself.
fn seen(frame: &Frame<'_>, itself: i64) -> SqlResult<Column> {
    let (watchers, others) = (frame.view::<u64>(0), frame.view::<u64>(1));
    let mut out = NativeOut::new(frame.rows);
    for row in 0..frame.rows {
        let (Some(watcher), Some(other)) = (watchers.get(row), others.get(row)) else {
            out.push(None);
            continue;
        };
        if watcher == other {
            out.push(Some(itself));
            continue;
        }
        let sees = match (watcher, other) {
            // A current row ends after all others, and before all others there is nothing.
            (u64::MAX, _) | (_, 0) => true,
            (_, u64::MAX) | (0, _) => false,
            _ => frame.ctx.subqueries.transaction_sees(watcher, other)?,
        };
        out.push(Some(i64::from(sees)));
    }
    Ok(out.finish())
}

fn commit_time(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.uint(0);
    b.maybe(SqlType::datetime(6), |frame| {
        let numbers = frame.view::<u64>(0);
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let Some(number) = numbers.get(row) else {
                out.push(None);
                continue;
            };
            let utc = frame.ctx.subqueries.committed_at(number)?;
            out.push(Some(frame.ctx.types.time_zone.to_local(utc)));
        }
        Ok(out.finish())
    })
}
