//! The hash by which `PARTITION BY KEY` spreads rows: clients see in which partition a row is, so
//! it is MariaDB's. Must never change.

use super::collation::Rule;
use super::weights::{Stream, Weigher, match_weigher};
use super::{Charset, Collation, CollationId, Pad};

/// A hash of the values of a key, in order.
#[derive(Clone, Copy, Debug)]
pub struct SortHash {
    hash: u32,
    step: u32,
}

impl Default for SortHash {
    fn default() -> Self {
        Self { hash: 1, step: 4 }
    }
}

impl SortHash {
    /// The hash.
    pub fn finish(self) -> u32 {
        self.hash
    }

    /// Adds NULL.
    pub fn add_null(&mut self) {
        self.hash ^= (self.hash << 1) | 1;
    }

    /// Adds bytes as they are.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(*byte));
    }

    fn add(&mut self, byte: u8) {
        let product = (self.hash & 63).wrapping_add(self.step).wrapping_mul(u32::from(byte));
        self.hash ^= product.wrapping_add(self.hash << 8);
        self.step = self.step.wrapping_add(3);
    }

    /// Adds a text, so that texts equal under the collation give the same hash.
    pub fn add_text(&mut self, collation: &Collation, text: &[u8]) {
        let text = match collation.pad {
            Pad::PadSpace => collation.charset.trim_spaces_end(text),
            Pad::NoPad => text,
        };
        match collation.rule {
            // Compat: its binary collation adds the codes of capital letters, too.
            Rule::Code if collation.charset == Charset::Utf32 => {
                let general = CollationId::from_name("utf32_general_ci").map(CollationId::info);
                self.add_text(general.unwrap_or(collation), text);
            }
            Rule::Code | Rule::Whole(super::whole::CZECH_1250) => self.add_bytes(text),
            // Compat: no more than capital letters for small ones.
            Rule::MultiByte | Rule::Whole(_) => {
                text.iter().for_each(|byte| self.add(byte.to_ascii_uppercase()));
            }
            Rule::Table(_) | Rule::German => {
                let order = Order::Narrow;
                match_weigher!(collation.weigher(), w => self.add_padded(&w, text, (order, collation.pad)));
            }
            Rule::General | Rule::General500 if collation.charset == Charset::Utf32 => {
                match_weigher!(collation.weigher(), w => self.add_weights(&w, text, Order::Wide));
            }
            Rule::General | Rule::General500 => {
                let order = Order::LowFirst;
                match_weigher!(collation.weigher(), w => self.add_weights(&w, text, order));
            }
            // Compat: the first level only.
            Rule::Unicode400 | Rule::Unicode520 | Rule::Tailored(_) => {
                let order = Order::HighFirst;
                match_weigher!(collation.weigher(), w => self.add_padded(&w, text, (order, collation.pad)));
            }
        }
    }

    fn add_weights<W: Weigher>(&mut self, w: &W, text: &[u8], order: Order) {
        Stream::new(w, text).for_each(|weight| self.add_weight(weight, order));
    }

    /// Adds weights but those at the end that a space has, too: with padding, texts with and
    /// without them are equal.
    fn add_padded<W: Weigher>(&mut self, w: &W, text: &[u8], (order, pad): (Order, Pad)) {
        let space = Stream::new(w, b" ").next().filter(|_| pad == Pad::PadSpace);
        let mut held = 0;
        for weight in Stream::new(w, text) {
            if Some(weight) == space {
                held += 1;
                continue;
            }
            (0..std::mem::take(&mut held)).for_each(|_| self.add_weight(space.unwrap_or(0), order));
            self.add_weight(weight, order);
        }
    }

    fn add_weight(&mut self, weight: u32, order: Order) {
        let [_, _, high, low] = weight.to_be_bytes();
        match order {
            Order::Narrow => self.add(low),
            Order::LowFirst => self.add_bytes(&[low, high]),
            Order::HighFirst => self.add_bytes(&[high, low]),
            Order::Wide => self.add_bytes(&weight.to_be_bytes()),
        }
    }
}

/// Bytes of a weight that are added.
#[derive(Clone, Copy)]
enum Order {
    Narrow,
    LowFirst,
    HighFirst,
    Wide,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collation, text in hexadecimal digits, and the slot among 1021 that MariaDB gives it.
    const SLOTS: &str = include_str!("../../tests/data/key_slots.txt");

    #[test]
    fn slots_agree_with_mariadb() {
        let mut wrong = Vec::new();
        for line in SLOTS.lines() {
            let mut fields = line.split('\t');
            let (Some(name), Some(digits), Some(slot)) =
                (fields.next(), fields.next(), fields.next())
            else {
                panic!("{line}");
            };
            let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            let text: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
            let mut hash = SortHash::default();
            hash.add_text(CollationId::from_name(name).unwrap().info(), &text);
            if (hash.finish() % 1021).to_string() != slot {
                wrong.push(line);
            }
        }
        assert!(
            wrong.is_empty(),
            "{} of {}:\n{}",
            wrong.len(),
            SLOTS.lines().count(),
            wrong.join("\n")
        );
    }
}
