//! Names and metadata of result columns, as clients are told. Compat: MariaDB announces columns of
//! a temporary table like those of a table.

use selkie_types::TypeKind;

use super::given::Given;
use crate::logical::{ColumnId, Columns};
use crate::physical::{ColumnType, OutputColumn, PartOf};
use selkie_catalog::DefaultValue;
use selkie_engine::IndexKind;

/// A column of a query with its name and the table it is shown to come from.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    /// The column.
    pub id: ColumnId,
    /// Its name.
    pub name: String,
    /// Schema of the table; empty for expressions.
    pub schema: Box<str>,
    /// Alias of the table.
    pub table: Box<str>,
    /// Its name in that table, or in the temporary table it is kept in.
    pub column: Box<str>,
    /// The way in which its block gives its rows.
    pub given: Given,
}

/// Knowledge of the rows when columns are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing.
    Nothing,
    /// The only table has one row, which was read: there is no need of a temporary table.
    OneRow,
    /// There are none: nothing is read.
    None,
}

impl Named {
    /// A column of no table.
    pub(crate) fn plain(id: ColumnId, name: String) -> Self {
        Self {
            id,
            name,
            schema: "".into(),
            table: "".into(),
            column: "".into(),
            given: Given::default(),
        }
    }

    /// Metadata for clients.
    pub(crate) fn output(&self, columns: &Columns, ty: &ColumnType, known: Known) -> OutputColumn {
        let name = self.given.kept.as_deref().filter(|_| known == Known::Nothing);
        let in_order = match known {
            Known::Nothing => self.given.in_order,
            Known::OneRow => self.given.grouped,
            Known::None => false,
        };
        let info = columns.get(self.id);
        let mut output = OutputColumn {
            nullable: ty.nullable,
            kept: info.kept || name.is_some(),
            text: info.text,
            part: match name.is_some() && self.given.is_key && ty.nullable {
                true => PartOf::Groups,
                false => PartOf::Nothing,
            },
            ..OutputColumn::computed(&self.name, ty.ty.clone())
        };
        let found = columns.announced(self.id).filter(|_| !self.table.is_empty());
        let Some((relation, at)) = found else {
            self.tell_computed(&mut output, (name, in_order), info.kept);
            return output;
        };
        output.table = (*self.table).into();
        let Some(column) = relation.table.columns.get(at) else {
            output.schema = (*self.schema).into();
            output.org_name = (*self.column).into();
            return output;
        };
        let is_own = *relation.alias == *self.table && !info.kept;
        if !info.kept {
            output.schema = relation.table.schema().into();
        }
        output.org_table = match is_own || output.kept || in_order {
            true => relation.table.name().into(),
            false => output.table.clone(),
        };
        output.org_name = match (is_own || in_order, name) {
            (true, _) => (*column.name).into(),
            (false, Some(_)) => self.name.as_str().into(),
            (false, None) if self.column.is_empty() => (*column.name).into(),
            (false, None) => (*self.column).into(),
        };
        describe(&mut output, relation, at);
        output
    }

    /// Tells of a value that is no column of a table. Compat: one that a view or derived table
    /// computes is announced as its column, unless its rows were grouped in their order.
    fn tell_computed(
        &self,
        output: &mut OutputColumn,
        (name, in_order): (Option<&str>, bool),
        is_stored: bool,
    ) {
        let of_view = !self.table.is_empty() && (is_stored || !in_order);
        if of_view {
            output.table = (*self.table).into();
            if !output.kept {
                output.org_table = output.table.clone();
            }
        }
        output.org_name = match name {
            Some(name) => name.into(),
            None if of_view || is_stored => (*self.column).into(),
            None => return,
        };
    }
}

/// Tells of a table's column.
fn describe(output: &mut OutputColumn, relation: &crate::logical::RelationInfo, at: usize) {
    let table = &relation.table;
    let column = &table.columns[at];
    let timestamp = column.ty.kind == TypeKind::Timestamp;
    let lacks_default = !column.nullable
        && matches!(column.default, DefaultValue::Implicit)
        && !column.auto_increment
        && !timestamp;
    // Compat: no column of `information_schema` has a default, and its texts are announced shorter
    // than they are defined.
    let is_information = table.schema() == "information_schema";
    output.no_default = lacks_default || is_information;
    if is_information && column.ty.kind == TypeKind::LongText {
        output.ty.length = 3 * 65_535;
    }
    // A column of a temporary table has no keys.
    if std::mem::replace(&mut output.kept, true) {
        return;
    }
    output.auto_increment = column.auto_increment;
    output.on_update_now = column.on_update_now;
    output.sets_itself = timestamp
        && (column.on_update_now || matches!(column.default, DefaultValue::CurrentTimestamp));
    for (number, (index, _)) in table.all_indexes().enumerate() {
        let Some(part) = index.parts.iter().position(|p| p.column == at) else { continue };
        match index.kind {
            _ if number == 0 && table.shown_primary().is_some() => output.primary_key = true,
            IndexKind::Unique if index.parts.len() == 1 => output.unique_key = true,
            _ if part == 0 => output.multiple_key = true,
            _ => {}
        }
        output.part = PartOf::Index;
    }
}
