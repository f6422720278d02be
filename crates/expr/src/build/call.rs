//! Calls by name, and COLLATE and CONVERT USING.
//! Other calls with a syntax of their own are in `special.rs`.

use selkie_types::error::catalogue::{ER_COLLATION_CHARSET_MISMATCH, ER_SP_DOES_NOT_EXIST};
use selkie_types::{CollationId, SqlError, SqlResult};

pub use crate::cast::cast;
use crate::collate::Coercibility;
use crate::context::TypeContext;
use crate::expr::{CallOption, Expr};
use crate::function::Binding;
use crate::functions::function_named;
use crate::refuse::refuse_row;

/// `name(args)`; error 1305 if there is no such function, 1582 for a wrong number of arguments.
pub fn function_call(name: &str, args: Vec<Expr>, types: &TypeContext) -> SqlResult<Expr> {
    let Some(function) = function_named(name) else {
        return Err(SqlError::new(&ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &name]));
    };
    function.check_count(args.len(), name)?;
    let binding = Binding::new(function, args, types);
    binding.scalars()?;
    function.bind(binding)
}

/// `name(args)` in which the text of an argument names values: a path of EXTRACTVALUE or UPDATEXML.
pub fn function_call_naming(
    name: &str,
    mut args: Vec<Expr>,
    named: Vec<(Box<str>, Expr)>,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let function = match args.len() {
        _ if named.is_empty() => return function_call(name, args, types),
        2 => &crate::functions::xml::EXTRACT,
        _ => &crate::functions::xml::UPDATE,
    };
    let names: Vec<&str> = named.iter().map(|(name, _)| &**name).collect();
    let option = CallOption::Name(names.join(",").into());
    args.extend(named.into_iter().map(|(_, e)| e));
    with_option(function, args, option, types)
}

pub(super) fn with_option(
    function: &'static crate::function::Function,
    args: Vec<Expr>,
    option: CallOption,
    types: &TypeContext,
) -> SqlResult<Expr> {
    let binding = Binding::new(function, args, types).with_option(option);
    binding.scalars()?;
    function.bind(binding)
}

/// `e COLLATE name`
pub fn collate(e: Expr, collation: CollationId, types: &TypeContext) -> SqlResult<Expr> {
    refuse_row(&e)?;
    let mut e = e;
    crate::cast::to_text(&mut e, types);
    let (from, to) = (e.ty.collation.charset(), collation.charset());
    if from != to && e.coercibility == Coercibility::Numeric {
        crate::cast::to_charset(&mut e, collation);
    } else if from != to {
        let (name, set) = (collation.name(), from.name());
        return Err(SqlError::new(&ER_COLLATION_CHARSET_MISMATCH, &[&name, &set]));
    }
    crate::cast::to_charset(&mut e, collation);
    e.coercibility = Coercibility::Explicit;
    // Compat: in strict sql modes, every string function is nullable.
    e.nullable |= types.sql_mode.is_strict();
    Ok(e)
}

/// `CONVERT(e USING charset)`, given the charset's collation.
pub fn convert_using(e: Expr, collation: CollationId, types: &TypeContext) -> SqlResult<Expr> {
    refuse_row(&e)?;
    let mut e = e;
    if collation.is_binary() {
        crate::cast::to_its_bytes(&mut e);
    }
    crate::cast::to_text(&mut e, types);
    crate::cast::to_charset(&mut e, collation);
    // A hexadecimal literal becomes a text here and is no number any more.
    e.ty.unsigned = false;
    e.coercibility = Coercibility::Implicit;
    // Compat: a conversion to a text is always nullable.
    e.nullable = true;
    Ok(e)
}
