//! MASTER_GTID_WAIT and MASTER_POS_WAIT: waits until a replica has applied something.
//! The applied state is behind the [`Session`](crate::Session) trait.

use std::time::Duration;

use selkie_types::{SqlResult, SqlType, TypeKind};

use crate::expr::Expr;
use crate::function::{Binding, Function, Nature};
use crate::kernel::NativeOut;

/// Longest time that is waited.
const LONGEST: f64 = 1e9;

/// Functions called by name.
pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("MASTER_GTID_WAIT", 1, 2, gtid_wait).nature(Nature::Effect),
    Function::new("MASTER_POS_WAIT", 2, 4, pos_wait).nature(Nature::Effect),
];

fn number(digits: u32) -> SqlType {
    SqlType::new(TypeKind::BigInt, digits, 0)
}

/// 0 when all groups of a list are applied, -1 if the time is over before. Compat: without a time,
/// or with one below zero, it waits for ever.
fn gtid_wait(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.utf8_text(0);
    if b.len() > 1 {
        b.double(1);
    }
    b.maybe(number(10), |frame| {
        let has_time = frame.args.len() > 1;
        let lists = frame.bytes(0);
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let Some(list) = lists.get(row) else {
                out.push(None);
                continue;
            };
            let seconds = if has_time { frame.view::<f64>(1).get(row) } else { None };
            let longest = seconds.filter(|seconds| *seconds >= 0.0);
            let longest = longest.map(|seconds| Duration::from_secs_f64(seconds.min(LONGEST)));
            let list = String::from_utf8_lossy(list);
            let reached = frame.ctx.session.master_gtid_wait(&list, longest)?;
            out.push(Some(if reached { 0i64 } else { -1 }));
        }
        Ok(out.finish())
    })
}

/// The number of events that were waited for until a place of the primary's log was applied, -1 if
/// the time is over before. Compat: the time is a whole number, and only one above zero counts.
fn pos_wait(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.utf8_text(0);
    b.int(1);
    if b.len() > 2 {
        b.int(2);
    }
    if b.len() > 3 {
        b.utf8_text(3);
    }
    b.maybe(number(21), |frame| {
        let count = frame.args.len();
        let (files, offsets) = (frame.bytes(0), frame.view::<i64>(1));
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let seconds = if count > 2 { frame.view::<i64>(2).get(row) } else { None };
            let longest = seconds.and_then(|seconds| u64::try_from(seconds).ok());
            let longest = longest.filter(|seconds| *seconds > 0).map(Duration::from_secs);
            let names = (count > 3).then(|| frame.bytes(3));
            let name = names.as_ref().map(|names| names.get(row));
            let (Some(file), Some(offset)) = (files.get(row), offsets.get(row)) else {
                out.push(None);
                continue;
            };
            let file = String::from_utf8_lossy(file);
            let connection = match name {
                None => None,
                Some(Some(name)) => Some(String::from_utf8_lossy(name)),
                Some(None) => {
                    out.push(None);
                    continue;
                }
            };
            let session = frame.ctx.session;
            out.push(session.master_pos_wait(&file, offset, longest, connection.as_deref())?);
        }
        Ok(out.finish())
    })
}
