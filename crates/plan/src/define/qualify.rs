//! The text of a view: its query with every table, column and function of a package qualified and
//! `*` expanded, so that its meaning depends neither on the current schema or mode nor on columns
//! added later.
//!
//! Works on syntax alone. The query is already known to be valid; a name that is not found is left
//! unchanged.

use std::sync::Arc;

use selkie_catalog::{Series, TableInfo};
use selkie_sql::ast::{
    CastType, ColumnRef, CommonTable, Expr, ExprKind, FunctionCall, Ident, Join, JoinCondition,
    JoinKind, Literal, OrderItem, Query, QueryBody, Select, SelectItem, TableFactor, TableName,
    TableRef,
};
use selkie_types::charset::identifier_eq;
use selkie_types::stack;

use crate::bind::{Names, position_of};
use crate::star::StarOrder;

/// A table in FROM.
struct Source {
    /// Schema written before its columns: for base tables without an alias, or for all base tables.
    schema: Option<Ident>,
    alias: Ident,
    columns: Vec<Box<str>>,
    /// Columns that USING or NATURAL has merged into those of another table.
    merged: Vec<Box<str>>,
    /// The stored table; `None` for a derived table.
    table: Option<Arc<TableInfo>>,
}

impl Source {
    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|c| identifier_eq(c, name)) && !self.has_merged(name)
    }

    fn has_merged(&self, name: &str) -> bool {
        self.merged.iter().any(|m| identifier_eq(m, name))
    }

    /// Positions of the columns that USING and NATURAL have not merged.
    fn free_columns(&self) -> Vec<usize> {
        let all = 0..self.columns.len();
        all.filter(|at| !self.has_merged(&self.columns[*at])).collect()
    }
}

/// A visible common table.
struct Common {
    name: Box<str>,
    columns: Vec<Box<str>>,
}

/// Qualifies one query.
pub(crate) struct Qualifier<'a> {
    names: Names<'a>,
    schema: Option<&'a str>,
    scopes: Vec<Vec<Source>>,
    /// The order of `*` in each scope.
    stars: Vec<StarOrder>,
    common: Vec<Common>,
    /// Whether columns of base tables with an alias get their schema too.
    whole: bool,
}

impl<'a> Qualifier<'a> {
    pub(crate) fn new(names: Names<'a>, schema: Option<&'a str>) -> Self {
        let (scopes, stars, common) = Default::default();
        Self { names, schema, scopes, stars, common, whole: false }
    }

    /// The same, but every column of a base table gets its schema. Compat: EXPLAIN shows this.
    pub(crate) fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// Qualifies `query` and returns its column names. `named`: columns without an alias get one,
    /// as in all queries except those inside expressions.
    pub(crate) fn query(&mut self, query: &mut Query, named: bool) -> Vec<Box<str>> {
        stack::ensure();
        let before = self.common.len();
        if let Some(with) = &mut query.with {
            let recursive = with.recursive;
            with.tables.iter_mut().for_each(|table| self.common_table(table, recursive));
        }
        let names = match &mut query.body {
            QueryBody::Select(select) => self.select(select, &mut query.order_by, named),
            body => {
                let names = self.body(body, named);
                self.combined_keys(&mut query.order_by, &names);
                names
            }
        };
        self.common.truncate(before);
        names
    }

    /// Keys that sort the rows of combined queries, whose columns have no table.
    fn combined_keys(&mut self, keys: &mut [OrderItem], names: &[Box<str>]) {
        if keys.is_empty() {
            return;
        }
        self.scopes.push(Vec::new());
        self.add(None, Ident::new(""), names.to_vec());
        keys.iter_mut().for_each(|key| self.expr(&mut key.expr));
        self.scopes.pop();
    }

    fn common_table(&mut self, table: &mut CommonTable, recursive: bool) {
        if recursive {
            let columns = match table.columns.is_empty() {
                true => self.written_names(&table.query.body),
                false => table.columns.iter().map(|c| c.value.clone()).collect(),
            };
            self.common.push(Common { name: table.name.value.clone(), columns });
        }
        let scopes = std::mem::take(&mut self.scopes);
        let mut columns = self.query(&mut table.query, true);
        self.scopes = scopes;
        if !table.columns.is_empty() {
            columns = table.columns.iter().map(|c| c.value.clone()).collect();
            super::view::rename_columns(&mut table.query.body, &columns);
        }
        self.common.push(Common { name: table.name.value.clone(), columns });
    }

    /// Column names of a body as written.
    fn written_names(&self, body: &QueryBody) -> Vec<Box<str>> {
        stack::ensure();
        match body {
            QueryBody::Select(select) => {
                let names =
                    select.items.iter().filter_map(|item| item.column_name(self.names.text));
                names.map(Into::into).collect()
            }
            QueryBody::Values(_) => Vec::new(),
            QueryBody::Nested(query) => self.written_names(&query.body),
            QueryBody::Combined { first, .. } => self.written_names(first),
        }
    }

    fn body(&mut self, body: &mut QueryBody, named: bool) -> Vec<Box<str>> {
        stack::ensure();
        match body {
            QueryBody::Select(select) => self.select(select, &mut [], named),
            QueryBody::Values(rows) => {
                rows.iter_mut().flatten().for_each(|e| self.expr(e));
                Vec::new()
            }
            QueryBody::Nested(query) => self.query(query, named),
            QueryBody::Combined { first, rest } => {
                let names = self.body(first, named);
                for operand in rest {
                    self.body(&mut operand.body, named);
                }
                names
            }
        }
    }

    fn select(
        &mut self,
        select: &mut Select,
        order_by: &mut [OrderItem],
        named: bool,
    ) -> Vec<Box<str>> {
        self.scopes.push(Vec::new());
        self.stars.push(StarOrder::default());
        select.from.iter_mut().for_each(|table| self.table(table));
        let (items, names) = self.items(std::mem::take(&mut select.items), named);
        select.items = items;
        if let Some(condition) = &mut select.where_clause {
            self.expr(condition);
        }
        for item in &mut select.group_by {
            self.key(item, &select.items, &names, false);
        }
        if let Some(condition) = &mut select.having {
            self.having(condition, &names);
        }
        for window in &mut select.windows {
            window.spec.exprs_mut().into_iter().for_each(|e| self.expr(e));
        }
        for item in order_by {
            self.key(item, &select.items, &names, true);
        }
        self.scopes.pop();
        self.stars.pop();
        names
    }

    fn items(&mut self, items: Vec<SelectItem>, named: bool) -> (Vec<SelectItem>, Vec<Box<str>>) {
        let (mut out, mut names) = (Vec::new(), Vec::new());
        for item in items {
            let name = item.column_name(self.names.text);
            match item {
                SelectItem::Wildcard { table, span, .. } => {
                    for (expr, name) in self.wildcard(table.as_ref()) {
                        let alias = named.then(|| Ident::new(name.clone()));
                        out.push(SelectItem::Expr { expr, alias, span });
                        names.push(name);
                    }
                }
                SelectItem::Expr { mut expr, alias, span } => {
                    self.expr(&mut expr);
                    let name: Box<str> = name.unwrap_or_default().into();
                    let named = named || alias.is_some();
                    let alias = named.then(|| Ident::new(name.clone()));
                    out.push(SelectItem::Expr { expr, alias, span });
                    names.push(name);
                }
            }
        }
        (out, names)
    }

    fn wildcard(&self, table: Option<&Ident>) -> Vec<(Expr, Box<str>)> {
        let (Some(sources), Some(star)) = (self.scopes.last(), self.stars.last()) else {
            return Vec::new();
        };
        let Some(table) = table else {
            let order = star.of(0..sources.len(), &|at| sources[at].free_columns());
            let columns = order.into_iter().map(|(at, n)| (&sources[at], &sources[at].columns[n]));
            return columns.map(|(s, name)| (column_of(s, name), name.clone())).collect();
        };
        let exact = sources.iter().any(|s| s.alias.value == table.value);
        let wanted = sources.iter().filter(|s| match exact {
            true => s.alias.value == table.value,
            false => identifier_eq(&s.alias.value, &table.value),
        });
        let columns = wanted.flat_map(|s| s.columns.iter().map(move |name| (s, name)));
        columns.map(|(source, name)| (column_of(source, name), name.clone())).collect()
    }

    /// A key of GROUP BY or ORDER BY: an alias is replaced by its selected expression.
    fn key(
        &mut self,
        item: &mut OrderItem,
        items: &[SelectItem],
        names: &[Box<str>],
        prefer: bool,
    ) {
        if let ExprKind::Column(ColumnRef { table: None, name, .. }) = &item.expr.kind {
            let is_column = self.find(name).is_some();
            let at = names.iter().position(|n| identifier_eq(n, &name.value));
            if let Some(SelectItem::Expr { expr, .. }) = at.and_then(|at| items.get(at))
                && (prefer || !is_column)
                && !is_read_as_position(expr)
            {
                item.expr = expr.clone();
                return;
            }
        }
        self.expr(&mut item.expr);
    }

    /// HAVING: aliases of selected expressions stay.
    fn having(&mut self, expr: &mut Expr, names: &[Box<str>]) {
        stack::ensure();
        if let ExprKind::Column(ColumnRef { table: None, name, .. }) = &expr.kind
            && names.iter().any(|n| identifier_eq(n, &name.value))
            && self.find(name).is_none()
        {
            return;
        }
        if let Some(query) = expr.query_mut() {
            self.query(query, false);
        }
        match &mut expr.kind {
            ExprKind::Column(column) => self.column(column),
            _ => expr.operands_mut().into_iter().for_each(|e| self.having(e, names)),
        }
    }

    fn table(&mut self, table: &mut TableRef) {
        stack::ensure();
        match table {
            TableRef::Table(factor) => self.factor(factor),
            TableRef::Derived(derived) => {
                let scopes = std::mem::take(&mut self.scopes);
                let columns = self.query(&mut derived.query, true);
                self.scopes = scopes;
                self.add(None, derived.alias.clone(), columns);
            }
            TableRef::JsonTable(json) => {
                self.expr(&mut json.document);
                self.add(None, json.alias.clone(), json.column_names());
            }
            TableRef::Join(join) => self.join(join),
        }
    }

    fn add(&mut self, schema: Option<Ident>, alias: Ident, columns: Vec<Box<str>>) {
        let source = Source { schema, alias, columns, merged: Vec::new(), table: None };
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(source);
        }
    }

    fn factor(&mut self, factor: &mut TableFactor) {
        let name = factor.name.name.clone();
        let alias = factor.alias.clone().unwrap_or_else(|| name.clone());
        if factor.name.schema.is_none()
            && let Some(common) =
                self.common.iter().rev().find(|c| identifier_eq(&c.name, &name.value))
        {
            let columns = common.columns.clone();
            return self.add(None, alias, columns);
        }
        let Some(schema) = factor.name.schema.clone().or_else(|| self.schema.map(Ident::new))
        else {
            return;
        };
        let found = self.names.tables.table(&schema.value, &name.value).cloned();
        let found = found.or_else(|| {
            Series::from_name(&name.value).map(|_| Series::table(&schema.value, &name.value))
        });
        let Some(table) = found else { return };
        let is_view = matches!(table.kind, selkie_catalog::TableKind::View(_));
        let shown = table.columns.iter().filter(|c| !c.invisible).map(|c| c.name.clone());
        let columns = shown.collect();
        let plain = (self.whole || factor.alias.is_none()) && !is_view;
        let own = plain.then(|| schema.clone());
        factor.name.schema = Some(schema);
        self.add(own, alias, columns);
        if let Some(source) = self.scopes.last_mut().and_then(|scope| scope.last_mut()) {
            source.table = Some(table);
        }
    }

    fn join(&mut self, join: &mut Join) {
        let start = self.scopes.last().map_or(0, Vec::len);
        self.table(&mut join.left);
        let middle = self.scopes.last().map_or(0, Vec::len);
        self.table(&mut join.right);
        let columns: Vec<Box<str>> = match &join.condition {
            JoinCondition::Using(columns) => columns.iter().map(|c| c.value.clone()).collect(),
            JoinCondition::Natural => self.common_columns(start, middle),
            JoinCondition::On(_) => {
                if let JoinCondition::On(condition) = &mut join.condition {
                    self.expr(condition);
                }
                return;
            }
            JoinCondition::None => return,
        };
        join.condition = self.merge(&columns, start, middle, join.kind);
    }

    fn common_columns(&self, start: usize, middle: usize) -> Vec<Box<str>> {
        let Some(scope) = self.scopes.last() else { return Vec::new() };
        let (left, right) = (&scope[start..middle], &scope[middle..]);
        let left = left.iter().flat_map(|s| s.columns.iter().filter(|name| s.has(name)));
        left.filter(|name| right.iter().any(|s| s.has(name))).cloned().collect()
    }

    /// The condition of USING. Afterwards its columns belong to one side.
    fn merge(
        &mut self,
        columns: &[Box<str>],
        start: usize,
        middle: usize,
        kind: JoinKind,
    ) -> JoinCondition {
        let (Some(scope), Some(star)) = (self.scopes.last_mut(), self.stars.last_mut()) else {
            return JoinCondition::None;
        };
        let (mut equal, mut merged) = (Vec::new(), Vec::new());
        for name in columns {
            let left = scope[start..middle].iter().position(|s| s.has(name)).map(|at| at + start);
            let right = scope[middle..].iter().position(|s| s.has(name)).map(|at| at + middle);
            let (Some(left), Some(right)) = (left, right) else { continue };
            equal.push(equality(column_of(&scope[left], name), column_of(&scope[right], name)));
            let (winner, loser) =
                if kind == JoinKind::Right { (right, left) } else { (left, right) };
            scope[loser].merged.push(name.clone());
            let at = scope[winner].columns.iter().position(|c| identifier_eq(c, name));
            merged.extend(at.map(|at| (winner, at)));
        }
        let mut sides = [start..middle, middle..scope.len()];
        if kind == JoinKind::Right {
            sides.reverse();
        }
        star.join(merged, sides, &|at| scope[at].free_columns());
        match equal.len() {
            // An outer join always needs a condition.
            0 if matches!(kind, JoinKind::Left | JoinKind::Right) => JoinCondition::On(one()),
            0 => JoinCondition::None,
            1 => JoinCondition::On(equal.remove(0)),
            _ => JoinCondition::On(Expr { kind: ExprKind::And(equal), span: Default::default() }),
        }
    }

    fn expr(&mut self, expr: &mut Expr) {
        stack::ensure();
        match &mut expr.kind {
            ExprKind::Column(column) => return self.column(column),
            ExprKind::Default(Some(column)) => self.column(column),
            ExprKind::NextValue(name) | ExprKind::PreviousValue(name) => self.sequence(name),
            ExprKind::SetValue { sequence, .. } => self.sequence(sequence),
            ExprKind::Call(call) => self.function(call),
            ExprKind::Match { columns, .. } => columns.iter_mut().for_each(|c| self.column(c)),
            _ => {}
        }
        if let Some(query) = expr.query_mut() {
            self.query(query, false);
        }
        expr.window_exprs_mut().into_iter().for_each(|e| self.expr(e));
        expr.operands_mut().into_iter().for_each(|e| self.expr(e));
        self.time_of(expr);
    }

    /// Quotes the name of a stored function and no other. Names the function of a package in full:
    /// the current schema and mode gave `package.function` its meaning.
    fn function(&self, call: &mut FunctionCall) {
        let environment = self.names.environment;
        let Some(written) = &call.schema else {
            let (name, schema) = (&*call.name.value, self.schema.unwrap_or_default());
            let is_built_in = selkie_expr::function_named(name).is_some();
            call.name.quoted = !is_built_in && environment.stored_function(schema, name).is_some();
            return;
        };
        let found = environment.package_function(Some(&written.value), &call.name.value);
        if let Ok(Some((schema, name))) = found {
            (call.schema, call.name.value) = (Some(Ident::new(schema)), name);
        }
    }

    /// Turns TIME(x) and TIMESTAMP(x) into casts, if the decimals of x are known.
    fn time_of(&self, expr: &mut Expr) {
        let ExprKind::Call(call) = &mut expr.kind else { return };
        let name = call.name.value.to_ascii_lowercase();
        let is_time = name == "time";
        if call.args.len() != 1 || call.schema.is_some() || !(is_time || name == "timestamp") {
            return;
        }
        let Some(digits) = self.digits_of(&call.args[0]) else { return };
        let digits = Some(u64::from(digits.min(6)));
        let target = if is_time { CastType::Time(digits) } else { CastType::DateTime(digits) };
        let Some(operand) = call.args.pop() else { return };
        expr.kind = ExprKind::Cast { expr: operand.into(), target: target.into() };
    }

    /// Decimals of a column or a literal, as a time has them.
    fn digits_of(&self, expr: &Expr) -> Option<u8> {
        let behind_point = |text: &[u8]| {
            let at = text.iter().rposition(|b| *b == b'.')?;
            u8::try_from(text[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count()).ok()
        };
        match &expr.kind {
            ExprKind::Column(column) => {
                let table = self.source_of(column)?.table.as_ref()?;
                let ty = &table.columns[table.column_position(&column.name.value)?].ty;
                let unknown = ty.is_string() || ty.decimals > 6;
                Some(if unknown { 6 } else { ty.decimals })
            }
            ExprKind::Literal(Literal::String(text)) if text.bytes.contains(&b':') => {
                Some(behind_point(&text.bytes).unwrap_or(0))
            }
            ExprKind::Literal(Literal::Decimal(text)) => behind_point(text.as_bytes()),
            ExprKind::Literal(Literal::Int(_)) => Some(0),
            _ => None,
        }
    }

    fn sequence(&self, name: &mut TableName) {
        name.schema = name.schema.take().or_else(|| self.schema.map(Ident::new));
    }

    /// The table and name of an unqualified column.
    fn find(&self, name: &Ident) -> Option<(&Source, &str)> {
        let has = |source: &&Source| source.has(&name.value);
        let found = self.scopes.iter().rev().find_map(|scope| scope.iter().find(has))?;
        let column = found.columns.iter().find(|c| identifier_eq(c, &name.value))?;
        Some((found, column))
    }

    /// The table of a column.
    fn source_of(&self, column: &ColumnRef) -> Option<&Source> {
        match &column.table {
            None => self.find(&column.name).map(|(source, _)| source),
            Some(table) => {
                // The binder has already found the exact name where names are case-sensitive.
                let exact = |s: &&Source| s.alias.value == table.value;
                let same = |s: &&Source| identifier_eq(&s.alias.value, &table.value);
                let found = self.scopes.iter().rev().find_map(|scope| scope.iter().find(exact));
                found.or_else(|| self.scopes.iter().rev().find_map(|s| s.iter().find(same)))
            }
        }
    }

    /// Replaces `_rowid` by the name of the column that it stands for.
    fn row_id(&self, column: &mut ColumnRef) {
        let only = || self.scopes.last().filter(|sources| sources.len() == 1);
        let source = match &column.table {
            Some(_) => self.source_of(column),
            None => only().and_then(|sources| sources.first()),
        };
        let Some(table) = source.and_then(|source| source.table.as_ref()) else { return };
        if let Some(at) = table.named_position(&column.name.value) {
            (column.table, column.schema) = (source.map(|s| s.alias.clone().into()), None);
            column.name = Ident::new(table.columns[at].name.clone());
        }
    }

    fn column(&self, column: &mut ColumnRef) {
        if column.name.value.eq_ignore_ascii_case("_rowid") {
            self.row_id(column);
        }
        let Some(source) = self.source_of(column) else { return };
        let mut columns = source.columns.iter();
        if let Some(name) = columns.find(|c| identifier_eq(c, &column.name.value)) {
            column.name = Ident::new(name.clone());
        }
        column.schema = source.schema.clone().map(Box::new);
        let is_named = !source.alias.value.is_empty();
        column.table = is_named.then(|| Box::new(source.alias.clone()));
    }
}

fn column_of(source: &Source, name: &str) -> Expr {
    let column = ColumnRef {
        schema: source.schema.clone().map(Box::new),
        table: Some(Box::new(source.alias.clone())),
        name: Ident::new(name),
    };
    Expr { kind: ExprKind::Column(column), span: Default::default() }
}

/// Whether an expression would be read as a position if it were a key of GROUP BY or ORDER BY.
fn is_read_as_position(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Bool(_))) || position_of(expr).is_some()
}

fn one() -> Expr {
    Expr { kind: ExprKind::Literal(Literal::Int(1)), span: Default::default() }
}

fn equality(left: Expr, right: Expr) -> Expr {
    use selkie_sql::ast::BinaryOp;
    let (left, right) = (Box::new(left), Box::new(right));
    Expr { kind: ExprKind::Binary { op: BinaryOp::Eq, left, right }, span: Default::default() }
}
