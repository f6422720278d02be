//! Full-text searches of a statement. Data only: the executor makes each once, when its first rank
//! is asked for.

use std::sync::Arc;

use selkie_catalog::TableInfo;
use selkie_expr::Expr;
use selkie_sql::ast::MatchMode;

/// A full-text search, whose hits expressions know by [`selkie_expr::SearchId`].
#[derive(Clone, Debug)]
pub struct Search {
    /// The instance of the table in the statement.
    pub relation: usize,
    /// The table.
    pub table: Arc<TableInfo>,
    /// Positions of the columns whose texts are a document.
    pub columns: Vec<usize>,
    /// Position of its FULLTEXT index; none if it reads rows only.
    pub index: Option<usize>,
    /// The query, a text in the character set of the columns. It reads no columns.
    pub query: Expr,
    /// The mode.
    pub mode: MatchMode,
}

impl Search {
    /// Position of its index among those that the engine keeps; a table in parts has none.
    pub fn kept(&self) -> Option<usize> {
        if self.table.partitions.is_some() {
            return None;
        }
        let id = self.table.fulltext[self.index?].def.id;
        self.table.def.texts.iter().position(|text| text.index.id == id)
    }

    /// Whether another search has the same hits.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.relation == other.relation
            && self.columns == other.columns
            && self.mode == other.mode
            && self.query.is_deterministic()
            && self.query == other.query
    }
}
