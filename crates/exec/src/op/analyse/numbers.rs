//! Integers and doubles. Zeros after the first value change neither the ends nor the lengths.
//!
//! Sums are doubles, as in MariaDB, also those of integers.

use std::cmp::Ordering;

use selkie_types::{SqlResult, SqlType, Value};

use super::{Different, Limits, Values, integer_type, real, shown};

/// Sums of numbers.
#[derive(Default)]
struct Sums {
    sum: f64,
    squares: f64,
    shortest: u64,
    longest: u64,
    zeros: u64,
}

impl Sums {
    /// Adds a number; returns whether it can be an end. A length is at least 1.
    fn add(&mut self, number: f64, length: u64) -> bool {
        self.zeros += u64::from(number == 0.0);
        let is_first = self.longest == 0;
        if !is_first && number == 0.0 {
            return false;
        }
        self.sum += number;
        self.squares += number * number;
        self.shortest = if is_first { length } else { self.shortest.min(length) };
        self.longest = self.longest.max(length);
        true
    }

    fn averages(&self, count: u64, decimals: u8) -> (Vec<u8>, Option<Vec<u8>>) {
        let count = count as f64;
        let square = (self.squares - self.sum * self.sum / count) / count;
        let deviation = if square <= 0.0 { 0.0 } else { square.sqrt() };
        (real(self.sum / count, decimals), Some(real(deviation, decimals)))
    }
}

/// A double in the order of all doubles.
struct Total(f64);

impl Ord for Total {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Total {}

/// Integers, years and bits.
pub(super) struct Integers {
    ty: SqlType,
    limits: Limits,
    ends: Option<(i128, i128)>,
    sums: Sums,
    different: Different<i128>,
}

impl Integers {
    pub(super) fn new(ty: SqlType, limits: Limits) -> Self {
        let ty = SqlType { zerofill: false, ..ty };
        Self { ty, limits, ends: None, sums: Sums::default(), different: Different::default() }
    }
}

impl Values for Integers {
    fn add(&mut self, value: &Value) -> SqlResult<()> {
        let number = match value {
            Value::Int(n) => i128::from(*n),
            Value::UInt(n) => i128::from(*n),
            _ => 0,
        };
        let length = number.to_string().len() as u64;
        // Compat: a year that is 0 has four digits.
        let length = if self.ty.kind == selkie_types::TypeKind::Year { 4 } else { length };
        if self.sums.add(number as f64, length) {
            let (least, greatest) = self.ends.unwrap_or((number, number));
            self.ends = Some((least.min(number), greatest.max(number)));
        }
        self.different.add(number, &self.limits);
        Ok(())
    }

    fn ends(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let text = |number: i128| number.to_string().into_bytes();
        self.ends.map(|(least, greatest)| (text(least), text(greatest)))
    }

    fn lengths(&self) -> (u64, u64) {
        (self.sums.shortest, self.sums.longest)
    }

    fn empty(&self) -> u64 {
        self.sums.zeros
    }

    fn averages(&self, count: u64) -> (Vec<u8>, Option<Vec<u8>>) {
        const DECIMALS: u8 = 4;
        self.sums.averages(count, DECIMALS)
    }

    fn members(&self) -> Option<Vec<Vec<u8>>> {
        self.different.members(&self.limits, |number| number.to_string().into_bytes())
    }

    fn best_type(&self, _count: u64) -> String {
        let (least, greatest) = self.ends.unwrap_or_default();
        integer_type(least, greatest, self.sums.longest)
    }
}

/// Floats and doubles.
pub(super) struct Reals {
    ty: SqlType,
    limits: Limits,
    ends: Option<(f64, f64)>,
    sums: Sums,
    different: Different<Total>,
    /// Most decimals that are not zeros behind the others.
    decimals: usize,
}

impl Reals {
    pub(super) fn new(ty: SqlType, limits: Limits) -> Self {
        let ty = SqlType { decimals: ty.decimals, ..SqlType::double() };
        Self {
            ty,
            limits,
            ends: None,
            sums: Sums::default(),
            different: Different::default(),
            decimals: 0,
        }
    }

    fn is_floating(&self) -> bool {
        self.ty.decimals >= selkie_types::NOT_FIXED_DECIMALS
    }

    /// Length of a number as text.
    fn length(&mut self, number: f64) -> u64 {
        if self.is_floating() {
            self.decimals = self.decimals.max(usize::from(number.fract() != 0.0));
            return general_length(number);
        }
        let text = format!("{number:.*}", usize::from(self.ty.decimals));
        let behind = text.split_once('.').map_or("", |(_, behind)| behind);
        self.decimals = self.decimals.max(behind.trim_end_matches('0').len());
        text.len() as u64
    }
}

impl Values for Reals {
    fn add(&mut self, value: &Value) -> SqlResult<()> {
        let Value::Double(number) = *value else { return Ok(()) };
        let length = self.length(number);
        if self.sums.add(number, length) {
            let (least, greatest) = self.ends.unwrap_or((number, number));
            self.ends = Some((least.min(number), greatest.max(number)));
        }
        self.different.add(Total(number), &self.limits);
        Ok(())
    }

    fn ends(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let text = |number| shown(&self.ty, &Value::Double(number));
        self.ends.map(|(least, greatest)| (text(least), text(greatest)))
    }

    fn lengths(&self) -> (u64, u64) {
        (self.sums.shortest, self.sums.longest)
    }

    fn empty(&self) -> u64 {
        self.sums.zeros
    }

    fn averages(&self, count: u64) -> (Vec<u8>, Option<Vec<u8>>) {
        self.sums.averages(count, self.ty.decimals)
    }

    fn members(&self) -> Option<Vec<Vec<u8>>> {
        let text = |number: &Total| shown(&self.ty, &Value::Double(number.0));
        self.different.members(&self.limits, text)
    }

    fn best_type(&self, _count: u64) -> String {
        let (least, greatest) = self.ends.unwrap_or_default();
        let fits = least >= -f64::from(f32::MAX) && greatest <= f64::from(f32::MAX);
        let name = if fits { "FLOAT" } else { "DOUBLE" };
        let fixed = u64::from(self.ty.decimals) + 1;
        if self.decimals == 0 {
            let fixed = if self.is_floating() { 0 } else { fixed };
            let digits = self.sums.longest.saturating_sub(fixed);
            return integer_type(least as i128, greatest as i128, digits);
        }
        if self.is_floating() {
            return name.into();
        }
        let digits = (self.sums.longest + self.decimals as u64).saturating_sub(fixed);
        format!("{name}({digits},{})", self.decimals)
    }
}

/// Length of a number with six significant digits, in the shorter of the two usual forms.
fn general_length(number: f64) -> u64 {
    if number == 0.0 {
        return 1;
    }
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let text = format!("{number:.*}", (5 - exponent) as usize);
        let text = if text.contains('.') { text.trim_end_matches('0') } else { &text };
        return text.trim_end_matches('.').len() as u64;
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    // The letter, the sign, and at least two digits.
    let behind = 2 + exponent.unsigned_abs().to_string().len().max(2);
    (digits.len() + behind) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_six_digits() {
        let numbers = [(0.0, 1), (2.5, 3), (1e100, 6), (-1e30, 6), (100_000.0, 6), (1e-5, 5)];
        for (number, length) in numbers {
            assert_eq!(general_length(number), length, "{number}");
        }
        assert_eq!(general_length(1_234_567.0), "1.23457e+06".len() as u64);
    }
}
