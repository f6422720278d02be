//! GEOMETRY_COLUMNS and SPATIAL_REF_SYS.
//! A column on which the session has no privilege is left out.

use selkie_types::{Privileges, Value};

use super::{InformationRow, InformationSource, text};

/// Columns of spatial types. Compat: the name stands in the second of two columns for it, and the
/// first is empty.
pub(super) fn geometry_columns(source: &InformationSource<'_>) -> Vec<InformationRow> {
    let mut rows = Vec::new();
    for table in source.tables() {
        for column in table.columns.iter().filter(|column| !column.is_hidden()) {
            let Some(geometry) = column.ty.geometry else { continue };
            if ((source.on_column)(table, &column.name) & Privileges::COLUMN).is_empty() {
                continue;
            }
            let place = || [text("def"), text(table.schema()), text(table.name())];
            let mut row = place().to_vec();
            row.push(text(""));
            row.extend(place());
            row.extend([
                text(&column.name),
                Value::Int(1),
                Value::Int(geometry.kind.number().into()),
                Value::Int(2),
                Value::Int(0),
                Value::Int(geometry.srid.into()),
            ]);
            rows.push(row);
        }
    }
    rows
}

/// The two reference systems, both of which are plain surfaces.
pub(super) fn reference_systems() -> Vec<InformationRow> {
    let plain = |name: &str, end: &str| {
        format!(
            "LOCAL_CS[\"{name}\",LOCAL_DATUM[\"Unknown\",0],UNIT[\"m\",1.0],AXIS[\"x\",EAST],\
             AXIS[\"y\",NORTH]{end}]"
        )
    };
    let unknown = plain("Spatial reference wasn't specified", "");
    let any =
        plain("Wildcard 2D cartesian plane in metric unit", ",AUTHORITY[\"EPSG\",\"404000\"]");
    vec![
        vec![Value::Int(-1), text("Not defined"), Value::Int(-1), text(unknown)],
        vec![Value::Int(0), text("EPSG"), Value::Int(404_000), text(any)],
    ]
}
