//! LIKE.

use selkie_types::charset::LikePattern;
use selkie_types::{Column, SqlResult};

use crate::build;
use crate::expr::{CallOption, Expr, ExprKind};
use crate::function::{Binding, Function};
use crate::kernel::{Frame, NativeOut};

pub(crate) static LIKE: Function = Function::new("LIKE", 2, 2, bind);

fn bind(mut b: Binding<'_>) -> SqlResult<Expr> {
    b.unify(0..2, true)?;
    b.strict(build::boolean_type(), like)
}

fn escape(frame: &Frame<'_>) -> Option<u32> {
    match frame.call.option {
        CallOption::Number(code) => u32::try_from(code).ok(),
        _ => Some(u32::from(b'\\')),
    }
}

fn like(frame: &Frame<'_>) -> SqlResult<Column> {
    let (values, patterns) = (frame.bytes(0), frame.bytes(1));
    let (collation, escape) = (frame.call.collation, escape(frame));
    let mut out = NativeOut::new(frame.rows);
    if !patterns.is_constant() {
        for row in 0..frame.rows {
            let pair = values.get(row).zip(patterns.get(row));
            out.push(pair.map(|(v, p)| i64::from(collation.like(v, p, escape))));
        }
        return Ok(out.finish());
    }
    let Some(text) = patterns.get(0) else {
        (0..frame.rows).for_each(|_| out.push(None::<i64>));
        return Ok(out.finish());
    };
    let literal = matches!(frame.call.args[1].kind, ExprKind::Literal(_));
    let make = || LikePattern::new(collation, text, escape);
    let pattern = frame.call.cache.get_or(literal, make);
    (0..frame.rows).for_each(|row| {
        out.push(values.get(row).map(|v| i64::from(pattern.matches(v))));
    });
    Ok(out.finish())
}
