//! VALUES LESS THAN and VALUES IN: constants, their types and their order. A constant is kept with
//! its value and the text that SHOW CREATE TABLE shows.

use std::cmp::Ordering;

use hashbrown::HashSet;
use selkie_catalog::{
    MethodKind, PartitionLimit, PartitionMethod, PartitionValue, Partitioning, TableInfo,
};
use selkie_expr::{EvalContext, Expr as Bound};
use selkie_sql::ast::{self, Expr, PartitionDef, PartitionValues};
use selkie_types::error::catalogue::*;
use selkie_types::{Batch, Charset, SqlError, SqlResult, SqlType, TypeKind, Value};

use super::function::{check_constant, depends_on_session, sign, varying};
use super::{history, not_found};
use crate::bind::Clause;
use crate::define::{DefineContext, constant, expressions};
use crate::partition::{ColumnKeys, Sign, as_signed};

/// The rows that a partition holds, by its definition.
pub(super) fn limit(
    context: &DefineContext<'_>,
    table: &TableInfo,
    method: &PartitionMethod,
    def: &PartitionDef,
) -> SqlResult<PartitionLimit> {
    let constants = Constants { context, table, method, part: &def.name.value };
    let is_range = matches!(method.kind, MethodKind::Range | MethodKind::RangeColumns);
    let is_list = matches!(method.kind, MethodKind::List | MethodKind::ListColumns);
    let wrong = |kind: &str, values: &str| {
        Err(SqlError::new(&ER_PARTITION_WRONG_VALUES_ERROR, &[&kind, &values]))
    };
    let missing = |kind: &str, values: &str| {
        Err(SqlError::new(&ER_PARTITION_REQUIRES_VALUES_ERROR, &[&kind, &values]))
    };
    match &def.values {
        PartitionValues::LessThan(bounds) if is_range => constants.bounds(bounds),
        PartitionValues::LessThan(_) => wrong("RANGE", "LESS THAN"),
        PartitionValues::In(tuples) if is_list => constants.tuples(tuples),
        PartitionValues::In(_) => wrong("LIST", "IN"),
        PartitionValues::Default if is_list => Ok(PartitionLimit::Default),
        PartitionValues::Default => wrong("LIST", "DEFAULT"),
        PartitionValues::History | PartitionValues::Current => history::limit(method.kind, def),
        PartitionValues::None if is_range => missing("RANGE", "LESS THAN"),
        PartitionValues::None if is_list => missing("LIST", "IN"),
        PartitionValues::None => Ok(PartitionLimit::Slot),
    }
}

/// The error of the first value that is no integer, for a partitioning by values of a function.
pub(super) fn wrong_values(
    context: &DefineContext<'_>,
    table: &TableInfo,
    by: &ast::PartitionBy,
) -> Option<SqlError> {
    let method = PartitionMethod {
        kind: super::kind_of(&by.method),
        linear: false,
        algorithm: None,
        expression: String::new(),
        columns: Vec::new(),
        rotation: None,
    };
    if !matches!(method.kind, MethodKind::Range | MethodKind::List) {
        return None;
    }
    let errors = by.partitions.iter().filter_map(|def| limit(context, table, &method, def).err());
    errors.into_iter().find(|error| error.is(&ER_VALUES_IS_NOT_INT_TYPE_ERROR))
}

/// Reads the constants of one partition.
struct Constants<'a> {
    context: &'a DefineContext<'a>,
    table: &'a TableInfo,
    method: &'a PartitionMethod,
    part: &'a str,
}

impl Constants<'_> {
    fn bounds(&self, bounds: &[Option<Expr>]) -> SqlResult<PartitionLimit> {
        if self.method.kind == MethodKind::Range {
            return match bounds {
                [None] => Ok(PartitionLimit::LessThan(Vec::new())),
                [Some(bound)] => {
                    let value = self.integer(bound)?;
                    match value.value.is_null() {
                        true => Err(SqlError::new(&ER_NULL_IN_VALUES_LESS_THAN, &[])),
                        false => Ok(PartitionLimit::LessThan(vec![Some(value)])),
                    }
                }
                _ => Err(SqlError::new(&ER_TOO_MANY_VALUES_ERROR, &[&"RANGE"])),
            };
        }
        if bounds.len() != self.method.columns.len() {
            return Err(SqlError::new(&ER_PARTITION_COLUMN_LIST_ERROR, &[]));
        }
        let mut values = Vec::with_capacity(bounds.len());
        for (at, bound) in bounds.iter().enumerate() {
            let value = bound.as_ref().map(|bound| self.of_column(at, bound)).transpose()?;
            if value.as_ref().is_some_and(|value| value.value.is_null()) {
                return Err(SqlError::new(&ER_NULL_IN_VALUES_LESS_THAN, &[]));
            }
            values.push(value);
        }
        Ok(PartitionLimit::LessThan(values))
    }

    fn tuples(&self, tuples: &[Vec<Expr>]) -> SqlResult<PartitionLimit> {
        let mut out = Vec::with_capacity(tuples.len());
        for tuple in tuples {
            if self.method.kind == MethodKind::List {
                let [value] = &tuple[..] else {
                    return Err(SqlError::new(&ER_PARTITION_COLUMN_LIST_ERROR, &[]));
                };
                out.push(vec![self.integer(value)?]);
                continue;
            }
            if tuple.len() != self.method.columns.len() {
                return Err(SqlError::new(&ER_PARTITION_COLUMN_LIST_ERROR, &[]));
            }
            let values = tuple.iter().enumerate().map(|(at, value)| self.of_column(at, value));
            out.push(values.collect::<SqlResult<Vec<_>>>()?);
        }
        if self.method.kind == MethodKind::List {
            // Compat: NULL is shown first.
            out.sort_by_key(|tuple| !tuple[0].value.is_null());
        }
        Ok(PartitionLimit::In(out))
    }

    /// A constant that is bound and computed.
    fn constant(&self, expr: &Expr) -> SqlResult<(Bound, Value)> {
        let none = TableInfo { columns: Vec::new(), ..self.table.clone() };
        if depends_on_session(expr) {
            return Err(varying(self.context, expr));
        }
        let bound = expressions::with_binder(self.context, |binder| {
            binder.row_syntax(&none, expr, Clause::Partition)
        });
        let bound = match bound {
            // Compat: a stored function is not looked for.
            Err(error) if error.is(&ER_SP_DOES_NOT_EXIST) => {
                return Err(varying(self.context, expr));
            }
            bound => bound?,
        };
        if !bound.is_deterministic() {
            return Err(varying(self.context, expr));
        }
        check_constant(expr)?;
        let value = bound.eval(self.context.eval, &Batch::one_row())?.value(0);
        Ok((bound, value))
    }

    /// The value that an integer expression is compared with.
    fn integer(&self, expr: &Expr) -> SqlResult<PartitionValue> {
        let (bound, value) = self.constant(expr)?;
        let text = match &value {
            Value::Null => "NULL".to_owned(),
            Value::Int(v) => v.to_string(),
            Value::UInt(v) => v.to_string(),
            _ => return Err(SqlError::new(&ER_VALUES_IS_NOT_INT_TYPE_ERROR, &[&self.part])),
        };
        let integer = bound.ty.kind == TypeKind::Null || bound.ty.is_integer();
        if !integer {
            return Err(SqlError::new(&ER_VALUES_IS_NOT_INT_TYPE_ERROR, &[&self.part]));
        }
        if matches!(value, Value::Int(v) if v < 0)
            && sign(self.context, self.table, self.method)? == Sign::Unsigned
        {
            return Err(SqlError::new(&ER_PARTITION_CONST_DOMAIN_ERROR, &[]));
        }
        Ok(PartitionValue { value, text })
    }

    /// The value that a column is compared with.
    fn of_column(&self, at: usize, expr: &Expr) -> SqlResult<PartitionValue> {
        let wrong = || SqlError::new(&ER_WRONG_TYPE_COLUMN_VALUE_ERROR, &[]);
        let at = self.table.column_position(&self.method.columns[at]).ok_or_else(not_found)?;
        let column = &self.table.columns[at];
        let (bound, value) = self.constant(expr)?;
        if value.is_null() {
            return Ok(PartitionValue { value, text: "NULL".into() });
        }
        let ty = &bound.ty;
        let fits = match () {
            () if column.ty.is_integer() => ty.is_integer(),
            () if column.ty.is_temporal() => ty.is_string() || ty.is_temporal(),
            () => ty.is_string(),
        };
        if !fits {
            return Err(wrong());
        }
        self.check_text(&bound, &value, &column.ty)?;
        let text = self.shown(&bound)?;
        // Compat: a text that is too long is cut.
        let stored = match column.ty.is_string() {
            true => Some(self.cut(&bound, &column.ty)?),
            false => constant::store(self.context, bound, column),
        };
        let value = stored.ok_or_else(wrong)?;
        // An address or identifier is shown in the form of its type, however it was given.
        let text = match (column.ty.fixed_binary(), &value) {
            (Some(kind), Value::Bytes(bytes)) => {
                let mut shown = Vec::new();
                kind.write_text(bytes, &mut shown);
                quoted(&String::from_utf8_lossy(&shown))
            }
            _ => text,
        };
        Ok(PartitionValue { value, text })
    }

    /// Fails (1564) if a text has characters that the column's text has not, and (1292) if it is no
    /// address or identifier.
    fn check_text(&self, bound: &Bound, value: &Value, ty: &SqlType) -> SqlResult<()> {
        let is_text = bound.ty.is_string() && !bound.ty.is_binary_string();
        let (Value::Bytes(text), true) = (value, is_text) else { return Ok(()) };
        let charset = match ty.is_string() {
            true => ty.collation.charset(),
            false => Charset::Latin1,
        };
        let (converted, lost) = bound.ty.collation.charset().convert(text, charset);
        if lost > 0 {
            return Err(SqlError::new(&ER_PARTITION_FUNCTION_IS_NOT_ALLOWED, &[]));
        }
        match ty.fixed_binary() {
            Some(kind) if kind.of_text(&converted).is_none() => {
                let (shown, _) = charset.convert(&converted, Charset::Utf8mb4);
                let shown = String::from_utf8_lossy(&shown);
                let message = format!("Incorrect {} value: '{shown}'", kind.name());
                let def = &ER_TRUNCATED_WRONG_VALUE;
                Err(SqlError::raw(def.code, def.sqlstate, message))
            }
            _ => Ok(()),
        }
    }

    fn cut(&self, bound: &Bound, ty: &SqlType) -> SqlResult<Value> {
        let Value::Bytes(bytes) = bound.eval(self.context.eval, &Batch::one_row())?.value(0) else {
            return Err(SqlError::new(&ER_WRONG_TYPE_COLUMN_VALUE_ERROR, &[]));
        };
        let charset = ty.collation.charset();
        let (bytes, _) = bound.ty.collation.charset().convert(&bytes, charset);
        let mut kept = charset.prefix(&bytes, ty.length as usize).to_vec();
        if ty.kind == TypeKind::Char && ty.collation.is_binary() {
            kept.resize(ty.length as usize, 0);
        }
        Ok(Value::bytes(kept))
    }

    /// Compat: the constant as given, in one form.
    fn shown(&self, bound: &Bound) -> SqlResult<String> {
        let mut text = bound.clone();
        let eval = EvalContext::detached(&self.context.eval.types);
        let is_number = text.ty.is_integer();
        if bound.ty.is_string()
            && bound.ty.collation.is_binary()
            && let Value::Bytes(bytes) = bound.eval_value(&eval)?
        {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            return Ok(format!("_binary 0x{digits}"));
        }
        selkie_expr::cast::to_text(&mut text, &self.context.eval.types);
        let charset = text.ty.collation.charset();
        let Value::Bytes(bytes) = text.eval_value(&eval)? else { return Ok("NULL".into()) };
        let (bytes, _) = charset.convert(&bytes, Charset::Utf8mb4);
        // Surrogates cannot be shown.
        let text = String::from_utf8(bytes.into_owned());
        let text = text.map_err(|_| SqlError::new(&ER_WRONG_TYPE_COLUMN_VALUE_ERROR, &[]))?;
        Ok(if is_number { text } else { quoted(&text) })
    }
}

/// Compat: quotes are doubled, other special characters escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("''"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Fails unless the ranges rise, and no value is in two lists.
pub(super) fn check(
    context: &DefineContext<'_>,
    partitioning: &Partitioning,
    table: &TableInfo,
) -> SqlResult<()> {
    let defaults = |part: &&selkie_catalog::Partition| part.limit == PartitionLimit::Default;
    if partitioning.parts.iter().filter(defaults).count() > 1 {
        return Err(SqlError::new(&ER_PARTITION_DEFAULT_ERROR, &[]));
    }
    let method = &partitioning.method;
    match method.kind {
        MethodKind::Hash | MethodKind::Key | MethodKind::SystemTime => Ok(()),
        MethodKind::Range => check_range(partitioning, sign(context, table, method)?),
        MethodKind::List => {
            let values = listed(partitioning).map(|tuple| as_signed(&tuple[0].value));
            check_unique(values)
        }
        MethodKind::RangeColumns => {
            let keys = ColumnKeys::new(method, table).ok_or_else(not_found)?;
            let bounds: Vec<Vec<u8>> = partitioning
                .parts
                .iter()
                .map(|part| match &part.limit {
                    PartitionLimit::LessThan(bounds) => keys.of_bounds(bounds),
                    _ => Vec::new(),
                })
                .collect();
            check_rising(&bounds)
        }
        MethodKind::ListColumns => {
            let keys = ColumnKeys::new(method, table).ok_or_else(not_found)?;
            check_unique(listed(partitioning).map(|tuple| keys.of_tuple(tuple)))
        }
    }
}

/// The order of the ends of two ranges.
pub(super) fn order(
    context: &DefineContext<'_>,
    table: &TableInfo,
    method: &PartitionMethod,
    (one, other): (&PartitionLimit, &PartitionLimit),
) -> SqlResult<Ordering> {
    let (PartitionLimit::LessThan(one), PartitionLimit::LessThan(other)) = (one, other) else {
        return Ok(Ordering::Equal);
    };
    if method.kind == MethodKind::RangeColumns {
        let keys = ColumnKeys::new(method, table).ok_or_else(not_found)?;
        return Ok(keys.of_bounds(one).cmp(&keys.of_bounds(other)));
    }
    let sign = sign(context, table, method)?;
    // No bound: MAXVALUE.
    let end = |bounds: &[Option<PartitionValue>]| match bounds.first() {
        Some(Some(bound)) => sign.number(&bound.value),
        _ => i128::MAX,
    };
    Ok(end(one).cmp(&end(other)))
}

fn listed(partitioning: &Partitioning) -> impl Iterator<Item = &Vec<PartitionValue>> {
    partitioning.parts.iter().flat_map(|part| match &part.limit {
        PartitionLimit::In(tuples) => &tuples[..],
        _ => &[],
    })
}

fn check_unique<T: std::hash::Hash + Eq>(values: impl Iterator<Item = T>) -> SqlResult<()> {
    let mut seen = HashSet::new();
    for value in values {
        if !seen.insert(value) {
            return Err(SqlError::new(&ER_MULTIPLE_DEF_CONST_IN_LIST_PART_ERROR, &[]));
        }
    }
    Ok(())
}

fn check_range(partitioning: &Partitioning, sign: Sign) -> SqlResult<()> {
    let bounds: Vec<Option<&PartitionValue>> = partitioning
        .parts
        .iter()
        .map(|part| match &part.limit {
            PartitionLimit::LessThan(bounds) => bounds.first().and_then(Option::as_ref),
            _ => None,
        })
        .collect();
    if bounds.iter().rev().skip(1).any(Option::is_none) {
        return Err(SqlError::new(&ER_PARTITION_MAXVALUE_ERROR, &[]));
    }
    let number = |bound: &PartitionValue| sign.number(&bound.value);
    let numbers: Vec<i128> = bounds.iter().flatten().map(|bound| number(bound)).collect();
    check_rising(&numbers)
}

fn check_rising<T: PartialOrd>(bounds: &[T]) -> SqlResult<()> {
    match bounds.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(()),
        false => Err(SqlError::new(&ER_RANGE_NOT_INCREASING_ERROR, &[])),
    }
}
