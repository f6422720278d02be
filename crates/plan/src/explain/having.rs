//! Conditions of HAVING in the text of a query, and whether rows that are known before others are
//! read meet the conditions of a query. Works on syntax; must say nothing about a condition whose
//! value it cannot compute as the statement does.

use selkie_catalog::{ColumnInfo, DefaultValue};
use selkie_engine::IndexDef;
use selkie_expr::EvalContext;
use selkie_sql::ast::{
    BinaryOp, ColumnRef, Expr, ExprKind, IsTest, Literal, Query, Select, SelectItem, StringLiteral,
    TableRef,
};
use selkie_types::charset::identifier_eq;
use selkie_types::{TypeKind, Value, stack};

use super::known::made;
use super::text::{
    Known, Never, Shown, add_conjuncts, flatten, known_truth, number, prepared, selects,
};
use crate::planner::{PlanContext, bind_constant};

/// The facts about the SELECTs of a query, after their conditions are tested on the rows of their
/// constant tables.
pub fn tested(query: &Query, all: Vec<Known>, context: &PlanContext<'_>) -> Vec<Known> {
    let written = selects(query);
    let tests =
        |(select, known): (&&Select, &Known)| select.having.is_some() && !known.tables.is_empty();
    if written.len() != all.len() || !written.iter().zip(&all).any(tests) {
        return all;
    }
    let query = prepared(query, context);
    let found = selects(&query);
    if found.len() != all.len() {
        return all;
    }
    let never: Vec<Option<Never>> =
        found.iter().zip(&all).map(|(select, known)| never(select, known, context)).collect();
    let known = all.into_iter().zip(never);
    known.map(|(known, never)| Known { never, ..known }).collect()
}

/// The reason why a SELECT with qualified names gives no rows, if that is known.
fn never(select: &Select, known: &Known, context: &PlanContext<'_>) -> Option<Never> {
    if select.having.is_none() || known.tables.is_empty() {
        return known.never;
    }
    let mut select = select.clone();
    let shown = Shown { all: &[], known, context, parameters: 0 };
    let mut conditions = Vec::new();
    select.where_clause.take().into_iter().for_each(|e| add_conjuncts(e, &mut conditions));
    let mut from = Vec::new();
    let tables = std::mem::take(&mut select.from);
    tables.into_iter().for_each(|table| flatten(table, &mut from, &mut conditions));
    let having = shown.having(&mut select);
    conditions.extend(having.moved);
    let fails = |list: &[Expr]| list.iter().any(|e| shown.verdict(e) == Some(false));
    match (known.never, fails(&conditions)) {
        (_, true) => Some(Never::Where),
        (None | Some(Never::Where), false) if fails(&having.kept) => Some(Never::Having),
        (never, false) => never,
    }
}

/// The conditions of HAVING.
#[derive(Default)]
pub(super) struct Having {
    /// Those on keys of groups alone, which become conditions of WHERE.
    pub moved: Vec<Expr>,
    /// All others, with expressions in place of names of the select list.
    kept: Vec<Expr>,
    /// All others as they are shown.
    shown: Vec<Expr>,
}

impl Shown<'_> {
    /// Takes HAVING apart.
    pub(super) fn having(&self, select: &mut Select) -> Having {
        let Some(having) = select.having.take() else { return Having::default() };
        let mut conditions = Vec::new();
        let folded = self.folded(having);
        if self.known.never == Some(Never::Alone) || known_truth(&folded) == Some(false) {
            return Having { shown: vec![number(0)], ..Having::default() };
        }
        add_conjuncts(folded, &mut conditions);
        let mut parts = Having::default();
        for condition in conditions {
            let mut meant = condition.clone();
            resolve(&mut meant, &select.items);
            match !select.rollup && self.is_of_keys(&meant, select) {
                true => parts.moved.push(meant),
                false => {
                    parts.kept.push(meant);
                    parts.shown.push(condition);
                }
            }
        }
        parts
    }

    /// HAVING as it is shown.
    pub(super) fn shown_having(&self, parts: Having) -> Expr {
        let never = self.known.never == Some(Never::Having);
        // Compat: a condition on rows that are kept is one of the table that keeps them.
        if self.known.kept && !never && parts.shown.iter().all(|e| known_truth(e).is_none()) {
            return number(1);
        }
        let pairs = parts.shown.into_iter().zip(parts.kept.into_iter().map(Some).chain([None]));
        let shown = pairs.map(|(mut shown, meant)| match meant.and_then(|e| self.verdict(&e)) {
            Some(truth) => number(truth.into()),
            None => {
                self.constants(&mut shown);
                shown
            }
        });
        let shown = shown.chain(never.then(|| number(0))).collect();
        self.folded(made(ExprKind::And(shown)))
    }

    /// Whether a condition reads columns that are keys of groups, and nothing else of a row.
    fn is_of_keys(&self, condition: &Expr, select: &Select) -> bool {
        let is_key = |column: &ColumnRef| {
            let mut keys = select.group_by.iter();
            keys.any(|key| matches!(&key.expr.kind, ExprKind::Column(key) if same(key, column)))
        };
        let (mut columns, mut others) = (0, 0);
        condition.find(&mut |e| -> Option<()> {
            if let ExprKind::Column(column) = &e.kind {
                columns += 1;
                others += usize::from(!is_key(column));
            }
            None
        });
        columns > 0 && others == 0 && self.is_of_columns(condition)
    }

    /// Whether only the columns of a condition keep it from being a constant.
    pub(super) fn is_of_columns(&self, condition: &Expr) -> bool {
        let mut constant = condition.clone();
        replace(&mut constant, &|_| Some(made(ExprKind::Literal(Literal::Null))));
        !constant.has_subquery()
            && bind_constant(&constant, self.context).is_ok_and(|bound| bound.is_constant())
    }

    /// Whether a condition on constant tables alone is true; `None` if that is not known.
    pub(super) fn verdict(&self, condition: &Expr) -> Option<bool> {
        let mut constant = condition.clone();
        let replaced = replace(&mut constant, &|column| self.typed(column));
        if !replaced {
            return None;
        }
        let kind = ExprKind::Is { expr: Box::new(constant), test: IsTest::True, negated: false };
        let bound = bind_constant(&made(kind), self.context).ok()?;
        if !bound.is_foldable() {
            return None;
        }
        let value = bound.eval_value(&EvalContext::detached(self.context.types)).ok()?;
        Some(value == Value::Int(1))
    }

    /// The value of a column of a constant table as an expression of the column's type.
    fn typed(&self, column: &ColumnRef) -> Option<Expr> {
        let (value, ty) = self.constant(column)?;
        let ExprKind::Literal(literal) = &value.kind else {
            return ty.is_numeric().then(|| value.clone());
        };
        match literal {
            Literal::Null => Some(value.clone()),
            Literal::String(_) if ty.is_string() && !ty.collation.is_binary() => {
                let charset = Some(ty.collation.charset().name().into());
                let expr = Box::new(value.clone());
                let text = Box::new(made(ExprKind::ConvertUsing { expr, charset }));
                let collation = ty.collation.name().into();
                Some(made(ExprKind::Collate { expr: text, collation }))
            }
            Literal::Int(_) if ty.is_integer() => Some(value.clone()),
            Literal::Decimal(_) if ty.kind == TypeKind::Decimal => Some(value.clone()),
            _ => None,
        }
    }

    /// Compat: if WHERE is never true, the columns of a table with an index that a condition could
    /// use have the values of a row without values.
    pub(super) fn empty_columns(&self, from: &[TableRef], conditions: &[Expr]) -> Vec<Empty> {
        let mut empty = Vec::new();
        for table in from {
            let TableRef::Table(factor) = table else { continue };
            let Some(schema) = &factor.name.schema else { continue };
            let tables = self.context.tables;
            let Some(info) = tables.table(&schema.value, &factor.name.name.value) else { continue };
            let alias = &factor.alias.as_ref().unwrap_or(&factor.name.name).value;
            if self.table(alias).is_some() {
                continue;
            }
            let of_table = |column: &ColumnRef| {
                column.table.as_ref().is_some_and(|t| identifier_eq(&t.value, alias))
            };
            let first = |index: &IndexDef| {
                let part = index.parts.first()?;
                Some(&info.columns.get(part.column)?.name)
            };
            let is_key = |column: &ColumnRef| {
                let mut keys = info.def.indexes.iter().filter_map(first);
                of_table(column) && keys.any(|key| identifier_eq(key, &column.name.value))
            };
            if conditions.iter().any(|e| self.is_range(e, &is_key)) {
                let value = |c: &ColumnInfo| Some((c.name.clone(), without_value(c)?));
                let values = info.columns.iter().filter_map(value).collect();
                empty.push(Empty { alias: alias.clone(), values });
            }
        }
        empty
    }

    /// Whether a condition compares a key with a constant.
    fn is_range(&self, condition: &Expr, is_key: &dyn Fn(&ColumnRef) -> bool) -> bool {
        let key = |e: &Expr| matches!(&e.kind, ExprKind::Column(column) if is_key(column));
        let constant = |e: &Expr| {
            let mut e = e.clone();
            self.constants(&mut e);
            bind_constant(&e, self.context).is_ok_and(|bound| bound.is_constant())
        };
        match &condition.kind {
            ExprKind::Binary { op, left, right } => {
                use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne, NullSafeEq};
                matches!(op, Eq | NullSafeEq | Ne | Lt | Le | Gt | Ge)
                    && (key(left) && constant(right) || key(right) && constant(left))
            }
            ExprKind::Between { expr, low, high, .. } => {
                key(expr) && constant(low) && constant(high)
            }
            ExprKind::InList { expr, list, .. } => key(expr) && list.iter().all(constant),
            _ => false,
        }
    }
}

/// A table of which the text shows no row.
pub(super) struct Empty {
    alias: Box<str>,
    /// Columns with the values that are shown.
    values: Vec<(Box<str>, Expr)>,
}

/// Replaces the columns of such tables.
pub(super) fn show_empty(e: &mut Expr, tables: &[Empty]) {
    replace(e, &|column| {
        let alias = &column.table.as_ref()?.value;
        let table = tables.iter().find(|table| identifier_eq(&table.alias, alias))?;
        let mut values = table.values.iter();
        let (_, value) = values.find(|(name, _)| identifier_eq(name, &column.name.value))?;
        Some(value.clone())
    });
}

/// The value of a column in a row that was given none; `None` if it is not a simple one.
fn without_value(column: &ColumnInfo) -> Option<Expr> {
    let is_null = |v: &Value| v.is_null();
    let kind = match &column.default {
        DefaultValue::Literal(value) if is_null(value) => Literal::Null,
        DefaultValue::Implicit if column.nullable => Literal::Null,
        DefaultValue::Implicit if column.ty.is_numeric() => Literal::Int(0),
        DefaultValue::Implicit if column.ty.is_string() => {
            Literal::String(StringLiteral::utf8(Vec::new()))
        }
        _ => return None,
    };
    Some(made(ExprKind::Literal(kind)))
}

/// Replaces columns; returns whether each has a value.
fn replace(e: &mut Expr, value: &dyn Fn(&ColumnRef) -> Option<Expr>) -> bool {
    stack::ensure();
    if let ExprKind::Column(column) = &e.kind {
        let found = value(column);
        let has_value = found.is_some();
        found.into_iter().for_each(|found| *e = found);
        return has_value;
    }
    let mut all = true;
    for operand in e.operands_mut() {
        all &= replace(operand, value);
    }
    all
}

/// Replaces names of the select list by their expressions.
fn resolve(e: &mut Expr, items: &[SelectItem]) {
    replace(e, &|column| {
        let of_item = |item: &SelectItem| match item {
            SelectItem::Expr { expr, alias: Some(alias), .. }
                if column.table.is_none() && identifier_eq(&alias.value, &column.name.value) =>
            {
                Some(expr.clone())
            }
            _ => None,
        };
        items.iter().find_map(of_item)
    });
}

fn same(a: &ColumnRef, b: &ColumnRef) -> bool {
    let table = |column: &ColumnRef| column.table.as_ref().map(|t| t.value.clone());
    let tables = table(a).zip(table(b)).is_some_and(|(a, b)| identifier_eq(&a, &b));
    tables && identifier_eq(&a.name.value, &b.name.value)
}
