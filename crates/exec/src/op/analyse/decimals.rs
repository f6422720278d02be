//! Decimals. Zeros after the first value change neither the ends nor the lengths.
//!
//! The length of a value is that of the words it is computed with, not of its digits.

use selkie_types::{Decimal, SqlResult, SqlType, Value};

use super::{Different, Limits, Values, real, shown};

/// Digits that an average has beyond those of the values.
const MORE: u8 = 4;

/// Decimal digits of a word.
const WORD: u32 = 9;

/// Decimals.
pub(super) struct Decimals {
    ty: SqlType,
    limits: Limits,
    ends: Option<(Decimal, Decimal)>,
    sum: Decimal,
    squares: Decimal,
    lengths: (u64, u64),
    zeros: u64,
    different: Different<Decimal>,
}

impl Decimals {
    pub(super) fn new(ty: SqlType, limits: Limits) -> Self {
        let ty = SqlType { zerofill: false, ..ty };
        let zero = Decimal::from(0i64);
        Self {
            ty,
            limits,
            ends: None,
            sum: zero,
            squares: zero,
            lengths: (0, 0),
            zeros: 0,
            different: Different::default(),
        }
    }

    fn length(&self, value: Decimal) -> u64 {
        let whole = value.truncate(0);
        let words = if whole.is_zero() { 0 } else { whole.int_digits().div_ceil(WORD) };
        let digits = (words * WORD).max(1);
        let behind = u32::from(self.ty.decimals);
        u64::from(digits + behind + u32::from(behind > 0) + 2)
    }

    fn add_to_sums(&mut self, value: Decimal) {
        self.sum = self.sum.checked_add(value).unwrap_or(self.sum);
        let square = value.checked_mul(value);
        let squares = square.and_then(|square| self.squares.checked_add(square));
        self.squares = squares.unwrap_or(self.squares);
    }
}

impl Values for Decimals {
    fn add(&mut self, value: &Value) -> SqlResult<()> {
        let Value::Decimal(value) = *value else { return Ok(()) };
        self.zeros += u64::from(value.is_zero());
        let length = self.length(value);
        match self.ends {
            None => {
                self.ends = Some((value, value));
                self.lengths = (length, length);
                self.add_to_sums(value);
            }
            Some((least, greatest)) if !value.is_zero() => {
                self.ends = Some((least.min(value), greatest.max(value)));
                self.lengths = (self.lengths.0.min(length), self.lengths.1.max(length));
                self.add_to_sums(value);
            }
            Some(_) => {}
        }
        self.different.add(value, &self.limits);
        Ok(())
    }

    fn ends(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let text = |value| shown(&self.ty, &Value::Decimal(value));
        self.ends.map(|(least, greatest)| (text(least), text(greatest)))
    }

    fn lengths(&self) -> (u64, u64) {
        self.lengths
    }

    fn empty(&self) -> u64 {
        self.zeros
    }

    fn averages(&self, count: u64) -> (Vec<u8>, Option<Vec<u8>>) {
        let scale = (self.ty.decimals + MORE).min(38);
        let words = u32::from(scale).div_ceil(WORD) * WORD;
        let count = Decimal::from(count as i64);
        // Compat: a division ends at a word.
        let divided = |value: Decimal| {
            let exact = value.div_to_scale(count, (words + 1).min(38) as u8);
            exact.map_or(value, |exact| exact.truncate(words as i32))
        };
        let average = divided(self.sum).round(i32::from(scale));
        let average = average.at_scale(scale).unwrap_or(average);
        let square = self.sum.checked_mul(self.sum).map(divided);
        let square = square.and_then(|square| self.squares.checked_sub(square));
        let square = square.map_or(0.0, |square| divided(square).to_f64());
        let deviation = if square <= 0.0 { 0.0 } else { square.sqrt() };
        let ty = SqlType { decimals: scale, ..self.ty.clone() };
        (shown(&ty, &Value::Decimal(average)), Some(real(deviation, scale)))
    }

    fn members(&self) -> Option<Vec<Vec<u8>>> {
        let text = |number: &Decimal| shown(&self.ty, &Value::Decimal(*number));
        self.different.members(&self.limits, text)
    }

    fn best_type(&self, _count: u64) -> String {
        let digits = self.lengths.1 - u64::from(self.ty.decimals > 0);
        // Compat: UNSIGNED stands where the least value is not above zero.
        let is_positive = self.ends.is_some_and(|(least, _)| least.signum() > 0);
        let sign = if is_positive { "" } else { " UNSIGNED" };
        format!("DECIMAL({digits}, {}){sign}", self.ty.decimals)
    }
}
