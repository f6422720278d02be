//! Names and metadata of result columns, as clients are told. Compat: MariaDB announces columns of
//! a temporary table like those of a table.

use selkie_types::TypeKind;

use crate::logical::{ColumnId, Columns};
use crate::physical::{ColumnType, OutputColumn};
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
}

impl Named {
    /// A column of no table.
    pub(crate) fn plain(id: ColumnId, name: String) -> Self {
        Self { id, name, schema: "".into(), table: "".into(), column: "".into() }
    }

    /// Metadata for clients.
    pub(crate) fn output(&self, columns: &Columns, ty: &ColumnType) -> OutputColumn {
        let mut output = OutputColumn {
            nullable: ty.nullable,
            schema: (*self.schema).into(),
            table: (*self.table).into(),
            org_name: (*self.column).into(),
            kept: columns.get(self.id).kept,
            whole: columns.get(self.id).whole,
            ..OutputColumn::computed(&self.name, ty.ty.clone())
        };
        if self.table.is_empty() {
            return output;
        }
        let Some((relation, at)) = columns.table_column(self.id) else {
            if !output.kept {
                output.org_table = output.table.clone();
            }
            return output;
        };
        if at < relation.table.columns.len() {
            let is_own = *relation.alias == *self.table;
            describe(&mut output, relation, at, is_own);
        }
        output
    }
}

/// Tells of a table's column; that of a view or a derived table has the name it has there.
fn describe(
    output: &mut OutputColumn,
    relation: &crate::logical::RelationInfo,
    at: usize,
    is_own: bool,
) {
    let table = &relation.table;
    let column = &table.columns[at];
    if is_own || output.kept {
        output.org_table = table.name().into();
    } else {
        output.org_table = output.table.clone();
    }
    if is_own || output.org_name.is_empty() {
        output.org_name = (*column.name).into();
    }
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
        output.part_of_key = true;
    }
}
