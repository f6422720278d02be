//! `PROCEDURE ANALYSE`: reads all rows of a query and gives a row about each of its columns.
//!
//! Zeros, lengths of values and the best types follow MariaDB's rules, which are in the modules
//! below, one for each family of values.

mod decimals;
mod numbers;
mod texts;

use std::collections::BTreeSet;
use std::sync::Arc;

use selkie_plan::physical::{Analyse as Plan, AnalysedColumn, Operator as Op, PlanNode};
use selkie_types::{
    Batch, Column, Physical, SqlResult, SqlType, TypeKind, Value, stack, write_value,
};

use self::decimals::Decimals;
use self::numbers::{Integers, Reals};
use self::texts::Texts;
use super::{BoxOperator, Operator};
use crate::run::Env;

/// Values of a column, from which its row is made.
trait Values {
    /// A value that is not NULL.
    fn add(&mut self, value: &Value) -> SqlResult<()>;

    /// The least and the greatest value; `None` if there was none.
    fn ends(&self) -> Option<(Vec<u8>, Vec<u8>)>;

    /// Length of the shortest and of the longest value.
    fn lengths(&self) -> (u64, u64);

    /// Number of values that are empty or zero.
    fn empty(&self) -> u64;

    /// The average of `count` values, and their deviation if there is one.
    fn averages(&self, count: u64) -> (Vec<u8>, Option<Vec<u8>>);

    /// Whether the values have a deviation.
    fn deviate(&self) -> bool {
        true
    }

    /// The different values in order, as members of an ENUM; `None` if there are too many.
    fn members(&self) -> Option<Vec<Vec<u8>>>;

    /// The best type for `count` values.
    fn best_type(&self, count: u64) -> String;
}

/// Most different values that are listed.
#[derive(Clone, Copy)]
struct Limits {
    /// Number of different numbers.
    values: u64,
    /// Bytes of different texts.
    bytes: u64,
}

/// The operator.
pub(super) struct Analyse<'r> {
    env: Env<'r>,
    input: Option<BoxOperator<'r>>,
    plan: &'r Plan,
}

impl<'r> Analyse<'r> {
    pub(super) fn new(env: Env<'r>, input: BoxOperator<'r>, plan: &'r Plan) -> Self {
        Self { env, input: Some(input), plan }
    }

    fn values_of(&self, at: usize) -> Box<dyn Values> {
        let limits = Limits { values: self.plan.most_values, bytes: self.plan.most_bytes };
        let ty = self.plan.input.columns[at].ty.clone();
        match ty.kind {
            TypeKind::Decimal => Box::new(Decimals::new(ty, limits)),
            TypeKind::Float | TypeKind::Double => Box::new(Reals::new(ty, limits)),
            _ if ty.is_numeric() => Box::new(Integers::new(ty, limits)),
            _ => Box::new(Texts::new(ty, limits)),
        }
    }

    fn read(&self, mut input: BoxOperator<'r>) -> SqlResult<Batch> {
        let count = self.plan.input.columns.len();
        let mut columns: Vec<_> = (0..count).map(|at| (self.values_of(at), 0u64)).collect();
        let mut rows = 0;
        while let Some(batch) = input.next()? {
            self.env.check()?;
            rows += batch.rows() as u64;
            for (at, (values, nulls)) in columns.iter_mut().enumerate() {
                for row in 0..batch.rows() {
                    selkie_meter::spend(64)?;
                    match batch.value(at, row) {
                        Value::Null => *nulls += 1,
                        value => values.add(&value)?,
                    }
                }
            }
        }
        let shown: Vec<Vec<Value>> = columns
            .iter()
            .zip(&self.plan.columns)
            .map(|((values, nulls), column)| row_of(&**values, column, *nulls, rows))
            .collect();
        Ok(as_batch(&shown))
    }
}

impl Operator for Analyse<'_> {
    fn next(&mut self) -> SqlResult<Option<Batch>> {
        // Compat: rows that are known not to exist are not analysed.
        match self.input.take() {
            Some(input) if !is_empty(&self.plan.input) => self.read(input).map(Some),
            _ => Ok(None),
        }
    }
}

fn is_empty(node: &PlanNode) -> bool {
    stack::ensure();
    match &node.operator {
        Op::Empty => true,
        Op::Aggregate(_) => false,
        _ => matches!(&node.inputs()[..], [input] if is_empty(input)),
    }
}

/// The row about a column with `nulls` NULLs in `rows` rows.
fn row_of(values: &dyn Values, column: &AnalysedColumn, nulls: u64, rows: u64) -> Vec<Value> {
    let text = |text: Option<Vec<u8>>| text.map_or(Value::Null, Value::bytes);
    let ends = values.ends();
    let count = rows - nulls;
    let (average, deviation) = match ends.is_some() {
        true => values.averages(count),
        false => (b"0.0".to_vec(), values.deviate().then(|| b"0.0".to_vec())),
    };
    let mut best = match (values.members().filter(|members| !members.is_empty()), &ends) {
        (_, None) => b"CHAR(0)".to_vec(),
        (Some(members), _) => [&b"ENUM("[..], &members.join(&b','), b")"].concat(),
        (None, _) => best_of_column(values, column, count).into_bytes(),
    };
    if nulls == 0 {
        best.extend_from_slice(b" NOT NULL");
    }
    let (least, greatest) = ends.unzip();
    let lengths = values.lengths();
    vec![
        Value::bytes(column.name.as_bytes()),
        text(least),
        text(greatest),
        Value::Int(lengths.0 as i64),
        Value::Int(lengths.1 as i64),
        Value::Int(values.empty() as i64),
        Value::Int(nulls as i64),
        Value::bytes(average),
        text(deviation),
        Value::bytes(best),
    ]
}

/// Compat: only for columns of tables a type is given; some types are given as they are.
fn best_of_column(values: &dyn Values, column: &AnalysedColumn, count: u64) -> String {
    match column.kind {
        None => String::new(),
        Some(TypeKind::Date) => "DATE".into(),
        Some(TypeKind::Year) => "YEAR".into(),
        Some(TypeKind::Set) => "SET".into(),
        Some(_) => {
            let best = values.best_type(count);
            match column.zerofill && values.lengths().1 > 1 {
                true => best + " ZEROFILL",
                false => best,
            }
        }
    }
}

fn as_batch(rows: &[Vec<Value>]) -> Batch {
    let kinds = [0, 0, 0, 1, 1, 1, 1, 0, 0, 0];
    let column = |(at, kind): (usize, &i32)| {
        let physical = if *kind == 1 { Physical::Int } else { Physical::Bytes };
        let mut column = Column::new(physical, 0, rows.len());
        rows.iter().for_each(|row| column.push(&row[at]));
        Arc::new(column)
    };
    Batch::new(kinds.iter().enumerate().map(column).collect(), rows.len())
}

/// Different numbers in order; none once there are more than the limit.
struct Different<T>(Option<BTreeSet<T>>);

impl<T> Default for Different<T> {
    fn default() -> Self {
        Self(Some(BTreeSet::new()))
    }
}

impl<T: Ord> Different<T> {
    fn add(&mut self, number: T, limits: &Limits) {
        let Some(numbers) = &mut self.0 else { return };
        numbers.insert(number);
        if numbers.len() as u64 > limits.values {
            self.0 = None;
        }
    }

    /// The numbers as members of an ENUM, if they are few.
    fn members(&self, limits: &Limits, text: impl Fn(&T) -> Vec<u8>) -> Option<Vec<Vec<u8>>> {
        let numbers = self.0.as_ref()?;
        let count = numbers.len();
        let are_few = are_few(count, count as u64, limits.values);
        are_few.then(|| numbers.iter().map(|number| quoted(&text(number))).collect())
    }
}

/// Whether `count` members with so many `used` of a limit are few enough for an ENUM. Compat: a
/// number counts as one character, and all are written as a list.
fn are_few(count: usize, used: u64, limit: u64) -> bool {
    limit > used + 3 * count as u64 + 5
}

/// A value as text.
fn shown(ty: &SqlType, value: &Value) -> Vec<u8> {
    let mut text = Vec::new();
    write_value(ty, value, &mut text);
    text
}

/// A double with so many decimals, as text.
fn real(value: f64, decimals: u8) -> Vec<u8> {
    shown(&SqlType { decimals, ..SqlType::double() }, &Value::Double(value))
}

/// A member of an ENUM.
fn quoted(text: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in text {
        match byte {
            0 => quoted.extend_from_slice(b"\\0"),
            b'\n' => quoted.extend_from_slice(b"\\n"),
            b'\r' => quoted.extend_from_slice(b"\\r"),
            26 => quoted.extend_from_slice(b"\\Z"),
            b'\'' | b'\\' => quoted.extend_from_slice(&[b'\\', byte]),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// The smallest integer type for values from `least` to `greatest`.
fn integer_type(least: i128, greatest: i128, digits: u64) -> String {
    let bits = [8, 16, 24, 32].into_iter().find(|bits| {
        let half = 1i128 << (bits - 1);
        let most = if least >= 0 { 2 * half - 1 } else { half - 1 };
        least >= -half && greatest <= most
    });
    let name = match bits {
        Some(8) => "TINYINT",
        Some(16) => "SMALLINT",
        Some(24) => "MEDIUMINT",
        Some(_) => "INT",
        None => "BIGINT",
    };
    format!("{name}({digits}){}", if least >= 0 { " UNSIGNED" } else { "" })
}
