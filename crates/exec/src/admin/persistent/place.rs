//! Places of values between the least and the greatest one, 0 to 1, as MariaDB's histograms of
//! bytes have them.
//!
//! Compat: a date is the number of its digits, and a text the first eight bytes of its weights.
//! Texts that differ only behind them are at the last place.

use selkie_types::charset::WeightOptions;
use selkie_types::{Column, SqlType, Value};

/// Bytes of a text's weights that count.
const WEIGHTS: usize = 8;

/// The ends of a column.
pub(super) struct Places<'t> {
    ty: &'t SqlType,
    min: Number,
    max: Number,
}

/// A value as a number. Differences of weights are exact, those of other numbers are not.
#[derive(Clone, Copy)]
enum Number {
    Real(f64),
    Weights(u64),
}

impl Number {
    /// The number above `other`, 0 if it is below.
    fn above(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Weights(a), Self::Weights(b)) => a.saturating_sub(b) as f64,
            (Self::Real(a), Self::Real(b)) => (a - b).max(0.0),
            _ => 0.0,
        }
    }
}

impl<'t> Places<'t> {
    /// For sorted values, at least one.
    pub(super) fn new(ty: &'t SqlType, values: &Column) -> Self {
        let (first, last) = (values.value(0), values.value(values.len() - 1));
        Self { ty, min: number(ty, &first), max: number(ty, &last) }
    }

    /// The place of a value.
    pub(super) fn of(&self, value: &Value) -> f64 {
        let all = self.max.above(self.min);
        if all <= 0.0 {
            return 1.0;
        }
        (number(self.ty, value).above(self.min) / all).min(1.0)
    }
}

fn number(ty: &SqlType, value: &Value) -> Number {
    Number::Real(match value {
        Value::Null => 0.0,
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        Value::Date(v) => f64::from(v.to_number()),
        Value::DateTime(v) => v.to_number() as f64,
        Value::Time(v) => v.to_number() as f64,
        Value::Bytes(text) => return Number::Weights(weights(ty, text)),
    })
}

fn weights(ty: &SqlType, text: &[u8]) -> u64 {
    let mut weights = Vec::new();
    if ty.collation.is_binary() || ty.fixed_binary().is_some() {
        weights.extend_from_slice(text);
    } else {
        let options = WeightOptions { characters: Some(WEIGHTS), ..Default::default() };
        ty.collation.info().weight_string(text, options, &mut weights);
    }
    weights.resize(WEIGHTS, 0);
    weights.iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use selkie_types::{CollationId, Physical};

    use super::*;

    fn places(ty: &SqlType, values: &[&str]) -> Vec<u8> {
        let mut column = Column::new(Physical::Bytes, 0, values.len());
        values.iter().for_each(|value| column.push(&Value::bytes(value)));
        let places = Places::new(ty, &column);
        let place = |at| (places.of(&column.value(at)) * 255.0) as u8;
        (0..values.len()).map(place).collect()
    }

    #[test]
    fn texts_are_placed_by_eight_bytes_of_their_weights() {
        let ty = SqlType::varchar(20, CollationId::LATIN1_SWEDISH_CI);
        let values = ["aba", "abc", "abd", "abe", "abf", "abg", "Abz", "abzzzz"];
        assert_eq!(places(&ty, &values), [0x00, 0x14, 0x1E, 0x28, 0x32, 0x3C, 0xFC, 0xFF]);
    }

    #[test]
    fn what_differs_behind_eight_bytes_is_not_told_apart() {
        let ty = SqlType::varchar(20, CollationId::LATIN1_SWEDISH_CI);
        assert_eq!(places(&ty, &["abcdefghij1", "abcdefghij2"]), [255, 255]);
        let wide = SqlType::varchar(20, CollationId::UTF8MB4_GENERAL_CI);
        assert_eq!(places(&wide, &["abc001", "abc021", "abc100"]), [0, 0, 255]);
    }

    #[test]
    fn equal_ends_are_the_last_place() {
        let ty = SqlType::varchar(20, CollationId::LATIN1_SWEDISH_CI);
        assert_eq!(places(&ty, &["a"]), [255]);
    }
}
