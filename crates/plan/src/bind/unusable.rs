//! Keys that a condition cannot use, because it compares their columns as another type: EXPLAIN
//! shows them, and with `note_verbosity` = `unusable_keys` there are notes. Must not change the
//! plan.

use selkie_expr::Expr;
use selkie_sql::ast;
use selkie_sql::quote_identifier;
use selkie_types::error::catalogue::ER_UNKNOWN_ERROR;
use selkie_types::{Condition, Level, SqlResult, SqlType, TypeKind};

use super::{Binder, Clause};
use crate::estimate::engine_rows;
use crate::logical::RelationId;
use crate::settings::StatisticsSource;

impl Binder<'_> {
    /// The condition of WHERE.
    pub(super) fn filter(&mut self, condition: &ast::Expr) -> SqlResult<Expr> {
        match self.in_clause(Clause::Where, |b| b.last_value_is_null(condition))? {
            Some(bound) => Ok(bound),
            None => self.filter_in(Clause::Where, condition, true),
        }
    }

    /// The condition of WHERE, if it is tested together with those of joins.
    pub(super) fn filter_beside_joins(&mut self, condition: &ast::Expr) -> SqlResult<Expr> {
        self.filter_in(Clause::Where, condition, true)
    }

    /// The condition of a join. It selects rows only if the join is not an outer one.
    pub(super) fn filter_join(&mut self, condition: &ast::Expr, inner: bool) -> SqlResult<Expr> {
        self.filter_in(Clause::On, condition, inner)
    }

    fn filter_in(
        &mut self,
        clause: Clause,
        condition: &ast::Expr,
        chooses: bool,
    ) -> SqlResult<Expr> {
        let before = std::mem::replace(&mut self.chooses_rows, chooses);
        let bound = self.condition_of(clause, condition);
        self.chooses_rows = before;
        bound
    }

    fn condition_of(&mut self, clause: Clause, condition: &ast::Expr) -> SqlResult<Expr> {
        self.in_clause(clause, |b| {
            let bound = b.condition(condition)?;
            if b.settings.variables.note_unusable_keys || b.settings.variables.explains {
                let before = (b.warnings.conditions.len(), b.columns.units.resolved.len());
                b.find_unusable_keys(condition);
                b.warnings.conditions.truncate(before.0);
                b.columns.units.resolved.truncate(before.1);
            }
            Ok(bound)
        })
    }

    /// Adds the notes to the statement's warnings.
    pub(crate) fn tell_unusable_keys(&mut self, source: &dyn StatisticsSource) {
        for (table, note) in std::mem::take(&mut self.unusable_keys) {
            // Compat: a table of one row is read before keys are considered.
            if !table.engine.rows.counted || engine_rows(&table, source) > 1.0 {
                self.warnings.conditions.push(note);
            }
        }
    }

    fn find_unusable_keys(&mut self, condition: &ast::Expr) {
        use ast::ExprKind as Syntax;
        match &condition.kind {
            Syntax::And(parts) | Syntax::Or(parts) => {
                parts.iter().for_each(|part| self.find_unusable_keys(part));
            }
            Syntax::Binary { op, left, right } => {
                if let Some((sign, swapped)) = signs(*op) {
                    self.compare_key(left, sign, &[right]);
                    self.compare_key(right, swapped, &[left]);
                }
            }
            Syntax::Between { expr, low, high, .. } => self.compare_key(expr, ">=", &[low, high]),
            Syntax::InList { expr, list, .. } => self.find_in_list(expr, list),
            _ => {}
        }
    }

    /// Compat: there is no note for a list whose items compare as several types.
    fn find_in_list(&mut self, key: &ast::Expr, list: &[ast::Expr]) {
        let Some((relation, at)) = self.key_column(key) else { return };
        let ty = self.columns.relations[relation].table.columns[at].ty.clone();
        if list.iter().all(|value| self.other_type(&ty, value).is_some()) {
            self.compare_key(key, "=", &list.iter().collect::<Vec<_>>());
        }
    }

    /// Adds a note for each key with the column `key`, if the column is compared as another type
    /// with one of `values`.
    fn compare_key(&mut self, key: &ast::Expr, sign: &str, values: &[&ast::Expr]) {
        let Some((relation, at)) = self.key_column(key) else { return };
        let table = self.columns.relations[relation].table.clone();
        let ty = &table.columns[at].ty;
        let Some((text, other)) = values.iter().find_map(|value| self.other_type(ty, value)) else {
            return;
        };
        // Compat: EXPLAIN lists keys that begin with the column among the possible ones.
        self.columns.relations[relation].unusable.push(at);
        if !self.settings.variables.note_unusable_keys {
            return;
        }
        let name = [table.schema(), table.name(), &table.columns[at].name];
        let name = name.map(quote_identifier).join(".");
        let indexes = table.def.indexes.iter().filter(|index| !index.hashed);
        for index in indexes {
            let Some(part) = index.parts.iter().position(|part| part.column == at) else {
                continue;
            };
            // Compat: a range is considered for the first part only.
            if part > 0 && !matches!(sign, "=" | "<=>") {
                continue;
            }
            let text = format!(
                "Cannot use key {} part[{part}] for lookup: {name} of type `{}` {sign} \"{text}\" \
                 of type `{}`",
                quote_identifier(&index.name),
                type_name(ty),
                type_name(&other),
            );
            let note = Condition::raw(Level::Note, ER_UNKNOWN_ERROR.code, text);
            self.unusable_keys.push((table.clone(), note));
        }
    }

    /// The table instance of a column, and its position there.
    fn key_column(&mut self, e: &ast::Expr) -> Option<(RelationId, usize)> {
        let ast::ExprKind::Column(_) = &e.kind else { return None };
        let id = self.scalar(e).ok()?.as_column()?;
        let (relation, at) = self.columns.get(id).origin?;
        let known = at < self.columns.relations[relation].table.columns.len();
        known.then_some((relation, at))
    }

    /// Text and type of a value that a key of type `ty` cannot find.
    fn other_type(&mut self, ty: &SqlType, value: &ast::Expr) -> Option<(String, SqlType)> {
        if value.has_subquery() {
            return None;
        }
        let bound = self.scalar(value).ok()?;
        if bound.has_side_effects() || !is_other(ty, &bound) {
            return None;
        }
        let text = match self.key_column(value) {
            Some((relation, at)) => {
                let info = &self.columns.relations[relation];
                let names = [&*info.alias, &info.table.columns[at].name];
                names.map(quote_identifier).join(".")
            }
            None => selkie_sql::unparse_expr(value, &Default::default()),
        };
        Some((text, bound.ty))
    }
}

/// Whether the order of a key's values differs from the order of the comparison with `value`.
fn is_other(key: &SqlType, value: &Expr) -> bool {
    let dated = value.ty.is_temporal();
    // A constant date compared with a YEAR is converted to its year.
    if key.kind == TypeKind::Year && value.is_constant() {
        return false;
    }
    match key.kind {
        _ if value.ty.kind == TypeKind::Null || key.is_temporal() => false,
        TypeKind::Year | TypeKind::Bit | TypeKind::Enum | TypeKind::Set => dated,
        _ if key.is_string() => {
            !value.ty.is_string() && !matches!(value.ty.kind, TypeKind::Enum | TypeKind::Set)
        }
        _ => dated,
    }
}

fn type_name(ty: &SqlType) -> String {
    let sign = if ty.unsigned && ty.is_integer() { " unsigned" } else { "" };
    format!("{}{sign}", ty.name())
}

/// A comparison and its mirrored form. Compat: `<>` counts as two comparisons, and the note shows
/// the first.
fn signs(op: ast::BinaryOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        ast::BinaryOp::Eq => ("=", "="),
        ast::BinaryOp::NullSafeEq => ("<=>", "<=>"),
        ast::BinaryOp::Lt => ("<", ">"),
        ast::BinaryOp::Le => ("<=", ">="),
        ast::BinaryOp::Gt => (">", "<"),
        ast::BinaryOp::Ge => (">=", "<="),
        ast::BinaryOp::Ne => ("<", "<"),
        _ => return None,
    })
}
