//! One SELECT with its ORDER BY and LIMIT: select list, grouping, DISTINCT, windows and sort keys.
//! Set operations and parentheses around it are bound by `query.rs`.

use selkie_expr::aggregate::{Aggregate, AggregateKind};
use selkie_expr::{Coercibility, Expr, ExprKind};
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::*;
use selkie_types::{Condition, Privileges, SqlError, SqlResult, pace};

use super::access::Wanted;
use super::alias::{Alias, AliasUse};
use super::given::{Given, Keys, fixed_by};
use super::group::{Grouping, gives_rows_of_one};
use super::having::is_computed_once;
use super::row_number::RowNumbers;
use super::scope::{Clause, Pending, SourceColumns};
use super::{Binder, Named, Query};
use crate::logical::{AggregateNode, ColumnId, ColumnSet, Cut, Logical, SortItem, UnitId};
use crate::physical::TextOf;
use crate::safety::Uses;

/// ORDER BY and LIMIT of the query around a SELECT.
#[derive(Clone, Copy, Default)]
pub(super) struct Tail<'q> {
    pub order_by: &'q [ast::OrderItem],
    pub limit: Option<&'q ast::Limit>,
    /// The rows go to the client: `sql_select_limit` applies.
    pub outermost: bool,
    /// The client sees the order of the rows: grouped rows come sorted.
    pub in_order: bool,
}

/// A bound entry of the select list.
pub(super) struct Item {
    pub expr: Expr,
    pub name: String,
    pub schema: Box<str>,
    pub table: Box<str>,
    /// Name of the column, if the entry is a plain column.
    pub column: Box<str>,
}

/// The parts of a SELECT between FROM and its projection.
struct Parts {
    items: Vec<Item>,
    having: Option<Expr>,
    order: Vec<SortItem>,
    /// Whether the groups were sorted by the order, which is that of GROUP BY.
    implied: bool,
}

impl Binder<'_> {
    pub(super) fn select(&mut self, select: &ast::Select, tail: Tail<'_>) -> SqlResult<Query> {
        self.push_scope();
        self.scope().rows.locking = self.reading.locking.take();
        if !select.options.for_statement {
            self.scope().rows.numbers = RowNumbers::Accepted(None);
        }
        let reading = Wanted::all(Privileges::SELECT);
        let chooses_rows = std::mem::take(&mut self.chooses_rows);
        let around = self.columns.units.select(select.span.start);
        let (place, unit) = (self.columns.units.place(), self.columns.units.current());
        let within = &mut self.scope().within;
        (within.place, within.unit) = (place, unit);
        let bound = self.using_tables(reading, |b| b.select_in_scope(select, tail));
        self.columns.units.end_select(around);
        self.chooses_rows = chooses_rows;
        self.pop_scope();
        bound
    }

    fn select_in_scope(&mut self, select: &ast::Select, tail: Tail<'_>) -> SqlResult<Query> {
        if select.rollup && !tail.order_by.is_empty() {
            return Err(SqlError::new(&ER_WRONG_USAGE, &[&"CUBE/ROLLUP", &"ORDER BY"]));
        }
        self.uses.add(Uses::of_cache_word(select.options.cache));
        let mut plan = self.from(&select.from, select.options.straight_join)?;
        if tail.in_order && tail.order_by.is_empty() && gives_rows_of_one(select) {
            self.sort_groups(&mut plan);
        }
        let mut from = plan.columns(&self.columns);
        let conditions = self.where_of(select)?;
        let fixed = fixed_by(&conditions);
        plan = plan.filter(conditions);
        // SET and the like have no rows.
        self.scope().allow_aggregates = !select.options.for_statement;
        self.named_windows(&select.windows)?;
        let items = self.items(&select.items)?;
        let groups = self.group_keys(&select.group_by, &items)?;
        let is_column = |e: &&Expr| self.column_read(e).is_some();
        let columns = groups.iter().filter(is_column).cloned().collect();
        self.scope().grouped = !groups.is_empty();
        self.scope().group_columns = columns;
        let having = match &select.having {
            Some(having) => Some(self.having(having)?),
            None => None,
        };
        let order = self.order_keys(tail.order_by, &items)?;
        plan = self.numbered(plan, &mut from);
        let mut parts = Parts { items, having, order, implied: false };
        let keys = Keys { groups: &groups, fixed: &fixed, order: &parts.order };
        let given = self.given(select, &parts.items, keys, &from);
        let grouped = !groups.is_empty() || !self.scope().aggregates.calls.is_empty();
        let windowed = !self.scope().windows.nodes.is_empty();
        self.keep_sources(select, grouped || windowed);
        if grouped {
            let implied = tail.in_order && tail.order_by.is_empty() && !select.rollup;
            plan = self.grouped(plan, groups, &mut parts, select, &from)?;
            if implied && let Logical::Aggregate(node) = &plan {
                // Compat: only groups of these aggregates are sorted before they are compared.
                parts.implied = node.aggregates.iter().any(|(_, call)| sorts(call));
                parts.order = node
                    .groups
                    .iter()
                    .zip(&select.group_by)
                    .map(|((id, _), item)| SortItem {
                        expr: self.columns.expr(*id),
                        descending: item.descending,
                    })
                    .collect();
            }
        }
        if let Some(having) = parts.having.take() {
            let keeps = grouped || select.options.distinct || !parts.order.is_empty();
            self.scope().rows.entries_vary &= keeps;
            plan = self.having_filter(plan, having, (&mut parts.items, &mut parts.order));
        }
        plan = self.windowed(plan)?;
        let limit = self.limit(tail)?;
        self.finish_select(plan, parts, limit, select, given)
    }

    /// The conditions of WHERE that do not read row numbers.
    fn where_of(&mut self, select: &ast::Select) -> SqlResult<Vec<Expr>> {
        let Some(condition) = &select.where_clause else { return Ok(Vec::new()) };
        let bound = match super::auto_is_null::has_conditions(&select.from) {
            true => self.filter_beside_joins(condition),
            false => self.filter(condition),
        };
        let bound = bound.map_err(|error| self.first_mistake(select, error))?;
        Ok(self.without_numbers(Self::conjuncts(bound)))
    }

    /// The error of a block whose WHERE has one: unknown columns of the select list come first.
    fn first_mistake(&mut self, select: &ast::Select, error: SqlError) -> SqlError {
        let unknown = |e: &SqlError| e.code() == ER_BAD_FIELD_ERROR.code;
        self.scope().allow_aggregates |= unknown(&error);
        let of_items = unknown(&error).then(|| self.items(&select.items).err()).flatten();
        of_items.filter(unknown).unwrap_or(error)
    }

    /// The select list with wildcards expanded. Entries with window functions are bound last,
    /// because windows may read the other entries.
    pub(super) fn items(&mut self, items: &[ast::SelectItem]) -> SqlResult<Vec<Item>> {
        let pending = items.iter().map(|item| self.pending(item)).collect();
        let mut bound: Vec<Vec<Item>> = items.iter().map(|_| Vec::new()).collect();
        let before = self.scope().use_aliases.replace(AliasUse::Inner);
        self.scope().pending = pending;
        for windowed in [false, true] {
            for (at, item) in items.iter().enumerate() {
                if has_window(item) != windowed {
                    continue;
                }
                if windowed {
                    self.scope().pending[at] = Pending::default();
                }
                // Compat: the subqueries of an entry cannot read the entry itself.
                bound[at] = self.select_item(item)?;
                self.scope().pending[at] = Pending::default();
                self.scope().aliases.extend(bound[at].iter().map(Alias::new));
            }
        }
        let bound: Vec<Item> = bound.into_iter().flatten().collect();
        let scope = self.scope();
        scope.aliases = bound.iter().map(Alias::new).collect();
        scope.pending.clear();
        scope.use_aliases = before;
        Ok(bound)
    }

    /// The names of an entry before it is bound.
    fn pending(&self, item: &ast::SelectItem) -> Pending {
        let column = match item {
            ast::SelectItem::Expr { expr, .. } => match &expr.kind {
                ast::ExprKind::Column(column) => Some(column),
                _ => None,
            },
            ast::SelectItem::Wildcard { .. } => None,
        };
        let written = |column: &ast::ColumnRef| {
            let table = column.table.as_ref().map(|table| table.value.clone());
            (table, column.name.value.clone())
        };
        Pending {
            name: self.item_name(item).unwrap_or_default().into(),
            column: column.map(written),
        }
    }

    /// Column name of an entry.
    fn item_name(&self, item: &ast::SelectItem) -> Option<String> {
        if let ast::SelectItem::Expr { expr, alias: None, .. } = item
            && let ast::ExprKind::Column(column) = &expr.kind
        {
            let name = self.view_column_name(column).unwrap_or(&column.name.value);
            return Some(name.to_owned());
        }
        item.column_name(self.source_text())
    }

    /// Compat: a column of a view keeps the case of the view's definition.
    fn view_column_name(&self, name: &ast::ColumnRef) -> Option<&str> {
        let sources = &self.scopes.last()?.sources;
        let views =
            sources.iter().filter(|s| !s.schema.is_empty() && self.table_names().is_of(s, name));
        views.into_iter().find_map(|source| match &source.columns {
            SourceColumns::Listed(columns) => {
                let found = columns.iter().find(|(n, _)| identifier_eq(n, &name.name.value));
                found.map(|(n, _)| &**n)
            }
            SourceColumns::Table(_) => None,
        })
    }

    fn select_item(&mut self, item: &ast::SelectItem) -> SqlResult<Vec<Item>> {
        match item {
            ast::SelectItem::Wildcard { schema, table, .. } => {
                let mut items = Vec::new();
                self.wildcard(schema.as_ref(), table.as_ref(), &mut items)?;
                Ok(items)
            }
            ast::SelectItem::Expr { expr, .. } => {
                self.warn_of_cut(item);
                let mut value = self.scalar(expr)?;
                // Compat: COLLATE gives a VARCHAR, also with the collation that a CHAR has.
                if matches!(expr.kind, ast::ExprKind::Collate { .. }) {
                    selkie_expr::cast::to_varchar(&mut value);
                }
                let name = self.item_name(item).unwrap_or_default();
                let mut item = self.item(value, name);
                self.tell_computed(expr, &mut item);
                Ok(vec![item])
            }
        }
    }

    fn warn_of_cut(&mut self, item: &ast::SelectItem) {
        let Some(written) = item.cut_alias() else { return };
        let def = match item.column_name(b"").is_some_and(|name| name.is_empty()) {
            true => &ER_NAME_BECOMES_EMPTY,
            false => &ER_REMOVED_SPACES,
        };
        let warning = Condition { soft: true, ..Condition::warning(def, &[&written]) };
        self.warnings.conditions.push(warning);
    }

    /// An entry of the select list, with its table if it is a plain column.
    pub(super) fn item(&mut self, expr: Expr, name: String) -> Item {
        let (schema, table, column) = Default::default();
        let mut item = Item { expr, name, schema, table, column };
        if let Some(id) = self.column_read(&item.expr) {
            let sources = self.scopes.last().map(|s| s.sources.as_slice()).unwrap_or_default();
            let found = sources.iter().find_map(|source| {
                let name = self.name_in_source(source, id)?;
                Some((source, name))
            });
            if let Some((source, name)) = found {
                item.schema = source.schema.clone();
                item.table = source.name.clone();
                item.column = name;
            }
        }
        item
    }

    pub(super) fn wildcard(
        &mut self,
        schema: Option<&ast::Ident>,
        table: Option<&ast::Ident>,
        items: &mut Vec<Item>,
    ) -> SqlResult<()> {
        let sources = self.scope().sources.clone();
        let star = self.scope().star.clone();
        if sources.is_empty() {
            return Err(match table {
                Some(table) => self.unknown_table(schema, table),
                None => SqlError::new(&ER_NO_TABLES_USED, &[]),
            });
        }
        let Some(table) = table else {
            sources.iter().try_for_each(|s| self.check_wildcard(s))?;
            let columns: Vec<Vec<_>> = sources.iter().map(|s| self.source_columns(s)).collect();
            let order = star.of(0..sources.len(), &|at| self.free_columns(&sources[at]));
            for (source, at) in order {
                let (name, id) = &columns[source][at];
                self.wildcard_item(&sources[source], name, *id, items)?;
            }
            return Ok(());
        };
        let name = ast::ColumnRef {
            schema: schema.cloned().map(Box::new),
            table: Some(Box::new(table.clone())),
            name: ast::Ident::new("*"),
        };
        let names = self.table_names();
        let Some(source) = sources.iter().find(|s| names.is_of(s, &name)) else {
            return Err(self.unknown_table(schema, table));
        };
        self.check_wildcard(source)?;
        for (name, id) in self.source_columns(source) {
            self.wildcard_item(source, &name, id, items)?;
        }
        Ok(())
    }

    fn check_wildcard(&self, source: &super::scope::Source) -> SqlResult<()> {
        if source.guard.is_none() {
            return Ok(());
        }
        let columns = self.source_columns(source);
        let visible = columns.iter().filter(|(_, id)| !self.is_invisible(source, *id));
        let names = visible.map(|(name, _)| &**name);
        self.check_all_columns(source.guard.as_deref(), names, self.column_use)
    }

    /// Whether `*` and NATURAL leave out a column of a table; what a query selects, they do not.
    pub(super) fn is_invisible(&self, source: &super::scope::Source, id: ColumnId) -> bool {
        let of_table = matches!(source.columns, super::scope::SourceColumns::Table(_));
        let column = self.columns.table_column(id).filter(|_| of_table);
        column.is_some_and(|(r, at)| r.table.columns.get(at).is_some_and(|c| c.invisible))
    }

    /// Error 1051, with the schema of the name.
    fn unknown_table(&self, schema: Option<&ast::Ident>, table: &ast::Ident) -> SqlError {
        let name = match self.schema_of(schema) {
            Ok(schema) => format!("{schema}.{table}"),
            Err(_) => table.to_string(),
        };
        SqlError::new(&ER_BAD_TABLE_ERROR, &[&name])
    }

    fn wildcard_item(
        &self,
        source: &super::scope::Source,
        name: &str,
        id: ColumnId,
        items: &mut Vec<Item>,
    ) -> SqlResult<()> {
        if self.is_invisible(source, id) {
            return Ok(());
        }
        // A few wildcards over a wide table are little text but many entries.
        pace::spend(256)?;
        items.push(Item {
            expr: self.source_expr(source, id),
            name: name.into(),
            schema: source.schema.clone(),
            table: source.name.clone(),
            column: name.into(),
        });
        Ok(())
    }

    fn group_keys(&mut self, keys: &[ast::OrderItem], items: &[Item]) -> SqlResult<Vec<Expr>> {
        let mut bound = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(position) = position_of(&key.expr) {
                let expr = item_at(items, position, &key.expr, Clause::Group, self)?;
                self.check_group_key(&expr, &items[position - 1].name)?;
                bound.push(expr);
                continue;
            }
            bound.push(self.group_key(key)?);
        }
        Ok(bound)
    }

    fn group_key(&mut self, key: &ast::OrderItem) -> SqlResult<Expr> {
        let by_name = match &key.expr.kind {
            ast::ExprKind::Column(name) => self.group_name(name)?,
            _ => None,
        };
        let expr = match by_name {
            Some(expr) => expr,
            None => {
                self.scope().allow_aggregates = false;
                let rule = Some(AliasUse::Last);
                let expr = self.with_aliases(rule, Clause::Group, |b| b.scalar(&key.expr));
                self.scope().allow_aggregates = true;
                expr?
            }
        };
        self.check_group_key(&expr, &self.span_text(key.expr.span))?;
        Ok(expr)
    }

    /// An error for a key that reads aggregates or windows, even inside a subquery.
    fn check_group_key(&self, key: &Expr, name: &str) -> SqlResult<()> {
        let Some(scope) = self.scopes.last() else { return Ok(()) };
        if scope.windows.contains(key) {
            return Err(SqlError::new(&ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]));
        }
        let mut read = ColumnSet::default();
        self.add_columns(key, &mut read);
        match scope.aggregates.calls.iter().any(|(id, _)| read.contains(*id)) {
            true => Err(SqlError::new(&ER_WRONG_GROUP_FIELD, &[&name])),
            false => Ok(()),
        }
    }

    fn having(&mut self, having: &ast::Expr) -> SqlResult<Expr> {
        let before = std::mem::replace(&mut self.chooses_rows, true);
        let rule = Some(AliasUse::Only);
        let bound =
            self.with_aliases(rule, Clause::Having, |b| match b.last_value_is_null(having)? {
                Some(bound) => Ok(bound),
                None => b.condition(having),
            });
        self.chooses_rows = before;
        bound
    }

    /// Binds with the select list visible as `rule` states.
    fn with_aliases<T>(
        &mut self,
        rule: Option<AliasUse>,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.scope().use_aliases = rule;
        let bound = self.in_clause(clause, bind);
        self.scope().use_aliases = None;
        bound
    }

    fn order_keys(&mut self, keys: &[ast::OrderItem], items: &[Item]) -> SqlResult<Vec<SortItem>> {
        let mut bound = Vec::with_capacity(keys.len());
        for key in keys {
            let rule = match key.expr.kind {
                ast::ExprKind::Column(_) => AliasUse::First,
                _ => AliasUse::Last,
            };
            let expr = match position_of(&key.expr) {
                Some(position) => item_at(items, position, &key.expr, Clause::Order, self)?,
                None => self.with_aliases(Some(rule), Clause::Order, |b| b.scalar(&key.expr))?,
            };
            bound.push(SortItem { expr, descending: key.descending });
        }
        Ok(bound)
    }

    /// Adds a grouping above `plan` and rewrites everything above it to read groups.
    fn grouped(
        &mut self,
        plan: Logical,
        keys: Vec<Expr>,
        parts: &mut Parts,
        select: &ast::Select,
        from: &ColumnSet,
    ) -> SqlResult<Logical> {
        let in_table = self.groups_in_table(&keys, select.rollup);
        let mut calls = self.scope().aggregates.take_calls();
        if in_table {
            self.cut_digits(&mut calls);
        }
        let mut grouping = Grouping::new(self, keys, from.clone(), select.rollup);
        for item in &mut parts.items {
            grouping.selected(self, &mut item.expr)?;
        }
        if let Some(having) = &mut parts.having {
            grouping.above(self, having, true)?;
        }
        // Compat: keys of ORDER BY and windows need not be grouped where GROUP BY groups.
        let is_one_group = select.group_by.is_empty();
        for key in &mut parts.order {
            grouping.above(self, &mut key.expr, is_one_group)?;
        }
        let mut windows = std::mem::take(&mut self.scope().windows);
        windows.for_each_expr(&mut |e| grouping.above(self, e, is_one_group))?;
        self.scope().windows = windows;
        let carried = self.values_of_one(grouping.carried, AggregateKind::AnyValue)?;
        Ok(Logical::Aggregate(Box::new(AggregateNode {
            input: plan,
            groups: grouping.groups,
            aggregates: calls.into_iter().chain(carried).collect(),
            rollup: select.rollup,
            descending: select.group_by.iter().map(|key| key.descending).collect(),
        })))
    }

    /// Row count and offset.
    pub(super) fn limit(&mut self, tail: Tail<'_>) -> SqlResult<Option<Cut>> {
        let Some(limit) = tail.limit else {
            let unlimited = self.settings.variables.sql_select_limit == u64::MAX || !tail.outermost;
            let limit = Some(Expr::uint(self.settings.variables.sql_select_limit));
            let unit = self.columns.units.current();
            return Ok((!unlimited).then(|| Cut { limit, unit, ..Cut::default() }));
        };
        if limit.with_ties && tail.order_by.is_empty() {
            return Err(SqlError::new(&ER_WITH_TIES_NEEDS_ORDER, &[]));
        }
        self.uses.add(Uses::LIMIT);
        let mut number =
            |e: &Option<ast::Expr>| e.as_ref().map(|e| self.limit_value(e)).transpose();
        let (count, offset) = (number(&limit.count)?, number(&limit.offset)?);
        if let Some(examined) = number(&limit.rows_examined)? {
            self.rows_examined = Some(examined);
        }
        let unit = self.columns.units.current();
        Ok(Some(Cut { limit: count, offset, ties: limit.with_ties, counted: false, unit }))
    }

    pub(super) fn limit_value(&mut self, value: &ast::Expr) -> SqlResult<Expr> {
        let mut expr = self.scalar(value)?;
        selkie_expr::cast::to_uint(&mut expr);
        crate::fold::fold(&mut expr, self.types);
        Ok(expr)
    }

    fn finish_select(
        &mut self,
        plan: Logical,
        parts: Parts,
        limit: Option<Cut>,
        select: &ast::Select,
        given: Vec<Given>,
    ) -> SqlResult<Query> {
        let Parts { items, mut order, implied, .. } = parts;
        let unit = self.columns.units.current();
        let mut columns = Vec::with_capacity(items.len());
        let mut named = Vec::with_capacity(items.len());
        for (item, given) in items.into_iter().zip(given) {
            let id = self.output_column(&item.expr);
            let Item { name, schema, table, column, .. } = item;
            named.push(Named { id, name, schema, table, column, given });
            columns.push((id, item.expr));
        }
        // Queries of views and of INSERT are known by their form, and what is below their entries
        // is still needed.
        let is_open = (self.views.is_empty() || limit.is_some()) && !self.is_inserted(select);
        let computed_once = |key: &SortItem| is_computed_once(&key.expr, &columns);
        let plan = match select.options.distinct {
            false if is_open && order.iter().any(computed_once) => {
                let keys = self.kept_keys(order, &mut columns);
                let plan = Logical::Project { input: Box::new(plan), columns };
                limited(sorted(plan, keys, unit), limit)
            }
            false => {
                let plan = sorted(plan, order, unit);
                let plan = limited(plan, limit);
                Logical::Project { input: Box::new(plan), columns }
            }
            true => {
                let one_table = self.scope().sources.len() == 1;
                let sorts_all = one_table && limit.is_none() && !order.is_empty();
                let count = order.len();
                order.extend(self.carried_keys(select));
                let (plan, mut order) = self.distinct(plan, columns, (order, implied))?;
                self.carried_as(&order.split_off(count));
                if sorts_all {
                    self.sort_by_rest(&mut order, &named);
                }
                limited(sorted(plan, order, unit), limit)
            }
        };
        Ok(Query { plan, columns: named })
    }

    /// Sort keys over `columns`, to which those are added that are not among them.
    fn kept_keys(
        &mut self,
        order: Vec<SortItem>,
        columns: &mut Vec<(ColumnId, Expr)>,
    ) -> Vec<SortItem> {
        let mut keys = Vec::with_capacity(order.len());
        for SortItem { expr, descending } in order {
            let known = columns.iter().find(|(_, e)| *e == expr).map(|(id, _)| *id);
            let id = known.unwrap_or_else(|| {
                let id = self.output_column(&expr);
                columns.push((id, expr));
                id
            });
            keys.push(SortItem { expr: self.columns.expr(id), descending });
        }
        keys
    }

    /// Compat: DISTINCT over one table groups by the keys of ORDER BY and then by the other
    /// columns. So rows with equal keys come sorted by these columns, if all keys are columns.
    fn sort_by_rest(&self, order: &mut Vec<SortItem>, columns: &[Named]) {
        let is_column = |key: &SortItem| columns.iter().any(|c| key.expr.as_column() == Some(c.id));
        if !order.iter().all(is_column) {
            return;
        }
        for column in columns {
            if order.iter().all(|key| key.expr.as_column() != Some(column.id)) {
                let expr = self.columns.expr(column.id);
                order.push(SortItem { expr, descending: false });
            }
        }
    }

    /// A column for the value of an expression. For a plain column it keeps the origin.
    pub(super) fn output_column(&mut self, expr: &Expr) -> ColumnId {
        let id = self.columns.add(expr.ty.clone(), expr.nullable);
        if let Some(from) = expr.as_column() {
            let from = self.columns.get(from);
            let (origin, written) = (from.origin, from.written);
            let announced = from.announced;
            let (kept, text) = (from.kept, from.text);
            let declared = from.ty.is_integer().then(|| from.ty.clone());
            let explicit = expr.coercibility == Coercibility::Explicit;
            let coercibility = explicit.then_some(Coercibility::Explicit).or(from.coercibility);
            let info = self.columns.get_mut(id);
            if let Some(declared) = declared.filter(|ty| ty.of_operand() == info.ty) {
                info.ty = declared;
            }
            (info.origin, info.written) = (origin, written);
            info.announced = announced;
            (info.kept, info.text) = (kept, text);
            info.coercibility = coercibility;
        } else {
            let written = collated(expr).and_then(|from| self.columns.get(from).written);
            let info = self.columns.get_mut(id);
            info.written = written;
            info.coercibility = Some(expr.coercibility);
            if expr.is_whole_text() {
                info.text = TextOf::Function;
            }
        }
        id
    }

    /// The error for a position beyond the select list.
    pub(super) fn no_such_position(&self, expr: &ast::Expr, clause: Clause) -> SqlError {
        let named = match (&expr.kind, position_of(expr)) {
            (ast::ExprKind::Unary { expr, .. }, _) if position_of(expr) != Some(0) => {
                format!("-{}", self.span_text(expr.span))
            }
            (_, Some(position)) => position.to_string(),
            (_, None) => self.span_text(expr.span),
        };
        SqlError::unknown_column(named, clause.name())
    }

    /// Distinct rows of `columns`. Sort keys that are not in `columns` take the value of an
    /// arbitrary row.
    fn distinct(
        &mut self,
        plan: Logical,
        mut columns: Vec<(ColumnId, Expr)>,
        (order, implied): (Vec<SortItem>, bool),
    ) -> SqlResult<(Logical, Vec<SortItem>)> {
        let visible: Vec<ColumnId> = columns.iter().map(|(id, _)| *id).collect();
        let mut keys = Vec::with_capacity(order.len());
        let mut carried: Vec<(ColumnId, Expr)> = Vec::new();
        for key in order {
            let found = columns.iter().find(|(_, e)| *e == key.expr).map(|(id, _)| {
                // The key exists already, as the value of an arbitrary row.
                let any = carried.iter().find(|(_, from)| from.as_column() == Some(*id));
                any.map_or(*id, |(out, _)| *out)
            });
            let id = found.unwrap_or_else(|| {
                let id = self.output_column(&key.expr);
                let out = self.output_column(&key.expr);
                carried.push((out, self.columns.expr(id)));
                columns.push((id, key.expr.clone()));
                out
            });
            keys.push(SortItem { expr: self.columns.expr(id), descending: key.descending });
        }
        let input = Logical::Project { input: Box::new(plan), columns };
        if carried.is_empty() {
            return Ok((Logical::Distinct { input: Box::new(input), columns: visible }, keys));
        }
        let groups: Vec<(ColumnId, Expr)> =
            visible.iter().map(|id| (*id, self.columns.expr(*id))).collect();
        let inner: Vec<ColumnId> = visible
            .iter()
            .map(|id| {
                let e = self.columns.expr(*id);
                self.output_column(&e)
            })
            .collect();
        let (input, groups) = renamed(input, groups, &inner, self);
        // The first of equal rows in the order of a single key has its least or greatest value.
        let first = match (&keys[..], &carried[..]) {
            ([key], [(_, e)]) if implied && e.ty.is_integer() => match key.descending {
                true => AggregateKind::Max,
                false => AggregateKind::Min,
            },
            _ => AggregateKind::AnyValue,
        };
        let aggregates = self.values_of_one(carried, first)?;
        let descending = Vec::new();
        let node = AggregateNode { input, groups, aggregates, rollup: false, descending };
        Ok((Logical::Aggregate(Box::new(node)), keys))
    }

    /// Values of one row of a group, as aggregates.
    fn values_of_one(
        &mut self,
        values: Vec<(ColumnId, Expr)>,
        kind: AggregateKind,
    ) -> SqlResult<Vec<(ColumnId, Aggregate)>> {
        let mut calls = Vec::with_capacity(values.len());
        for (id, expr) in values {
            let call = Aggregate::new(kind, false, vec![expr], self.types)?;
            self.columns.get_mut(id).ty = self.aggregate_type(&call);
            calls.push((id, call));
        }
        Ok(calls)
    }
}

/// Whether MariaDB computes an aggregate from rows in the order of their groups.
fn sorts(call: &Aggregate) -> bool {
    call.distinct || matches!(call.kind, AggregateKind::GroupConcat | AggregateKind::Stored)
}

/// Gives the input of a grouping other column numbers than its output.
fn renamed(
    input: Logical,
    groups: Vec<(ColumnId, Expr)>,
    inner: &[ColumnId],
    binder: &Binder<'_>,
) -> (Logical, Vec<(ColumnId, Expr)>) {
    let Logical::Project { input, mut columns } = input else { return (input, groups) };
    for ((visible, _), new) in groups.iter().zip(inner) {
        for (id, _) in &mut columns {
            if id == visible {
                *id = *new;
            }
        }
    }
    let groups = groups
        .into_iter()
        .zip(inner)
        .map(|((id, _), new)| (id, binder.columns.expr(*new)))
        .collect();
    (Logical::Project { input, columns }, groups)
}

/// Whether an entry of the select list has a window function outside of subqueries.
fn has_window(item: &ast::SelectItem) -> bool {
    let ast::SelectItem::Expr { expr, .. } = item else { return false };
    let over = |e: &ast::Expr| matches!(&e.kind, ast::ExprKind::Call(c) if c.over.is_some());
    expr.find(&mut |e| over(e).then_some(())).is_some()
}

/// The column that an expression gives with another collation, and with no other change.
fn collated(expr: &Expr) -> Option<ColumnId> {
    let mut below = expr;
    while let ExprKind::Call(call) = &below.kind
        && call.function.is_implicit()
        && let [inner] = &call.args[..]
    {
        below = inner;
    }
    below.as_column().filter(|_| expr.coercibility == Coercibility::Explicit)
}

pub(super) fn sorted(plan: Logical, keys: Vec<SortItem>, unit: UnitId) -> Logical {
    if keys.is_empty() { plan } else { Logical::Sort { input: Box::new(plan), keys, unit } }
}

pub(super) fn limited(plan: Logical, cut: Option<Cut>) -> Logical {
    match cut {
        None | Some(Cut { limit: None, offset: None, .. }) => plan,
        Some(cut) => Logical::Limit { input: Box::new(plan), cut: Box::new(cut) },
    }
}

/// The position that an ORDER BY or GROUP BY entry is. Compat: a negative number is a position too,
/// one that does not exist.
pub(crate) fn position_of(expr: &ast::Expr) -> Option<usize> {
    match &expr.kind {
        ast::ExprKind::Literal(ast::Literal::Int(n)) => usize::try_from(*n).ok(),
        ast::ExprKind::Unary { op: ast::UnaryOp::Neg, expr } => position_of(expr).map(|_| 0),
        _ => None,
    }
}

fn item_at(
    items: &[Item],
    position: usize,
    expr: &ast::Expr,
    clause: Clause,
    binder: &Binder<'_>,
) -> SqlResult<Expr> {
    match position.checked_sub(1).and_then(|at| items.get(at)) {
        Some(item) => Ok(item.expr.clone()),
        None => Err(binder.no_such_position(expr, clause)),
    }
}
