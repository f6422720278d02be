//! EXTRACTVALUE and UPDATEXML: paths into XML documents.
//! The path must be the same for all rows; parser and evaluation are in `crate::xml`.

use std::sync::Arc;

use selkie_types::error::catalogue::{ER_UNKNOWN_ERROR, ER_WRONG_VALUE};
use selkie_types::{Charset, CollationId, Column, SqlError, SqlResult, Value};

use crate::expr::{CallOption, Expr, ExprKind};
use crate::function::{Binding, Function, Kernel, MANY, Nature};
use crate::kernel::{BytesOut, Frame};
use crate::xml::{Document, Evaluation, Kind, Path};

/// EXTRACTVALUE with the values of `$name` after its arguments; their names are in the option.
pub(crate) static EXTRACT: Function = Function::new("EXTRACTVALUE", 2, MANY, bind_extract);

/// UPDATEXML with such values.
pub(crate) static UPDATE: Function = Function::new("UPDATEXML", 3, MANY, bind_update);

/// The functions for paths that name user variables.
static EXTRACT_VARIABLE: Function =
    Function::new("EXTRACTVALUE", 2, MANY, bind_extract).nature(Nature::Volatile);
static UPDATE_VARIABLE: Function =
    Function::new("UPDATEXML", 3, MANY, bind_update).nature(Nature::Volatile);

/// Functions called by name.
pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("EXTRACTVALUE", 2, 2, bind_extract),
    Function::new("UPDATEXML", 3, 3, bind_update),
];

fn bind_extract(b: Binding<'_>) -> SqlResult<Expr> {
    bind(b, 2, extract)
}

fn bind_update(b: Binding<'_>) -> SqlResult<Expr> {
    bind(b, 3, update)
}

/// Converts texts to one charset in which markup is ASCII.
fn bind(mut b: Binding<'_>, count: usize, kernel: Kernel) -> SqlResult<Expr> {
    let result = b.unify(0..count, true)?.collation;
    if result.charset().min_len() > 1 {
        let utf8 = CollationId::UTF8MB4_GENERAL_CI;
        (0..count).for_each(|at| crate::cast::to_charset(&mut b.args[at], utf8));
        b.collation = utf8;
    }
    for at in count..b.len() {
        if !b.args[at].ty.is_numeric() {
            b.text(at);
        }
    }
    let varies = |e: &Expr| match &e.kind {
        ExprKind::Column(_) | ExprKind::Subquery(_) | ExprKind::AssignUserVariable(..) => true,
        ExprKind::Call(call) => !call.function.is_deterministic(),
        _ => false,
    };
    if b.args[1].any(&mut |e| varies(e)) {
        return Err(only_constants());
    }
    if let Some(Value::Bytes(path)) = b.constant(1) {
        Path::parse(&path, &locals(&b.option))?;
        if path.windows(2).any(|w| w == b"$@") {
            b.function = if count == 2 { &EXTRACT_VARIABLE } else { &UPDATE_VARIABLE };
        }
    }
    let ty = crate::function::string_type(u32::MAX.into(), result, b.types);
    b.maybe(ty, kernel)
}

fn only_constants() -> SqlError {
    SqlError::with_message(&ER_UNKNOWN_ERROR, "Only constant XPATH queries are supported")
}

/// The names that `$name` may use.
fn locals(option: &CallOption) -> Vec<&str> {
    match option {
        CallOption::Name(names) => names.split(',').collect(),
        _ => Vec::new(),
    }
}

/// The path of a call, the same for all rows.
fn path(frame: &Frame<'_>) -> SqlResult<Option<Arc<Path>>> {
    let paths = frame.bytes(1);
    let Some(text) = paths.get(0).filter(|_| frame.rows > 0) else { return Ok(None) };
    let call = frame.call;
    let literal = call.args[1].as_literal().is_some();
    let parsed =
        call.cache.get_or(literal, || Path::parse(text, &locals(&call.option)).map(Arc::new));
    match &*parsed {
        Ok(path) => Ok(Some(path.clone())),
        Err(error) => Err(error.clone()),
    }
}

/// A document; NULL with a warning if it is malformed.
fn document<'a>(frame: &Frame<'_>, text: &'a [u8]) -> Option<Document<'a>> {
    match Document::parse(text) {
        Ok(document) => Some(document),
        Err(e) => {
            let what = format!("parse error at line {} pos {}: {}", e.line, e.position, e.message);
            frame.warn_of(0, &ER_WRONG_VALUE, &[&"XML", &what]);
            None
        }
    }
}

/// Applies `f` to the document of each row.
fn each(
    frame: &Frame<'_>,
    fixed: usize,
    f: impl Fn(usize, &Path, &Evaluation<'_>) -> Option<Vec<u8>>,
) -> SqlResult<Column> {
    let mut out = BytesOut::new(frame.rows);
    let (texts, path) = (frame.bytes(0), path(frame)?);
    let (from, to) = (frame.call.collation.charset(), frame.ty.collation.charset());
    for row in 0..frame.rows {
        let missing = frame.args[..fixed].iter().any(|arg| arg.is_null(row));
        let (Some(path), false) = (&path, missing) else {
            out.push(None);
            continue;
        };
        let locals: Vec<Value> = frame.args[fixed..].iter().map(|arg| arg.value(row)).collect();
        let result = document(frame, texts.value(row)).and_then(|document| {
            let collation = frame.call.collation;
            let context = frame.ctx;
            f(row, path, &Evaluation { document: &document, context, collation, locals: &locals })
        });
        let text = result.map(|text| converted(from, to, text));
        out.push(text.filter(|text| !frame.has_grown(row, text.len())).as_deref());
    }
    Ok(out.finish())
}

fn converted(from: Charset, to: Charset, text: Vec<u8>) -> Vec<u8> {
    if from == to { text } else { from.convert(&text, to).0.into_owned() }
}

fn extract(frame: &Frame<'_>) -> SqlResult<Column> {
    each(frame, 2, |_, path, evaluation| evaluation.text(&path.tree))
}

/// Replaces the node if the path finds exactly one; otherwise the document is unchanged.
fn update(frame: &Frame<'_>) -> SqlResult<Column> {
    let replacements = frame.bytes(2);
    each(frame, 3, |row, path, evaluation| {
        if path.tree.kind() != Kind::Nodes {
            return None;
        }
        let document = evaluation.document;
        let [item] = evaluation.nodes(&path.tree)[..] else { return Some(document.text.to_vec()) };
        let whole = &document.nodes[item.node].whole;
        let parts =
            [&document.text[..whole.start], replacements.value(row), &document.text[whole.end..]];
        Some(parts.concat())
    })
}
