//! Changes of computed tables that the server keeps, such as `performance_schema.setup_actors`.
//!
//! Must not know the tables: the executor computes the rows, the server decides.

/// The texts of a row's columns; none for NULL.
pub type Texts = Vec<Option<String>>;

/// A change of a computed table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Rows before and after.
    Update(Vec<(Texts, Texts)>),
    /// New rows.
    Insert(Vec<Texts>),
    /// Rows to remove.
    Delete(Vec<Texts>),
    /// All rows.
    Truncate,
}
