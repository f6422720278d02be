//! Changes to columns in ALTER TABLE.
//!
//! Compat: actions refer to columns of the old table, whatever earlier actions did. Only FIRST and
//! AFTER refer to the new columns, after all other actions.

use selkie_catalog::{ColumnInfo, DefaultValue};
use selkie_sql::ast::{AlterAction, ColumnDef, ColumnPosition, Ident, OrderItem};
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_BAD_FIELD_ERROR, ER_CANT_DROP_FIELD_OR_KEY, ER_CANT_REMOVE_ALL_FIELDS, ER_DUP_FIELDNAME,
    ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, ER_WRONG_COLUMN_NAME,
};
use selkie_types::{SqlError, SqlResult, TypeKind};

use super::super::indexes::UNNUMBERED;
use super::super::{columns, create, expressions, system_time, types};
use super::foreign::ForeignSpec;
use super::{ColumnSource, Draft, KeySpec};

/// A column whose position is not determined yet.
pub(super) struct Placed<'a> {
    what: Waiting,
    position: Option<&'a ColumnPosition>,
}

enum Waiting {
    New(Box<ColumnInfo>),
    /// An old column; until then it stays at its old position.
    Old(usize),
}

impl Placed<'_> {
    /// The column, if it is new.
    fn new_column(&mut self) -> Option<&mut ColumnInfo> {
        match &mut self.what {
            Waiting::New(column) => Some(column),
            Waiting::Old(_) => None,
        }
    }
}

impl<'a> Draft<'a> {
    /// Position in the draft of the old column `name`; `None` if it is dropped or an action has
    /// changed it.
    fn find(&self, name: &str) -> Option<usize> {
        let at = self.old.column_position(name).filter(|at| !self.is_changed(*at))?;
        self.columns.iter().position(|(_, source)| *source == ColumnSource::Old(at))
    }

    /// Position of the column. If it is missing: error 1054, or `None` with a note if allowed.
    fn column_or(&self, name: &Ident, if_exists: bool) -> SqlResult<Option<usize>> {
        match self.find(&name.value) {
            Some(at) => Ok(Some(at)),
            None if if_exists => {
                self.context.eval.note(&ER_BAD_FIELD_ERROR, &[&name, &self.old.name()]);
                Ok(None)
            }
            None => Err(SqlError::unknown_column(name, self.old.name())),
        }
    }

    /// Compat: a statement may have one action on a column, except that its default may be set
    /// after MODIFY.
    fn is_changed(&self, old: usize) -> bool {
        self.redefined.contains(&old) || self.defaulted.contains(&old)
    }

    fn old_position(&self, at: usize) -> usize {
        match self.columns[at].1 {
            ColumnSource::Old(old) => old,
            ColumnSource::Default => usize::MAX,
        }
    }

    pub(super) fn add_column(
        &mut self,
        def: &'a ColumnDef,
        position: Option<&'a ColumnPosition>,
        if_not_exists: bool,
    ) -> SqlResult<()> {
        let name = &*def.name.value;
        let taken = self.old.column_position(name).is_some() || self.added_at(name).is_some();
        if if_not_exists && taken {
            self.context.eval.note(&ER_DUP_FIELDNAME, &[&name]);
            return Ok(());
        }
        columns::check_qualifier(def, self.old.schema(), self.old.name())?;
        let mut column = columns::column(self.context, def, self.table.collation)?;
        if self.old.columns.iter().all(|c| c.ty.kind != TypeKind::Timestamp) {
            let added = std::slice::from_mut(&mut column);
            columns::promote_first_timestamp(self.context, std::iter::once(def), added);
        }
        self.add_column_keys(def);
        self.placed.push(Placed { what: Waiting::New(column.into()), position });
        Ok(())
    }

    /// Position in `placed` of the new column `name`.
    fn added_at(&mut self, name: &str) -> Option<usize> {
        let mut placed = self.placed.iter_mut();
        placed.position(|p| p.new_column().is_some_and(|c| identifier_eq(&c.name, name)))
    }

    /// Adds the keys that are part of a column's definition.
    fn add_column_keys(&mut self, def: &'a ColumnDef) {
        self.added.extend(KeySpec::of_column(def));
        if let Some(spec) = ForeignSpec::of_column(def) {
            self.added.push(KeySpec::of_foreign(&spec));
            self.added_foreign.push(spec);
        }
    }

    pub(super) fn drop_column(&mut self, name: &Ident, if_exists: bool) -> SqlResult<()> {
        let old = self.old.column_position(&name.value);
        if old.is_some_and(|old| self.is_changed(old)) {
            return Err(SqlError::unknown_column(name, self.old.name()));
        }
        let found = self.find(&name.value).filter(|at| !self.columns[*at].0.is_hidden());
        let Some(at) = found else {
            return self.cannot_drop("COLUMN", &name.value, if_exists);
        };
        let old = self.old_position(at);
        self.columns.remove(at);
        self.dropped.push(name.value.to_string());
        if self.added_names.iter().any(|added| identifier_eq(added, &name.value)) {
            // Compat: its keys now cover the new column with the same name.
            let keys = self.keys.iter_mut().filter(|key| key.columns.contains(&old));
            keys.for_each(|key| key.def.id = UNNUMBERED);
            return Ok(());
        }
        for key in &mut self.keys {
            if let Some(part) = key.columns.iter().position(|c| *c == old) {
                let added = system_time::is_added_part(self.old, &key.def, &key.def.parts[part]);
                key.columns.remove(part);
                key.def.parts.remove(part);
                if added {
                    continue;
                }
                key.lost = Some(self.old.columns[old].name.clone());
                // A changed key is a new key.
                key.def.id = UNNUMBERED;
            }
        }
        Ok(())
    }

    pub(super) fn cannot_drop(&self, kind: &str, name: &str, if_exists: bool) -> SqlResult<()> {
        if if_exists {
            self.context.eval.note(&ER_CANT_DROP_FIELD_OR_KEY, &[&kind, &name]);
            return Ok(());
        }
        Err(SqlError::new(&ER_CANT_DROP_FIELD_OR_KEY, &[&kind, &name]))
    }

    pub(super) fn change(
        &mut self,
        name: &str,
        def: &'a ColumnDef,
        position: Option<&'a ColumnPosition>,
        if_exists: bool,
    ) -> SqlResult<()> {
        if self.old.column_position(name).is_none()
            && let Some(at) = self.added_at(&def.name.value).filter(|_| !if_exists)
        {
            // Compat: a new column may be redefined, and loses its position.
            self.placed.remove(at);
            return self.add_column(def, position, false);
        }
        let Some(at) = self.column_or(&Ident::new(name), if_exists)? else { return Ok(()) };
        let old = self.old_position(at);
        let column = columns::column(self.context, def, self.table.collation)?;
        self.renamed(&self.old.columns[old].name, &column.name);
        self.redefined.push(old);
        self.add_column_keys(def);
        self.columns[at] = (column, ColumnSource::Old(old));
        if position.is_some() {
            self.placed.push(Placed { what: Waiting::Old(old), position });
        }
        Ok(())
    }

    pub(super) fn rename_column(
        &mut self,
        from: &Ident,
        to: &Ident,
        if_exists: bool,
    ) -> SqlResult<()> {
        let Some(at) = self.column_or(from, if_exists)? else { return Ok(()) };
        if columns::check_name(&to.value).is_err() {
            return Err(SqlError::new(&ER_WRONG_COLUMN_NAME, &[to]));
        }
        let old = self.old_position(at);
        self.period.rename(&self.old.columns[old].name, &to.value);
        self.renamed(&self.old.columns[old].name, &to.value);
        self.columns[at].0.rename(&to.value);
        self.redefined.push(old);
        self.only_renamed.push(old);
        Ok(())
    }

    fn renamed(&mut self, from: &str, to: &str) {
        if from != to {
            self.renamed_columns.push((from.to_owned(), to.to_owned()));
        }
    }

    pub(super) fn set_default(&mut self, action: &AlterAction) -> SqlResult<()> {
        let (name, if_exists, default) = match action {
            AlterAction::SetDefault { if_exists, column, default } => {
                (column, *if_exists, Some(default))
            }
            AlterAction::DropDefault { if_exists, column } => (column, *if_exists, None),
            _ => return Ok(()),
        };
        let context = self.context;
        let set = |column: &mut ColumnInfo| {
            // Compat: ON UPDATE goes with a DEFAULT that is the time too.
            column.on_update_now &= column.default != DefaultValue::CurrentTimestamp;
            column.default = match default {
                // Compat: a column of automatic values keeps none.
                Some(_) if column.auto_increment => return Ok(()),
                Some(default) => columns::default_value(context, column, default)?,
                None => DefaultValue::Implicit,
            };
            SqlResult::Ok(())
        };
        if let Some(at) = self.added_at(&name.value)
            && let Some(column) = self.placed[at].new_column()
        {
            return set(column);
        }
        let Some(at) = self.column_or(name, if_exists)? else { return Ok(()) };
        set(&mut self.columns[at].0)?;
        self.defaulted.push(self.old_position(at));
        Ok(())
    }

    /// `ORDER BY`: names refer to old columns.
    pub(super) fn order_by(&mut self, items: &[OrderItem]) -> SqlResult<()> {
        for item in items {
            let selkie_sql::ast::ExprKind::Column(column) = &item.expr.kind else {
                return Err(SqlError::not_supported("ALTER TABLE ... ORDER BY an expression"));
            };
            let at = self.old.column_position(&column.name.value);
            let at = at.ok_or_else(|| SqlError::unknown_column(column, "ORDER BY"))?;
            self.order.push((at, item.descending));
        }
        Ok(())
    }

    /// All columns with their sources, in the final order.
    pub(super) fn placed_columns(&mut self) -> SqlResult<(Vec<ColumnInfo>, Vec<ColumnSource>)> {
        let mut columns = std::mem::take(&mut self.columns);
        for placed in std::mem::take(&mut self.placed) {
            let column = match placed.what {
                Waiting::New(column) => (*column, ColumnSource::Default),
                Waiting::Old(old) => {
                    let at = columns.iter().position(|(_, s)| *s == ColumnSource::Old(old));
                    let missing = || SqlError::internal("a column without its place");
                    columns.remove(at.ok_or_else(missing)?)
                }
            };
            let at = match placed.position {
                // Columns that nothing lists stay the last.
                None => columns.iter().filter(|(c, _)| !c.is_hidden()).count(),
                Some(ColumnPosition::First) => 0,
                Some(ColumnPosition::After(name)) => {
                    let before = columns
                        .iter()
                        .position(|(c, _)| !c.is_hidden() && identifier_eq(&c.name, &name.value));
                    let missing = || SqlError::unknown_column(name, self.old.name());
                    before.ok_or_else(missing)? + 1
                }
            };
            columns.insert(at, column);
        }
        if columns.is_empty() {
            return Err(SqlError::new(&ER_CANT_REMOVE_ALL_FIELDS, &[]));
        }
        let (mut columns, mut sources): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        if let Some(to) = self.collations.of_columns {
            // Compat: columns that the statement defines with another character set are converted
            // too.
            let eval = self.context.eval;
            columns.iter_mut().try_for_each(|c| types::convert_to(eval, c, to, false))?;
        }
        if self.old.system_time().is_none() {
            create::check_columns(&columns)?;
        }
        self.settle_versioning(&mut columns, &mut sources)?;
        self.follow_names(&mut columns, &sources);
        self.compare_computed(&columns, &sources)?;
        Ok((columns, sources))
    }

    /// Whether the definition of an old column is unchanged, except for its name.
    fn is_kept(&self, old: usize) -> bool {
        !self.redefined.contains(&old) || self.only_renamed.contains(&old)
    }

    /// Applies new column names to definitions that stay.
    fn follow_names(&mut self, columns: &mut [ColumnInfo], sources: &[ColumnSource]) {
        self.rename_in_foreign_keys();
        if self.renamed_columns.is_empty() {
            return;
        }
        let follow = |text: &mut String| *text = self.with_new_names(text);
        for (column, source) in columns.iter_mut().zip(sources) {
            let ColumnSource::Old(old) = source else { continue };
            if !self.is_kept(*old) {
                continue;
            }
            if let Some(generated) = column.generated.as_mut().filter(|_| !column.system.is_bound())
            {
                follow(&mut generated.expression);
            }
            column.check.iter_mut().for_each(follow);
            if let DefaultValue::Expression(text) = &mut column.default {
                follow(text);
            }
        }
        let mut checks = std::mem::take(&mut self.table.checks);
        let kept = checks.iter_mut().filter(|c| self.old.checks.iter().any(|old| old == *c));
        kept.for_each(|check| check.expression = self.with_new_names(&check.expression));
        self.table.checks = checks;
    }

    /// An expression with new column names. Names may have been exchanged, so it takes two steps.
    fn with_new_names(&self, text: &str) -> String {
        let context = self.context;
        let between = |at: usize| format!("selkie renamed {at}");
        let mut out = text.to_owned();
        for (at, (from, _)) in self.renamed_columns.iter().enumerate() {
            out = expressions::renamed(context, &out, from, &between(at));
        }
        for (at, (_, to)) in self.renamed_columns.iter().enumerate() {
            out = expressions::renamed(context, &out, &between(at), to);
        }
        out
    }

    /// Rows are rewritten if a redefined column is computed in another way.
    fn compare_computed(
        &mut self,
        columns: &[ColumnInfo],
        sources: &[ColumnSource],
    ) -> SqlResult<()> {
        let is_virtual = |c: &ColumnInfo| c.generated.as_ref().is_some_and(|g| !g.stored);
        for (new, source) in columns.iter().zip(sources) {
            let ColumnSource::Old(at) = source else { continue };
            let old = &self.old.columns[*at];
            if self.is_kept(*at) || old.system.is_bound() {
                continue;
            }
            if is_virtual(old) != is_virtual(new) {
                return Err(SqlError::new(&ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, &[]));
            }
            let followed = |text: &String| self.with_new_names(text);
            let before = old.generated.as_ref().map(|g| (followed(&g.expression), g.stored));
            let after = new.generated.as_ref().map(|g| (g.expression.clone(), g.stored));
            self.force |= before != after;
        }
        Ok(())
    }
}
