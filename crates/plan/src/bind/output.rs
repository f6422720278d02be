//! What clients are told about result columns.

use selkie_types::TypeKind;
use std::sync::Arc;

use crate::logical::{ColumnId, Columns};
use crate::physical::{ColumnType, OutputColumn};
use selkie_catalog::DefaultValue;

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
}

impl Named {
    /// A column of no table.
    pub(crate) fn plain(id: ColumnId, name: String) -> Self {
        Self { id, name, schema: "".into(), table: "".into() }
    }

    /// What clients are told of it.
    pub(crate) fn output(&self, columns: &Columns, ty: &ColumnType) -> OutputColumn {
        let mut output = OutputColumn {
            name: self.name.as_str().into(),
            ty: ty.ty.clone(),
            nullable: ty.nullable,
            schema: (*self.schema).into(),
            table: (*self.table).into(),
            org_table: Arc::default(),
            org_name: Arc::default(),
            primary_key: false,
            unique_key: false,
            multiple_key: false,
            auto_increment: false,
            no_default: false,
            on_update_now: false,
        };
        if self.table.is_empty() {
            return output;
        }
        if let Some((relation, at)) = columns.table_column(self.id)
            && at < relation.table.columns.len()
        {
            describe(&mut output, relation, at);
        }
        output
    }
}

fn describe(output: &mut OutputColumn, relation: &crate::logical::RelationInfo, at: usize) {
    let table = &relation.table;
    let column = &table.columns[at];
    output.org_table = table.name().into();
    output.org_name = (*column.name).into();
    output.auto_increment = column.auto_increment;
    output.on_update_now = column.on_update_now;
    let timestamp = column.ty.kind == TypeKind::Timestamp;
    output.no_default = !column.nullable
        && matches!(column.default, DefaultValue::Implicit)
        && !column.auto_increment
        && !timestamp;
    for index in &table.def.indexes {
        let Some(part) = index.parts.iter().position(|p| p.column == at) else { continue };
        match index.kind {
            kind if kind.is_primary() => output.primary_key = true,
            selkie_engine::IndexKind::Unique if index.parts.len() == 1 => output.unique_key = true,
            _ if part == 0 => output.multiple_key = true,
            _ => {}
        }
    }
}
