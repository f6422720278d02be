//! Changes of computed tables that the server keeps, such as `performance_schema.setup_actors`.
//!
//! Must not know the tables: the executor computes the rows, the server decides.

/// The texts of a row's columns; none for NULL.
pub type Texts = Vec<Option<String>>;

/// A change of a computed table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another version of a row.
    Update {
        /// The row before.
        old: Texts,
        /// The row after.
        new: Texts,
        /// Columns that the statement assigns to, whether or not they change.
        assigned: Vec<usize>,
    },
    /// A new row.
    Insert(Texts),
    /// A row to remove.
    Delete(Texts),
    /// No rows any more.
    Truncate,
}
