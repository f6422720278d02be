//! JSON documents as trees that borrow from their text.
//! Nothing is decoded: numbers and strings stay as written, escapes included.

use selkie_meter::tick;
use selkie_types::stack;

/// A value in a document; it borrows its text as written.
#[derive(Clone, Debug)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// The digits.
    Number(&'a [u8]),
    /// The text between the quotes.
    String(&'a [u8]),
    /// The items, and the text with its brackets.
    Array(Vec<Json<'a>>, &'a [u8]),
    /// Names (without quotes) with their values in the written order, and the whole text.
    Object(Vec<(&'a [u8], Json<'a>)>, &'a [u8]),
}

impl<'a> Json<'a> {
    /// Whether this is neither an array nor an object.
    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self, Self::Array(..) | Self::Object(..))
    }

    /// The direct children, in the written order.
    pub(crate) fn children(&self) -> Vec<&Self> {
        match self {
            Self::Array(items, _) => items.iter().collect(),
            Self::Object(members, _) => members.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// The number of direct children.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Array(items, _) => items.len(),
            Self::Object(members, _) => members.len(),
            _ => 0,
        }
    }

    /// The last direct child.
    pub(crate) fn last_child(&self) -> Option<&Self> {
        match self {
            Self::Array(items, _) => items.last(),
            Self::Object(members, _) => members.last().map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value of the first member with this name; the name is in its written form.
    pub(crate) fn member(&self, name: &[u8]) -> Option<&Self> {
        let Self::Object(members, _) = self else { return None };
        tick(members.len() * 8);
        members.iter().find(|(n, _)| super::same_text(n, name)).map(|(_, value)| value)
    }

    /// Nesting: 1 for a scalar or an empty container.
    pub(crate) fn depth(&self) -> i64 {
        tick(32);
        stack::ensure();
        1 + self.children().into_iter().map(Self::depth).max().unwrap_or(0)
    }

    /// An array of values that are not together in one text.
    pub(crate) fn array(items: Vec<Self>) -> Self {
        Self::Array(items, &[])
    }

    /// An object of members that are not together in one text.
    pub(crate) fn object(members: Vec<(&'a [u8], Self)>) -> Self {
        Self::Object(members, &[])
    }
}
