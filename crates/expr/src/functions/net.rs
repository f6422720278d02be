//! Network addresses as numbers, bytes and texts.
//! INET_ATON accepts more texts than the type INET4, as in MariaDB.

use std::net::Ipv4Addr;

use selkie_meter::tick;
use selkie_types::address::{v4_of_text, v6_of_text, write_bytes};
use selkie_types::{CollationId, Column, FixedBinary, SqlResult, SqlType, TypeKind};

use crate::cast;
use crate::expr::Expr;
use crate::function::{Binding, Function, Kernel};
use crate::kernel::{Frame, NativeOut, bytes_to_bytes, from_bytes, to_bytes};
use crate::result_type::boolean_type;

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("INET_ATON", 1, 1, |mut b| {
        b.ascii_text(0);
        let mut ty = SqlType::new(TypeKind::BigInt, 21, 0);
        ty.unsigned = true;
        b.maybe(ty, |f| from_bytes(f, |text| Ok(inet_aton(text))))
    }),
    Function::new("INET_NTOA", 1, 1, |mut b| {
        b.uint(0);
        b.connection_collation();
        let ty = b.string_type(31);
        b.maybe(ty, inet_ntoa)
    }),
    Function::new("INET6_ATON", 1, 1, |mut b| {
        b.ascii_text(0);
        b.maybe(SqlType::varchar(16, CollationId::BINARY), inet6_aton)
    }),
    Function::new("INET6_NTOA", 1, 1, |mut b| {
        b.text(0);
        let is_binary = b.args[0].ty.collation.is_binary();
        b.connection_collation();
        let ty = b.string_type(39);
        // Compat: a text that is not binary is no address.
        b.maybe(ty, if is_binary { inet6_ntoa } else { no_address })
    }),
    Function::new("IS_IPV4", 1, 1, |b| test(b, |f| each(f, |t| v4_of_text(t).is_some()))),
    Function::new("IS_IPV6", 1, 1, |b| test(b, |f| each(f, |t| v6_of_text(t).is_some()))),
    Function::new("IS_IPV4_COMPAT", 1, 1, |b| test_address(b, |f| each(f, is_compat))),
    Function::new("IS_IPV4_MAPPED", 1, 1, |b| test_address(b, |f| each(f, is_mapped))),
];

/// A test of an address in text; NULL is no address.
fn test(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    b.text(0);
    b.strict(boolean_type(), kernel)
}

/// A test of a binary address, or of one in a text. Without an address the result is false, not
/// NULL.
fn test_address(mut b: Binding<'_>, kernel: Kernel) -> SqlResult<Expr> {
    let nullable = b.args[0].nullable;
    cast::to_fixed_binary(&mut b.args[0], FixedBinary::Inet6, b.types);
    Ok(Expr { nullable, ..b.maybe(boolean_type(), kernel)? })
}

fn each(frame: &Frame<'_>, f: fn(&[u8]) -> bool) -> SqlResult<Column> {
    // Compat: NULL is no address, so the result is 0.
    let view = frame.bytes(0);
    let mut out = NativeOut::new(frame.rows);
    (0..frame.rows).for_each(|row| out.push(Some(i64::from(view.get(row).is_some_and(f)))));
    Ok(out.finish())
}

fn is_compat(bytes: &[u8]) -> bool {
    let v: Result<[u8; 16], _> = bytes.try_into();
    v.is_ok_and(|v| v[..12] == [0; 12] && v[12..] > [0, 0, 0, 1][..])
}

fn is_mapped(bytes: &[u8]) -> bool {
    let v: Result<[u8; 16], _> = bytes.try_into();
    v.is_ok_and(|v| v[..10] == [0; 10] && v[10..12] == [0xFF; 2])
}

/// Compat: an address may have fewer than four numbers, the last of which is the host. A number
/// before a point may be missing; of more than four numbers the last ones count.
fn inet_aton(text: &[u8]) -> Option<u64> {
    tick(text.len());
    let (mut address, mut number, mut points) = (0u64, 0u64, 0);
    for &b in text {
        match b {
            b'0'..=b'9' => number = number * 10 + u64::from(b - b'0'),
            b'.' => (address, number, points) = (address << 8 | number, 0, points + 1),
            _ => return None,
        }
        if number > 255 {
            return None;
        }
    }
    let missing = if (1..3).contains(&points) { 3 - points } else { 0 };
    text.last().filter(|b| **b != b'.').map(|_| address << (8 * (missing + 1)) | number)
}

fn inet_ntoa(frame: &Frame<'_>) -> SqlResult<Column> {
    to_bytes(frame, |v: u64, out| {
        let Ok(v) = u32::try_from(v) else { return false };
        out.extend_from_slice(Ipv4Addr::from(v).to_string().as_bytes());
        true
    })
}

fn inet6_aton(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |bytes, out| {
        if let Some(v4) = v4_of_text(bytes) {
            out.extend_from_slice(&v4.octets());
            return true;
        }
        v6_of_text(bytes).is_some_and(|v6| {
            out.extend_from_slice(&v6.octets());
            true
        })
    })
}

fn no_address(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |_, _| false)
}

fn inet6_ntoa(frame: &Frame<'_>) -> SqlResult<Column> {
    bytes_to_bytes(frame, |bytes, out| {
        write_bytes(bytes, out);
        matches!(bytes.len(), 4 | 16)
    })
}
