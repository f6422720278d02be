//! Texts, and everything else that is shown as text: dates, members of ENUM and SET.
//!
//! As long as all texts are numbers, the best type for them is one of numbers.

use std::cmp::Ordering;

use selkie_types::{SqlResult, SqlType, Value};

use super::{Limits, Values, are_few, integer_type, quoted, real, shown};

/// Texts.
pub(super) struct Texts {
    ty: SqlType,
    limits: Limits,
    ends: Option<(Vec<u8>, Vec<u8>)>,
    lengths: (u64, u64),
    sum: u64,
    empty: u64,
    /// The different texts in order; `None` if they are too long.
    different: Option<Vec<Vec<u8>>>,
    /// Bytes of them.
    bytes: u64,
    /// Properties of the numbers that all texts are so far.
    numbers: Option<Numbers>,
    /// Whether a text ends with a blank, which only a TEXT keeps.
    ends_blank: bool,
}

/// Properties of several texts that are numbers.
#[derive(Clone, Debug, Default)]
struct Numbers {
    least: i128,
    greatest: i128,
    digits: u64,
    decimals: u64,
    is_negative: bool,
    is_floating: bool,
    is_filled: bool,
}

/// A text that is a number.
#[derive(Debug, Default, PartialEq)]
struct Number {
    is_negative: bool,
    value: i128,
    digits: u64,
    decimals: u64,
    is_floating: bool,
    is_filled: bool,
}

impl Texts {
    pub(super) fn new(ty: SqlType, limits: Limits) -> Self {
        Self {
            ty,
            limits,
            ends: None,
            lengths: (0, 0),
            sum: 0,
            empty: 0,
            different: Some(Vec::new()),
            bytes: 0,
            numbers: Some(Numbers::default()),
            ends_blank: false,
        }
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.ty.is_string() {
            true => self.ty.collation.compare(a, b),
            false => a.cmp(b),
        }
    }

    /// Adds a number to those of before.
    fn add_number(&mut self, text: &[u8]) {
        let Some(mut all) = self.numbers.take() else { return };
        let Some(number) = number_of(text) else { return };
        let is_first = self.ends.is_none();
        let differs = !is_first && text.len() as u64 != self.lengths.1;
        all.is_filled |= number.is_filled;
        if all.is_filled && differs {
            return;
        }
        all.is_negative |= number.is_negative;
        all.is_floating |= number.is_floating;
        let value = if number.is_negative { -number.value } else { number.value };
        all.least = all.least.min(value);
        all.greatest = all.greatest.max(value);
        // Compat: the digits of the last text count.
        all.digits = number.digits;
        all.decimals = all.decimals.max(number.decimals);
        self.numbers = Some(all);
    }

    fn add_different(&mut self, text: &[u8]) {
        let Some(different) = &self.different else { return };
        let Err(at) = different.binary_search_by(|other| self.compare(other, text)) else { return };
        self.bytes += text.len() as u64;
        if self.bytes > self.limits.bytes {
            self.different = None;
        } else if let Some(different) = &mut self.different {
            different.insert(at, text.to_vec());
        }
    }
}

impl Values for Texts {
    fn add(&mut self, value: &Value) -> SqlResult<()> {
        let text = match value {
            Value::Bytes(text) if self.ty.is_string() => text.to_vec(),
            value => shown(&self.ty, value),
        };
        selkie_meter::spend(text.len())?;
        let length = text.len() as u64;
        self.empty += u64::from(length == 0);
        self.add_number(&text);
        self.ends_blank |= text.last().is_some_and(u8::is_ascii_whitespace);
        self.add_different(&text);
        match self.ends.take() {
            None => {
                self.lengths = (length, length);
                self.sum = length;
                self.ends = Some((text.clone(), text));
            }
            // Compat: an empty text changes nothing but their number.
            Some(ends) if length == 0 => self.ends = Some(ends),
            Some((least, greatest)) => {
                self.sum += length;
                self.lengths = (self.lengths.0.min(length), self.lengths.1.max(length));
                let is_least = self.compare(&text, &least) == Ordering::Less;
                let is_greatest = self.compare(&text, &greatest) == Ordering::Greater;
                let least = if is_least { text.clone() } else { least };
                self.ends = Some((least, if is_greatest { text } else { greatest }));
            }
        }
        Ok(())
    }

    fn ends(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.ends.clone()
    }

    fn lengths(&self) -> (u64, u64) {
        self.lengths
    }

    fn empty(&self) -> u64 {
        self.empty
    }

    fn averages(&self, count: u64) -> (Vec<u8>, Option<Vec<u8>>) {
        (real(self.sum as f64 / count as f64, 4), None)
    }

    fn deviate(&self) -> bool {
        false
    }

    fn members(&self) -> Option<Vec<Vec<u8>>> {
        // Empty texts alone are no members.
        let different = self.different.as_ref().filter(|_| self.bytes > 0)?;
        if !are_few(different.len(), self.bytes, self.limits.bytes) {
            return None;
        }
        Some(different.iter().map(|text| quoted(text)).collect())
    }

    fn best_type(&self, count: u64) -> String {
        if let Some(numbers) = &self.numbers {
            return numbers.best_type();
        }
        let is_binary = self.ty.is_string() && self.ty.collation.is_binary();
        let long = if is_binary { "BLOB" } else { "TEXT" };
        let longest = self.lengths.1;
        match longest {
            256.. if longest < 1 << 16 => long.into(),
            256.. if longest < 1 << 24 => format!("MEDIUM{long}"),
            256.. => format!("LONG{long}"),
            _ if self.ends_blank => format!("TINY{long}"),
            _ if longest * count <= self.sum + count => format!("CHAR({longest})"),
            _ => format!("VARCHAR({longest})"),
        }
    }
}

impl Numbers {
    fn best_type(&self) -> String {
        let mut best = match () {
            () if self.is_floating => "DOUBLE".to_owned(),
            () if self.decimals > 0 => {
                format!("FLOAT({},{})", self.digits + self.decimals, self.decimals)
            }
            () => return self.integer_type(),
        };
        if !self.is_negative {
            best += " UNSIGNED";
        }
        best
    }

    fn integer_type(&self) -> String {
        let mut best = integer_type(self.least, self.greatest, self.digits);
        if self.is_filled {
            best += " ZEROFILL";
        }
        best
    }
}

/// The number that a text is. A single digit is none: it may mean something else.
fn number_of(text: &[u8]) -> Option<Number> {
    let mut number = Number::default();
    let mut rest = text.trim_ascii_start();
    if let [b'-', behind @ ..] = rest {
        number.is_negative = true;
        // A zero would lose the sign or be filled.
        if matches!(behind.first(), None | Some(b'0')) {
            return None;
        }
        rest = behind;
    }
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (whole, behind) = rest.split_at(digits);
    number.digits = digits as u64;
    number.is_filled = digits > 1 && whole[0] == b'0';
    let whole = std::str::from_utf8(whole).ok()?;
    number.value = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    if number.value > i128::from(i64::MAX) {
        return None;
    }
    match behind {
        [] if digits > 1 => Some(number),
        [] => None,
        _ if number.is_filled => None,
        [b'.' | b'e' | b'E'] => Some(number),
        [b'e' | b'E', b'-' | b'+', exponent @ ..] => {
            number.is_floating = true;
            exponent.iter().all(u8::is_ascii_digit).then_some(number)
        }
        [b'.', decimals @ ..] if decimals.iter().all(u8::is_ascii_digit) => {
            let zeros = decimals.iter().rev().take_while(|b| **b == b'0').count();
            number.decimals = (decimals.len() - zeros) as u64;
            Some(number)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known() {
        for text in ["", "5", "-", "-05", "1x", "1e5", "1.2.3", "9223372036854775808"] {
            assert_eq!(number_of(text.as_bytes()), None, "{text}");
        }
        let plain = Number { value: 12, digits: 2, ..Number::default() };
        assert_eq!(number_of(b"12"), Some(plain));
        assert_eq!(number_of(b"0012").map(|n| n.is_filled), Some(true));
        assert_eq!(number_of(b"-1.250").map(|n| (n.is_negative, n.decimals)), Some((true, 2)));
        assert_eq!(number_of(b"1e+50").map(|n| n.is_floating), Some(true));
    }
}
