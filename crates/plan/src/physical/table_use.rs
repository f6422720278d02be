//! Who uses which table or view: what privileges are checked by. Data only.

use std::sync::Arc;

use selkie_catalog::TableInfo;

/// A table or view where it is named.
#[derive(Clone, Debug)]
pub struct TableUse {
    /// The table or view.
    pub table: Arc<TableInfo>,
    /// Who uses it, if a view names it.
    pub by: Option<Invoker>,
}

/// Who uses what a view's query names.
#[derive(Clone, Debug)]
pub struct Invoker {
    /// The outermost view, which errors name.
    pub view: Arc<TableInfo>,
    /// `user@host` whose privileges count; `None` is the session's.
    pub definer: Option<Box<str>>,
}
