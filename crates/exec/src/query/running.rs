//! Input of a running statement besides its syntax tree: text, parameter values, and the cached
//! plan's owner.

use selkie_types::{SqlType, Value};

use crate::state::bulk::ParameterRows;
use crate::state::prepared::Prepared;
use crate::state::tally::Tally;
use crate::state::terms::Terms;

/// Meaning of the placeholders in the text of a statement alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// There are none: the text has literals in their places.
    Literals,
    /// Values in the places of question marks.
    Values,
    /// Variables of a stored program.
    Locals,
}

/// Input of a running statement besides its tree. Copied freely; it only borrows.
#[derive(Clone, Copy)]
pub(crate) struct Running<'a> {
    /// Text that the tree's spans point into.
    pub(crate) text: &'a [u8],
    /// Text of the statement alone, if it is a part of `text`.
    pub(crate) part: Option<&'a [u8]>,
    /// Values of its placeholders.
    pub(crate) values: &'a [(Value, SqlType)],
    /// The prepared statement that caches its plan, if there is one.
    pub(crate) prepared: Option<&'a Prepared>,
    /// Expressions of the stored program that the statement is part of, if any.
    pub(crate) terms: Option<&'a Terms>,
    /// Meaning of the placeholders in its text.
    pub(crate) fill: Fill,
    /// Rows of parameters, for an INSERT; `values` have their types.
    pub(crate) bulk: Option<ParameterRows<'a>>,
    /// Counts of its plan's operators, if they are counted.
    pub(crate) tally: Option<&'a Tally>,
    /// Texts of the variables in the places of placeholders, for EXPLAIN in a stored program.
    pub(crate) names: &'a [String],
}

impl<'a> Running<'a> {
    /// A statement that is neither prepared nor part of a program.
    pub(crate) fn new(text: &'a [u8], values: &'a [(Value, SqlType)]) -> Self {
        Self {
            text,
            part: None,
            values,
            prepared: None,
            terms: None,
            fill: Fill::Literals,
            bulk: None,
            tally: None,
            names: &[],
        }
    }

    /// Text of the statement alone, for logs.
    pub(crate) fn own_text(&self) -> &'a [u8] {
        self.part.unwrap_or(self.text)
    }

    /// The statement's text from offset `at` of `text` on.
    pub(crate) fn behind(&self, at: usize) -> &'a [u8] {
        let part = self.part.unwrap_or(self.text);
        // A part that is no piece of the text ends with it.
        let end = (part.as_ptr().addr() + part.len()).wrapping_sub(self.text.as_ptr().addr());
        let end = if end <= self.text.len() { end } else { self.text.len() };
        self.text.get(at..end).unwrap_or_default()
    }

    /// The types of its values.
    pub(crate) fn types(&self) -> Vec<SqlType> {
        self.values.iter().map(|(_, ty)| ty.clone()).collect()
    }
}
