//! `SELECT ... INTO` variables and files. A file is created new, never overwritten, and is checked
//! for the FILE privilege and the allowed folder first. Nothing is sent to the client but the row
//! count.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};

use selkie_expr::Expr;
use selkie_plan::physical::{Operator as PlanOperator, OutputColumn, Plan, PlanNode};
use selkie_sql::ast::{IntoTarget, IntoVariable};
use selkie_types::error::catalogue::{
    ER_CANT_CREATE_FILE, ER_ERROR_ON_WRITE, ER_FILE_EXISTS_ERROR, ER_SP_FETCH_NO_DATA,
    ER_TOO_MANY_ROWS, ER_UNKNOWN_CHARACTER_SET, ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use selkie_types::{Batch, Charset, SqlError, SqlResult, SqlType, TypeKind, Value};

use crate::query::file_format::{Format, fixed_width, write_fixed_row, write_row};
use crate::run::Env;
use crate::state::files::server_path;
use crate::state::session::{Access, Privilege, bump};
use crate::{Outcome, op};

/// Widest field of a file of fields of fixed width, in bytes.
const MOST_FIXED: usize = 16_777_215;

/// Runs a query and writes its rows to the target.
pub(crate) fn run(env: Env<'_>, plan: &Plan, target: &IntoTarget) -> SqlResult<Outcome> {
    let mut rows = match strict_list(env, plan, target) {
        Some((input, exprs)) => Box::new(FirstRow { env, input: op::open(env, input)?, exprs }),
        None => op::open_limited(env, &plan.root)?,
    };
    let affected = match target {
        IntoTarget::Variables(names) => variables(env, plan, names, &mut *rows)?,
        IntoTarget::Outfile { file, charset, format } => {
            let charset = charset.as_deref().map(charset_named).transpose()?;
            let mut format = Format::new(format, charset)?;
            if format.line_end.is_empty() {
                // Compat: the terminator of fields ends lines too.
                format.line_end.clone_from(&format.field_end);
            }
            let mut out = create(env, &String::from_utf8_lossy(&file.bytes))?;
            out_file(env, plan, &format, &mut *rows, &mut out)?
        }
        IntoTarget::Dumpfile(file) => {
            let mut out = create(env, &String::from_utf8_lossy(&file.bytes))?;
            dump_file(env, plan, &mut *rows, &mut out)?
        }
    };
    env.rt.session.values.found_rows.set(affected);
    bump(&env.counters().empty_queries, u64::from(affected == 0));
    Ok(Outcome::changed(affected))
}

/// The list of a SELECT whose values a program's variables take, with its input. Compat: in strict
/// mode an expression that is computed for a variable fails where SET would, and no other part of
/// the query does.
fn strict_list<'r>(
    env: Env<'r>,
    plan: &'r Plan,
    target: &IntoTarget,
) -> Option<(&'r PlanNode, &'r [Expr])> {
    let IntoTarget::Variables(names) = target else { return None };
    let is_local = |name: &IntoVariable| matches!(name, IntoVariable::Local { .. });
    let strict = env.rt.session.is_strict() && names.iter().all(is_local);
    match &plan.root.operator {
        PlanOperator::Project { input, exprs } if strict && plan.rows_examined.is_none() => {
            Some((input, exprs))
        }
        _ => None,
    }
}

/// Computes the list for the first row. The others are only counted: one is an error.
struct FirstRow<'r> {
    env: Env<'r>,
    input: op::BoxOperator<'r>,
    exprs: &'r [Expr],
}

impl op::Operator for FirstRow<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        let Some(batch) = self.input.next()? else { return Ok(None) };
        let raised = self.env.eval.raised();
        self.env.eval.set_strict_arithmetic(true);
        let row = op::project(self.env.eval, self.exprs, &batch.slice(0, 1));
        self.env.eval.set_strict_arithmetic(false);
        self.env.eval.refuse_warnings(raised)?;
        Ok(Some(row?.gather(&vec![0; batch.rows().min(2)])))
    }
}

/// Finds a charset by name; error 1115 if there is none.
pub(crate) fn charset_named(name: &str) -> SqlResult<Charset> {
    Charset::from_name(name).ok_or_else(|| SqlError::new(&ER_UNKNOWN_CHARACTER_SET, &[&name]))
}

fn variables(
    env: Env<'_>,
    plan: &Plan,
    names: &[IntoVariable],
    rows: &mut dyn op::Operator,
) -> SqlResult<u64> {
    // A variable of a row type takes all columns.
    let is_local = matches!(names, [IntoVariable::Local { .. }]);
    let row = env.rt.session.programs.into_row.get().filter(|_| is_local);
    if row.unwrap_or(names.len()) != plan.output.len() {
        return Err(SqlError::new(&ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
    }
    let Some(batch) = rows.next()? else {
        env.eval.warn(&ER_SP_FETCH_NO_DATA, &[]);
        return Ok(0);
    };
    let local = crate::run::local_times::to_client(env.eval, &plan.output, batch.clone());
    let session = env.rt.session;
    if is_local {
        for (at, column) in plan.output.iter().enumerate() {
            env.rt.session.programs.keep_into(batch.value(at, 0), column.ty.clone());
        }
        return one_row(&batch, rows);
    }
    for (at, name) in names.iter().enumerate() {
        let ty = &plan.output[at].ty;
        match name {
            IntoVariable::User(name) => {
                let ty = crate::run::local_times::local_type(ty.clone());
                session.set_variable(name, local.value(at, 0), &ty);
            }
            IntoVariable::Local { .. } => {
                env.rt.session.programs.keep_into(batch.value(at, 0), ty.clone());
            }
        }
    }
    one_row(&batch, rows)
}

/// Fails if there is a second row. Compat: the variables already have the first row's values then.
fn one_row(first: &Batch, rows: &mut dyn op::Operator) -> SqlResult<u64> {
    match first.rows() > 1 || rows.next()?.is_some() {
        true => Err(SqlError::new(&ER_TOO_MANY_ROWS, &[])),
        false => Ok(1),
    }
}

fn create(env: Env<'_>, name: &str) -> SqlResult<BufWriter<File>> {
    let session = env.rt.session;
    let access = Access { privilege: Privilege::File, schema: "", table: "", columns: &[] };
    session.frame.hooks.check_access(session, &access)?;
    let path = server_path(env.rt.instance, name, session.frame.schema.as_deref())?;
    let file = OpenOptions::new().write(true).create_new(true).open(&path);
    file.map(BufWriter::new).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => SqlError::new(&ER_FILE_EXISTS_ERROR, &[&name]),
        _ => SqlError::new(&ER_CANT_CREATE_FILE, &[&name, &crate::state::error::errno(&e)]),
    })
}

fn write_error(name: &str, error: &std::io::Error) -> SqlError {
    SqlError::new(&ER_ERROR_ON_WRITE, &[&name, &crate::state::error::errno(error)])
}

fn text_of(
    batch: &Batch,
    output: &[OutputColumn],
    row: usize,
    charset: Option<Charset>,
) -> Vec<Option<Vec<u8>>> {
    let text = |(at, column): (usize, &OutputColumn)| {
        let value = batch.value(at, row);
        if matches!(value, Value::Null) {
            return None;
        }
        let mut text = Vec::new();
        selkie_types::write_value(&column.ty, &value, &mut text);
        let is_text = column.ty.is_string() && !column.ty.collation.is_binary();
        match charset {
            Some(to) if is_text => {
                Some(column.ty.collation.charset().convert(&text, to).0.into_owned())
            }
            _ => Some(text),
        }
    };
    output.iter().enumerate().map(text).collect()
}

/// Bytes of a written field of fixed width. Compat: an integer has room for all its digits.
fn written_width(ty: &SqlType) -> usize {
    let digits = match ty.kind {
        TypeKind::TinyInt => 3,
        TypeKind::SmallInt => 5,
        TypeKind::MediumInt => 8 - u32::from(!ty.unsigned),
        TypeKind::Int => 10,
        TypeKind::BigInt => 20 - u32::from(!ty.unsigned),
        _ => 0,
    };
    fixed_width(ty).max(digits + u32::from(digits > 0 && !ty.unsigned)) as usize
}

fn out_file(
    env: Env<'_>,
    plan: &Plan,
    format: &Format,
    rows: &mut dyn op::Operator,
    out: &mut BufWriter<File>,
) -> SqlResult<u64> {
    let mut count = 0;
    let mut line = Vec::new();
    let strings: Vec<bool> = plan.output.iter().map(|c| !c.ty.is_numeric()).collect();
    let widths: Vec<usize> = plan.output.iter().map(|c| written_width(&c.ty)).collect();
    // Compat: beside the longest texts, no field has a fixed width.
    let is_fixed = format.is_fixed_width() && widths.iter().all(|width| *width <= MOST_FIXED);
    while let Some(batch) = rows.next()? {
        let batch = crate::run::local_times::to_client(env.eval, &plan.output, batch);
        for row in 0..batch.rows() {
            line.clear();
            let fields = text_of(&batch, &plan.output, row, format.charset);
            match is_fixed {
                true => write_fixed_row(format, &fields, &widths, &mut line),
                false => write_row(format, &fields, &strings, &mut line),
            }
            out.write_all(&line).map_err(|e| write_error("OUTFILE", &e))?;
        }
        count += batch.rows() as u64;
        env.check()?;
    }
    out.flush().map_err(|e| write_error("OUTFILE", &e))?;
    Ok(count)
}

fn dump_file(
    env: Env<'_>,
    plan: &Plan,
    rows: &mut dyn op::Operator,
    out: &mut BufWriter<File>,
) -> SqlResult<u64> {
    let mut count = 0;
    while let Some(batch) = rows.next()? {
        count += batch.rows() as u64;
        if count > 1 {
            return Err(SqlError::new(&ER_TOO_MANY_ROWS, &[]));
        }
        let batch = crate::run::local_times::to_client(env.eval, &plan.output, batch);
        for field in text_of(&batch, &plan.output, 0, None).into_iter().flatten() {
            out.write_all(&field).map_err(|e| write_error("DUMPFILE", &e))?;
        }
    }
    out.flush().map_err(|e| write_error("DUMPFILE", &e))?;
    Ok(count)
}
