//! Updatability of views: whether rows can be changed through a view, as far as its query decides.
//! Works on syntax and definitions, and parses the queries of nested views.
//!
//! Must never look at privileges or data.

use selkie_catalog::{Namespace, Snapshot, TableInfo, TableKind, View};
use selkie_expr::aggregate::AggregateKind;
use selkie_sql::ast::{
    Expr, ExprKind, FunctionCall, JoinKind, Query, QueryBody, Select, SelectItem, TableName,
    TableRef,
};
use selkie_types::charset::identifier_eq;
use selkie_types::{SqlMode, stack};

/// Maximum nesting of views that is examined.
const MOST_DEPTH: usize = 64;

/// Functions with a new value for every row. A view that calls one is always materialised.
const UNPREDICTABLE: [&str; 5] = ["rand", "rownum", "uuid", "uuid_short", "sys_guid"];

/// Operations possible through a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updatability {
    /// Whether the view's rows are rows of its tables, so that its query can replace its name.
    pub merges: bool,
    /// Whether it may be the target of INSERT and DELETE.
    pub updatable: bool,
}

/// The SELECT of a query whose rows are those of FROM; `None` for other queries.
///
/// `aggregates`: whether a call is one of an aggregate function that is stored.
pub(crate) fn merged_select<'q>(
    query: &'q Query,
    aggregates: &dyn Fn(&FunctionCall) -> bool,
) -> Option<&'q Select> {
    stack::ensure();
    if query.limit.is_some() {
        return None;
    }
    let select = match &query.body {
        QueryBody::Select(select) => select,
        QueryBody::Nested(nested) if query.order_by.is_empty() => {
            return merged_select(nested, aggregates);
        }
        _ => return None,
    };
    let plain = !select.options.distinct
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.windows.is_empty()
        && !select.from.is_empty()
        && !is_dual(&select.from);
    let items = select.items.iter().all(|item| match item {
        SelectItem::Wildcard { .. } => true,
        SelectItem::Expr { expr, .. } => is_of_one_row(expr, aggregates),
    });
    let rows = select.where_clause.iter().all(|e| is_of_one_row(e, aggregates));
    (plain && items && rows).then_some(select)
}

fn is_dual(from: &[TableRef]) -> bool {
    matches!(from, [TableRef::Table(table)]
        if table.name.schema.is_none() && table.name.name.is("dual"))
}

/// Whether a call is one of an aggregate function that is stored; `schema` is the default.
pub(crate) fn is_stored_aggregate(snapshot: &Snapshot, schema: &str, call: &FunctionCall) -> bool {
    let (name, own) = (&*call.name.value, call.schema.as_ref());
    let schema = own.map_or(schema, |schema| &*schema.value);
    let is_built_in = || own.is_none() && selkie_expr::function_named(name).is_some();
    let routine = snapshot.routine(schema, true, name);
    routine.is_some_and(|routine| routine.returns.aggregate) && !is_built_in()
}

/// Whether the expression depends on one row only: no aggregate, no window function, no function
/// with a new value for every row.
fn is_of_one_row(expr: &Expr, aggregates: &dyn Fn(&FunctionCall) -> bool) -> bool {
    let found = expr.find(&mut |e| match &e.kind {
        ExprKind::GroupConcat(_) => Some(()),
        ExprKind::Call(call) => {
            let name = call.name.value.to_ascii_lowercase();
            let unpredictable = call.schema.is_none() && UNPREDICTABLE.contains(&&*name);
            let grouping = AggregateKind::from_name(&name).is_some() || aggregates(call);
            (unpredictable || grouping || call.over.is_some()).then_some(())
        }
        _ => None,
    });
    found.is_none()
}

/// Updatability of a view with the query `query`, which is stored in `schema`.
pub fn updatability(
    names: Namespace<'_>,
    query: &Query,
    schema: &str,
    temptable: bool,
) -> Updatability {
    shape(names, query, schema, temptable, 0)
}

/// Updatability of an existing view.
pub(crate) fn of_view(names: Namespace<'_>, info: &TableInfo, view: &View) -> Updatability {
    nested(names, info, view, 0)
}

fn nested(names: Namespace<'_>, info: &TableInfo, view: &View, depth: usize) -> Updatability {
    match crate::parse::query(view.select.as_bytes(), SqlMode::default()) {
        Ok(query) if depth < MOST_DEPTH => {
            let temptable = view.algorithm == "TEMPTABLE";
            shape(names.shared(), &query, info.schema(), temptable, depth + 1)
        }
        _ => Updatability::default(),
    }
}

fn shape(
    names: Namespace<'_>,
    query: &Query,
    schema: &str,
    temptable: bool,
    depth: usize,
) -> Updatability {
    let aggregates = |call: &FunctionCall| is_stored_aggregate(names.snapshot, schema, call);
    let Some(select) = merged_select(query, &aggregates).filter(|_| !temptable) else {
        return Updatability::default();
    };
    let looked = Look { names, schema, depth };
    let updatable = select.from.iter().all(|t| looked.is_updatable(t))
        && !looked.reads_in_subqueries(query, select);
    Updatability { merges: true, updatable }
}

#[derive(Clone, Copy)]
struct Look<'a> {
    names: Namespace<'a>,
    schema: &'a str,
    depth: usize,
}

impl Look<'_> {
    fn is_updatable(self, table: &TableRef) -> bool {
        stack::ensure();
        match table {
            TableRef::Table(factor) => self.is_base(&factor.name),
            TableRef::Join(join) => {
                matches!(join.kind, JoinKind::Inner | JoinKind::Straight)
                    && self.is_updatable(&join.left)
                    && self.is_updatable(&join.right)
            }
            TableRef::Derived(_) | TableRef::JsonTable(_) => false,
        }
    }

    fn is_base(self, name: &TableName) -> bool {
        let schema = name.schema.as_ref().map_or(self.schema, |s| &s.value);
        let Some(table) = self.names.table(schema, &name.name.value) else { return false };
        match &table.kind {
            TableKind::Base | TableKind::Temporary => true,
            TableKind::View(view) => nested(self.names, table, view, self.depth).updatable,
            TableKind::System => table.is_series(),
        }
    }

    /// Whether a table of FROM is read in a subquery, too.
    fn reads_in_subqueries(self, query: &Query, select: &Select) -> bool {
        let mut top = Vec::new();
        select.from.iter().for_each(|t| self.names_of(t, &mut top));
        let mut all = 0;
        let mut copy = query.clone();
        copy.for_each_mention(&mut |mention| {
            if let selkie_sql::ast::Mention::Table(factor) = mention {
                let key = self.key(&factor.name);
                all += usize::from(top.iter().any(|t| same(t, &key)));
            }
        });
        all > top.len()
    }

    fn names_of(self, table: &TableRef, out: &mut Vec<(String, String)>) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => out.push(self.key(&factor.name)),
            TableRef::Join(join) => {
                self.names_of(&join.left, out);
                self.names_of(&join.right, out);
            }
            TableRef::Derived(_) | TableRef::JsonTable(_) => {}
        }
    }

    fn key(self, name: &TableName) -> (String, String) {
        let schema = name.schema.as_ref().map_or(self.schema, |s| &s.value);
        (schema.to_owned(), name.name.value.to_string())
    }
}

fn same(a: &(String, String), b: &(String, String)) -> bool {
    identifier_eq(&a.0, &b.0) && identifier_eq(&a.1, &b.1)
}
