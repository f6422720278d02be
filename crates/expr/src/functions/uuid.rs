//! Universally unique identifiers: UUID, SYS_GUID.
//! Unique within the process even if the clock stands still or goes back.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use selkie_types::{CollationId, Column, FixedBinary, SqlResult, SqlType};

use crate::expr::Expr;
use crate::function::{Binding, Function, Nature};
use crate::kernel::{BytesOut, Frame};

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("UUID", 0, 0, |b| b.maybe(SqlType::of_fixed_binary(FixedBinary::Uuid), uuid))
        .nature(Nature::Volatile),
    Function::new("SYS_GUID", 0, 0, sys_guid).nature(Nature::Volatile),
];

fn uuid(frame: &Frame<'_>) -> SqlResult<Column> {
    let mut out = BytesOut::new(frame.rows);
    for _ in 0..frame.rows {
        out.push(FixedBinary::Uuid.of_bytes(&next()).as_deref());
    }
    Ok(out.finish())
}

/// The digits without hyphens. Compat: in latin1.
fn sys_guid(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.system_constant();
    b.collation = CollationId::LATIN1_SWEDISH_CI;
    let ty = SqlType::varchar(32, b.collation);
    b.maybe(ty, |frame| {
        let mut out = BytesOut::new(frame.rows);
        for _ in 0..frame.rows {
            let digits = next().map(|byte| format!("{byte:02X}")).concat();
            out.push(Some(digits.as_bytes()));
        }
        Ok(out.finish())
    })
}

/// An identifier of version 1: the time in units of 100 ns since 1582, and a random node.
fn next() -> [u8; 16] {
    static NODE: OnceLock<[u8; 8]> = OnceLock::new();
    let time = next_time();
    let mut node = *NODE.get_or_init(|| {
        let mut bytes = [0; 8];
        let _ = getrandom::fill(&mut bytes);
        bytes[2] |= 1;
        bytes
    });
    node[0] = node[0] & 0x3F | 0x80;
    let version = (time >> 48 & 0xFFF | 0x1000) as u16;
    let [a, b, c, d] = (time as u32).to_be_bytes();
    let ([e, f], [g, h]) = (((time >> 32) as u16).to_be_bytes(), version.to_be_bytes());
    let [i, j, k, l, m, n, o, p] = node;
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}

/// The current time; the next free value if it was already used.
fn next_time() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    const SINCE_1582: u64 = 0x01B2_1DD2_1381_4000;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |d| d.as_nanos() as u64 / 100) + SINCE_1582;
    let next = |last: u64| Some(now.max(last + 1));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or(now);
    now.max(last + 1)
}
