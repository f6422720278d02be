//! Decimal to text: all digits of the scale, a zero before a bare point, no negative zero.
//! Never rounds: callers round to the wanted scale first.

use std::fmt;

use ethnum::I256;

use super::Decimal;

/// Longest text: sign, 78 digits, point.
const MAX_TEXT: usize = 84;

impl Decimal {
    /// Appends the text.
    pub fn write_to(self, out: &mut Vec<u8>) {
        let mut buffer = [0u8; MAX_TEXT];
        let start = self.fill(&mut buffer);
        out.extend_from_slice(&buffer[start..]);
    }

    /// Writes the text to the end of the buffer; returns its start.
    fn fill(self, buffer: &mut [u8; MAX_TEXT]) -> usize {
        let mut at = MAX_TEXT;
        let scale = usize::from(self.scale);
        let mut written = 0;
        let mut put = |digit: u8| {
            at -= 1;
            buffer[at] = b'0' + digit;
            written += 1;
            if written == scale {
                at -= 1;
                buffer[at] = b'.';
            }
        };
        let mut rest = self.unscaled.wrapping_abs();
        let word = I256::new(10_000_000_000_000_000_000);
        while rest.into_words().0 != 0 {
            let mut low = (rest % word).as_u64();
            rest /= word;
            for _ in 0..19 {
                put((low % 10) as u8);
                low /= 10;
            }
        }
        let mut rest = rest.as_u128();
        while rest > u128::from(u64::MAX) {
            put((rest % 10) as u8);
            rest /= 10;
        }
        let mut rest = rest as u64;
        while rest > 0 {
            put((rest % 10) as u8);
            rest /= 10;
        }
        while written <= scale {
            at -= 1;
            buffer[at] = b'0';
            written += 1;
            if written == scale {
                at -= 1;
                buffer[at] = b'.';
            }
        }
        if self.is_negative() {
            at -= 1;
            buffer[at] = b'-';
        }
        at
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0u8; MAX_TEXT];
        let start = self.fill(&mut buffer);
        f.write_str(std::str::from_utf8(&buffer[start..]).unwrap_or(""))
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
