//! The operators of lenient boolean queries, which `ft_boolean_syntax` sets, and the error of
//! strict queries.

/// A query violates the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError(pub String);

/// Operators of lenient boolean queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BooleanSyntax([u8; 14]);

impl Default for BooleanSyntax {
    fn default() -> Self {
        Self(*b"+ -><()~*:\"\"&|")
    }
}

impl BooleanSyntax {
    /// The operators of a text; `None` if it is not such a list: 14 ASCII characters, the first or
    /// the second is a space, and none twice except the quotes.
    pub fn new(text: &str) -> Option<Self> {
        let signs: [u8; 14] = text.as_bytes().try_into().ok()?;
        if signs[0] != b' ' && signs[1] != b' ' {
            return None;
        }
        for (at, sign) in signs.iter().enumerate() {
            if !sign.is_ascii() || sign.is_ascii_alphanumeric() {
                return None;
            }
            let mut before = signs[..at].iter().enumerate();
            if before.any(|(other, same)| same == sign && (other, at) != (10, 11)) {
                return None;
            }
        }
        Some(Self(signs))
    }

    pub(crate) fn required(&self) -> u8 {
        self.0[0]
    }

    pub(crate) fn optional(&self) -> u8 {
        self.0[1]
    }

    pub(crate) fn forbidden(&self) -> u8 {
        self.0[2]
    }

    pub(crate) fn more(&self) -> u8 {
        self.0[3]
    }

    pub(crate) fn less(&self) -> u8 {
        self.0[4]
    }

    pub(crate) fn open(&self) -> u8 {
        self.0[5]
    }

    pub(crate) fn close(&self) -> u8 {
        self.0[6]
    }

    pub(crate) fn negate(&self) -> u8 {
        self.0[7]
    }

    pub(crate) fn truncate(&self) -> u8 {
        self.0[8]
    }

    pub(crate) fn open_quote(&self) -> u8 {
        self.0[10]
    }

    pub(crate) fn close_quote(&self) -> u8 {
        self.0[11]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_operators() {
        assert_eq!(BooleanSyntax::new("+ -><()~*:\"\"&|"), Some(BooleanSyntax::default()));
        assert!(BooleanSyntax::new(" +-><()~*:\"\"&|").is_some());
        assert!(BooleanSyntax::new("+ -><()~*:\"\"&").is_none());
        assert!(BooleanSyntax::new("+x-><()~*:\"\"&|").is_none());
        assert!(BooleanSyntax::new("+ -><()~*:\"\"&+").is_none());
        assert!(BooleanSyntax::new("a -><()~*:\"\"&|").is_none());
    }
}
