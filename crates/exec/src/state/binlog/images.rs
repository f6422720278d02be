//! A table as the binary log describes it: the TABLE_MAP event and the images of its rows.
//!
//! Must not know statements: assigned columns are given by callers.

use selkie_catalog::TableInfo;
use selkie_engine::ColumnDef;
use selkie_replication::codec::{OptionalFields, TableMap};
use selkie_replication::images::{Column, ColumnFacts, RowImage, StoredRows, kind_of};
use selkie_types::TypeKind;

/// The description of a table at one version of its definition.
pub(crate) struct TableImages {
    /// Number of the definition in events.
    pub(super) id: u64,
    schema: Box<str>,
    name: Box<str>,
    types: Vec<u8>,
    metadata: Vec<u8>,
    nullable: Vec<u8>,
    /// Images of all columns.
    pub(super) full: Shape,
    facts: Vec<ColumnFacts>,
}

/// Columns of an image.
pub(super) struct Shape {
    /// Bits of the columns, from the lowest on.
    pub(super) present: Vec<u8>,
    pub(super) rows: StoredRows,
}

/// Bit lengths in the metadata are exact.
const BIT_LENGTHS_EXACT: u16 = 1;

impl TableImages {
    /// Describes a table.
    pub(crate) fn of(info: &TableInfo) -> Self {
        let column = |c: &ColumnDef| Column { kind: kind_of(&c.ty), is_nullable: c.nullable };
        let columns: Vec<Column> = info.def.columns.iter().map(column).collect();
        let (mut types, mut metadata) = (Vec::new(), Vec::new());
        columns.iter().for_each(|column| column.kind.encode(&mut types, &mut metadata));
        let nullable = bits(columns.iter().map(|column| column.is_nullable));
        let facts: Vec<ColumnFacts> = facts(info);
        let full = Shape::new(info, RowImage::Full.after(&facts));
        let (schema, name) = (info.schema().into(), info.name().into());
        Self { id: info.version, schema, name, types, metadata, nullable, full, facts }
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> u64 {
        self.types.len() as u64
    }

    pub(super) fn map(&self) -> TableMap<'_> {
        TableMap {
            table_id: self.id,
            flags: BIT_LENGTHS_EXACT,
            database: self.schema.as_bytes(),
            table: self.name.as_bytes(),
            types: &self.types,
            metadata: &self.metadata,
            nullable: &self.nullable,
            optional: OptionalFields(&[]),
        }
    }

    /// Shapes of the before image and the after image for a setting and the columns that a
    /// statement assigns.
    pub(super) fn shapes(
        &self,
        info: &TableInfo,
        image: RowImage,
        assigned: impl Fn(usize) -> bool,
    ) -> (Shape, Shape) {
        let with = |(at, facts): (usize, &ColumnFacts)| ColumnFacts {
            is_assigned: facts.is_assigned || assigned(at),
            ..*facts
        };
        let facts: Vec<ColumnFacts> = self.facts.iter().enumerate().map(with).collect();
        (Shape::new(info, image.before(&facts)), Shape::new(info, image.after(&facts)))
    }
}

impl Shape {
    fn new(info: &TableInfo, present: Vec<u8>) -> Self {
        let rows = StoredRows::new(&info.def.layout, &present);
        Self { present, rows }
    }
}

/// Bits from the lowest on, a byte for every eight.
fn bits(set: impl Iterator<Item = bool>) -> Vec<u8> {
    let all: Vec<bool> = set.collect();
    let bit = |byte, (at, set): (usize, &bool)| byte | u8::from(*set) << at;
    all.chunks(8).map(|part| part.iter().enumerate().fold(0, bit)).collect()
}

fn facts(info: &TableInfo) -> Vec<ColumnFacts> {
    let key = info.shown_primary();
    let of = |(at, column): (usize, &selkie_catalog::ColumnInfo)| {
        let generated = column.generated.as_ref();
        ColumnFacts {
            in_key: key.is_some_and(|key| key.parts.iter().any(|part| part.column == at)),
            is_blob: column.ty.geometry.is_none()
                && matches!(
                    column.ty.kind,
                    TypeKind::TinyText | TypeKind::Text | TypeKind::MediumText | TypeKind::LongText
                ),
            is_virtual: generated.is_some_and(|g| !g.stored),
            is_assigned: generated.is_some_and(|g| g.stored),
        }
    };
    info.columns.iter().enumerate().map(of).collect()
}
