//! Functions about the session and the server, locks and identifiers.
//! The state itself is behind the [`Session`](crate::Session) trait.

use std::time::Duration;

use selkie_types::error::catalogue::{ER_TOO_LONG_IDENT, ER_WRONG_VALUE_FOR_TYPE};
use selkie_types::{CollationId, Column, SqlError, SqlResult, SqlType, TypeKind};

use crate::expr::Expr;
use crate::function::{Binding, Function, Nature};
use crate::kernel::{BytesOut, BytesView, Frame, NativeOut};

/// Longest name of a user lock in bytes.
const MOST_LOCK_NAME: usize = 192;

const fn session(name: &'static str, bind: fn(Binding<'_>) -> SqlResult<Expr>) -> Function {
    Function::new(name, 0, 0, bind).nature(Nature::Statement)
}

const fn effect(
    name: &'static str,
    args: u8,
    bind: fn(Binding<'_>) -> SqlResult<Expr>,
) -> Function {
    Function::new(name, args, args, bind).nature(Nature::Effect)
}

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    session("VERSION", |b| name(b, 26, false)),
    session("DATABASE", |b| name(b, 64, true)),
    session("SCHEMA", |b| name(b, 64, true)),
    session("USER", |b| name(b, 384, true)),
    session("SYSTEM_USER", |b| name(b, 384, true)),
    session("SESSION_USER", |b| name(b, 384, true)),
    session("CURRENT_USER", |b| name(b, 384, true)),
    session("CURRENT_ROLE", |b| name(b, 128, true)),
    session("CONNECTION_ID", |b| {
        let mut ty = SqlType::new(TypeKind::Int, 10, 0);
        ty.unsigned = true;
        b.never_null(ty, |f| same(f, f.ctx.session.connection_id()))
    }),
    session("FOUND_ROWS", |b| {
        b.never_null(big(false), |f| same(f, f.ctx.session.found_rows() as i64))
    }),
    session("ROW_COUNT", |b| b.never_null(big(false), |f| same(f, f.ctx.session.row_count()))),
    Function::new("LAST_INSERT_ID", 0, 1, last_insert_id).nature(Nature::Effect),
    Function::new("UUID_SHORT", 0, 0, |b| {
        b.never_null(big(true), |f| {
            let mut out = NativeOut::new(f.rows);
            (0..f.rows).for_each(|_| out.push(Some(f.ctx.session.uuid_short())));
            Ok(out.finish())
        })
    })
    .nature(Nature::Volatile),
    Function::new("ROWNUM", 0, 0, |b| {
        b.maybe(SqlType { unsigned: true, ..SqlType::new(TypeKind::BigInt, 21, 0) }, |f| {
            let key = std::ptr::from_ref(f.call) as usize;
            let mut out = NativeOut::new(f.rows);
            (0..f.rows).for_each(|_| out.push(Some(f.ctx.count(key))));
            Ok(out.finish())
        })
    })
    .nature(Nature::Volatile),
    Function::new("RANDOM_BYTES", 1, 1, random_bytes).nature(Nature::Volatile),
    effect("SLEEP", 1, sleep),
    Function::new("BENCHMARK", 2, 2, benchmark).nature(Nature::Effect),
    effect("BINLOG_GTID_POS", 2, binlog_gtid_pos),
    effect("GET_LOCK", 2, get_lock),
    effect("RELEASE_LOCK", 1, |b| lock(b, 1)),
    effect("IS_FREE_LOCK", 1, |b| lock(b, 1)),
    effect("IS_USED_LOCK", 1, |b| lock(b, 10)),
    effect("RELEASE_ALL_LOCKS", 0, |b| {
        b.never_null(big(false), |f| same(f, f.ctx.session.release_all_locks()? as i64))
    }),
];

fn big(unsigned: bool) -> SqlType {
    let mut ty = SqlType::new(TypeKind::BigInt, 21, 0);
    ty.unsigned = unsigned;
    ty
}

/// The same value for all rows.
fn same<T: crate::kernel::Native>(frame: &Frame<'_>, value: T) -> SqlResult<Column> {
    let mut out = NativeOut::new(frame.rows);
    (0..frame.rows).for_each(|_| out.push(Some(value)));
    Ok(out.finish())
}

/// A function whose result is a name in the charset of metadata.
fn name(mut b: Binding<'_>, length: u32, nullable: bool) -> SqlResult<Expr> {
    b.system_constant();
    let ty = SqlType::varchar(length, CollationId::UTF8MB3_GENERAL_CI);
    Ok(b.call(ty, nullable, names))
}

/// The name that a call asks for.
fn names(frame: &Frame<'_>) -> SqlResult<Column> {
    let session = frame.ctx.session;
    let text = match frame.call.function.name() {
        "VERSION" => Some(session.version()),
        "DATABASE" | "SCHEMA" => session.database(),
        "CURRENT_USER" => Some(session.current_user()),
        "CURRENT_ROLE" => session.current_role(),
        _ => Some(session.user()),
    };
    let mut out = BytesOut::new(frame.rows);
    (0..frame.rows).for_each(|_| out.push(text.as_ref().map(|t| t.as_bytes())));
    Ok(out.finish())
}

fn last_insert_id(mut b: Binding<'_>) -> SqlResult<Expr> {
    if b.len() == 0 {
        return b.never_null(big(true), |f| same(f, f.ctx.session.last_insert_id()));
    }
    b.uint(0);
    b.strict(big(true), |frame| {
        let ids = frame.view::<u64>(0);
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let id = ids.get(row);
            frame.ctx.session.set_last_insert_id(id.unwrap_or(0));
            out.push(id);
        }
        Ok(out.finish())
    })
}

fn random_bytes(mut b: Binding<'_>) -> SqlResult<Expr> {
    let length = match b.constant_int(0) {
        Some(n) => n.clamp(0, 1024) as u64,
        None => 65_533,
    };
    b.int(0);
    b.collation = CollationId::BINARY;
    let ty = b.string_type(length);
    b.maybe(ty, |frame| {
        let counts = frame.view::<i64>(0);
        let mut out = BytesOut::new(frame.rows);
        for row in 0..frame.rows {
            let count = counts.get(row).filter(|n| (0..=1024).contains(n));
            let mut bytes = vec![0; count.unwrap_or(0) as usize];
            let filled = getrandom::fill(&mut bytes).is_ok();
            out.push((count.is_some() && filled).then_some(&bytes[..]));
        }
        Ok(out.finish())
    })
}

/// SLEEP: 0 after the full time, and at once for NULL and less than nothing; 1 if it was cut short.
fn sleep(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.double(0);
    b.never_null(SqlType::new(TypeKind::Int, 1, 0), |frame| {
        let times = frame.view::<f64>(0);
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let Some(time) = times.get(row).filter(|t| *t >= 0.0) else {
                out.push(Some(0i64));
                continue;
            };
            let finished = frame.ctx.session.sleep(Duration::from_secs_f64(time.min(1e9)))?;
            out.push(Some(i64::from(!finished)));
        }
        Ok(out.finish())
    })
}

/// BENCHMARK: evaluates its second argument many times.
fn benchmark(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.int(0);
    b.never_null(SqlType::new(TypeKind::Int, 1, 0), |frame| {
        let counts = frame.view::<i64>(0);
        let expression = &frame.call.args[1];
        let constant = !expression.any(&mut |e| e.as_column().is_some());
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let given = counts.get(row);
            let count = given.filter(|n| *n >= 0);
            if let (Some(given), None) = (given, count) {
                let arguments: [&dyn std::fmt::Display; 3] = [&"count", &given, &"benchmark"];
                frame.ctx.warn(&ER_WRONG_VALUE_FOR_TYPE, &arguments);
            }
            for i in 0..count.unwrap_or(0) {
                if i % 1024 == 0 {
                    frame.ctx.check_interrupted()?;
                }
                if constant {
                    std::hint::black_box(expression.eval_value(frame.ctx)?);
                }
            }
            out.push(count.map(|_| 0i64));
        }
        Ok(out.finish())
    })
}

/// The longest text that is a position.
const MOST_POSITION: u64 = 16_777_216;

fn binlog_gtid_pos(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.utf8_text(0);
    b.int(1);
    b.connection_collation();
    let ty = b.string_type(MOST_POSITION);
    b.maybe(ty, |frame| {
        let (files, offsets) = (frame.bytes(0), frame.view::<i64>(1));
        let mut out = BytesOut::new(frame.rows);
        for row in 0..frame.rows {
            let (Some(file), Some(offset)) = (files.get(row), offsets.get(row)) else {
                out.push(None);
                continue;
            };
            // Compat: a negative offset is a very large one.
            let file = String::from_utf8_lossy(file);
            let found = frame.ctx.session.binlog_gtid_pos(&file, offset as u64)?;
            out.push(found.as_ref().map(String::as_bytes));
        }
        Ok(out.finish())
    })
}

fn get_lock(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.utf8_text(0);
    b.double(1);
    b.maybe(SqlType::new(TypeKind::Int, 1, 0), |frame| {
        let (names, timeouts) = (frame.bytes(0), frame.view::<f64>(1));
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let (name, asked) = (lock_name(&names, row)?, timeouts.get(row));
            let timeout = asked.filter(|t| *t >= 0.0);
            if name.is_some() && timeout.is_none() {
                let shown = asked.map_or_else(|| "NULL".to_owned(), shown_double);
                frame.ctx.warn(&ER_WRONG_VALUE_FOR_TYPE, &[&"timeout", &shown, &"get_lock"]);
            }
            let (Some(name), Some(timeout)) = (name, timeout) else {
                out.push(None);
                continue;
            };
            out.push(frame.ctx.session.get_lock(name, timeout)?.map(i64::from));
        }
        Ok(out.finish())
    })
}

fn shown_double(v: f64) -> String {
    let mut text = Vec::new();
    selkie_types::number::write_f64(&mut text, v);
    String::from_utf8_lossy(&text).into_owned()
}

/// The name of a user lock; `None` for no name, error 1059 for one that is too long.
fn lock_name<'n>(names: &BytesView<'n>, row: usize) -> SqlResult<Option<&'n [u8]>> {
    let name = names.get(row).filter(|name| !name.is_empty());
    match name.filter(|name| name.len() > MOST_LOCK_NAME) {
        Some(long) => {
            let text = crate::text::for_message(long, CollationId::UTF8MB4_GENERAL_CI);
            Err(SqlError::new(&ER_TOO_LONG_IDENT, &[&text]))
        }
        None => Ok(name),
    }
}

/// `RELEASE_LOCK`, `IS_FREE_LOCK` and `IS_USED_LOCK`.
fn lock(mut b: Binding<'_>, length: u32) -> SqlResult<Expr> {
    b.utf8_text(0);
    b.maybe(SqlType::new(TypeKind::Int, length, 0), |frame| {
        let names = frame.bytes(0);
        let session = frame.ctx.session;
        let mut out = NativeOut::new(frame.rows);
        for row in 0..frame.rows {
            let Some(name) = lock_name(&names, row)? else {
                out.push(None);
                continue;
            };
            out.push(match frame.call.function.name() {
                "RELEASE_LOCK" => session.release_lock(name)?.map(i64::from),
                "IS_FREE_LOCK" => Some(session.lock_holder(name)?.is_none().into()),
                _ => session.lock_holder(name)?.map(|id| id as i64),
            });
        }
        Ok(out.finish())
    })
}
