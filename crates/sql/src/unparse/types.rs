//! Types as they stand in columns of JSON_TABLE.
//! Casts have names of their own (`cast.rs`).

use selkie_types::stack;

use super::Writer;
use crate::ast::{CharsetName, DataType, JsonColumn, JsonFallback, JsonTable, TypeName};

impl Writer<'_> {
    pub(super) fn json_table(&mut self, table: &JsonTable) {
        self.str("JSON_TABLE(");
        self.expr(&table.document);
        self.str(", ");
        self.string(&table.path);
        self.json_columns(&table.columns);
        self.str(") ");
        self.ident(&table.alias);
    }

    fn json_columns(&mut self, columns: &[JsonColumn]) {
        stack::ensure();
        self.str(" COLUMNS (");
        for (i, column) in columns.iter().enumerate() {
            self.str(if i > 0 { ", " } else { "" });
            self.json_column(column);
        }
        self.str(")");
    }

    fn json_column(&mut self, column: &JsonColumn) {
        match column {
            JsonColumn::Ordinality(name) => {
                self.ident(name);
                self.str(" FOR ORDINALITY");
            }
            JsonColumn::Nested { path, columns } => {
                self.str("NESTED PATH ");
                self.string(path);
                self.json_columns(columns);
            }
            JsonColumn::Path { name, data_type, exists, path, on_empty, on_error } => {
                self.ident(name);
                self.str(" ");
                self.data_type(data_type);
                self.str(if *exists { " EXISTS PATH " } else { " PATH " });
                self.string(path);
                self.fallback(on_empty, " ON EMPTY");
                self.fallback(on_error, " ON ERROR");
            }
        }
    }

    fn fallback(&mut self, fallback: &JsonFallback, when: &str) {
        match fallback {
            JsonFallback::Null => return,
            JsonFallback::Error => self.str(" ERROR"),
            JsonFallback::Default(literal) => {
                self.str(" DEFAULT ");
                self.literal(literal);
            }
        }
        self.str(when);
    }

    fn data_type(&mut self, t: &DataType) {
        self.str(word(t.name));
        if !t.members.is_empty() {
            self.str("(");
            self.list(&t.members, Self::string);
            self.str(")");
        }
        match (t.length, t.decimals) {
            (Some(length), Some(decimals)) => self.display(format_args!("({length},{decimals})")),
            (Some(length), None) => self.display(format_args!("({length})")),
            _ => {}
        }
        self.str(if t.unsigned { " unsigned" } else { "" });
        self.str(if t.zerofill { " zerofill" } else { "" });
        if let Some(CharsetName::Named(charset)) = &t.charset {
            self.display(format_args!(" charset {charset}"));
        }
        self.str(if t.binary { " binary" } else { "" });
        for collation in &t.collations {
            self.display(format_args!(" collate {collation}"));
        }
    }
}

impl TypeName {
    /// The SQL word of the type.
    pub fn word(self) -> &'static str {
        word(self)
    }
}

/// The SQL word of a type.
pub(super) fn word(name: TypeName) -> &'static str {
    use TypeName as N;
    match name {
        N::TinyInt => "tinyint",
        N::SmallInt => "smallint",
        N::MediumInt => "mediumint",
        N::Int => "int",
        N::BigInt => "bigint",
        N::Serial => "serial",
        N::Bool => "tinyint(1)",
        N::Bit => "bit",
        N::Float => "float",
        N::Double => "double",
        N::Real => "real",
        N::Decimal => "decimal",
        N::Year => "year",
        N::Date => "date",
        N::Time => "time",
        N::DateTime => "datetime",
        N::Timestamp => "timestamp",
        N::Char => "char",
        N::NChar => "nchar",
        N::VarChar => "varchar",
        N::NVarChar => "nvarchar",
        N::Binary => "binary",
        N::VarBinary => "varbinary",
        N::TinyBlob => "tinyblob",
        N::Blob => "blob",
        N::MediumBlob => "mediumblob",
        N::LongBlob => "longblob",
        N::TinyText => "tinytext",
        N::Text => "text",
        N::MediumText => "mediumtext",
        N::LongText => "longtext",
        N::Enum => "enum",
        N::Set => "set",
        N::Json => "json",
        N::Uuid => "uuid",
        N::Inet4 => "inet4",
        N::Inet6 => "inet6",
        N::Geometry => "geometry",
        N::Point => "point",
        N::LineString => "linestring",
        N::Polygon => "polygon",
        N::MultiPoint => "multipoint",
        N::MultiLineString => "multilinestring",
        N::MultiPolygon => "multipolygon",
        N::GeometryCollection => "geometrycollection",
    }
}
