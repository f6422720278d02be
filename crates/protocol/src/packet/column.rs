//! The head of a result set: column count and column definitions.
//!
//! Must not derive types or lengths; the caller brings them.

use crate::capabilities::Capabilities;
use crate::field_type::FieldType;
use crate::writer::{put_lenenc, put_lenenc_bytes, put_u16, put_u32};
use selkie_types::Charset;

/// A column definition of the 4.1 protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef<'a> {
    /// Database.
    pub schema: &'a str,
    /// Table alias.
    pub table: &'a str,
    /// Table.
    pub org_table: &'a str,
    /// Column alias.
    pub name: &'a str,
    /// Column.
    pub org_name: &'a str,
    /// Collation id; 63 for numbers, temporal and binary values.
    pub collation: u16,
    /// Display length in bytes.
    pub length: u32,
    /// Type.
    pub field_type: FieldType,
    /// See [`crate::field_type::flags`].
    pub flags: u16,
    /// Digits after the point; 31 for floating point without a fixed scale.
    pub decimals: u8,
    /// MariaDB's extended type name (`uuid`, `inet6`, `point`), or empty.
    pub type_name: &'a str,
    /// MariaDB's extended format name (`json`), or empty.
    pub format_name: &'a str,
    /// Character set in which the names are sent; `None` is UTF-8, the set they are stored in.
    pub names: Option<Charset>,
}

impl ColumnDef<'_> {
    /// Appends the definition.
    pub fn encode(&self, out: &mut Vec<u8>, caps: Capabilities) {
        put_lenenc_bytes(out, b"def");
        for name in [self.schema, self.table, self.org_table, self.name, self.org_name] {
            match self.names {
                Some(to) => {
                    let (name, _) = Charset::Utf8mb4.convert(name.as_bytes(), to);
                    put_lenenc_bytes(out, &name);
                }
                None => put_lenenc_bytes(out, name.as_bytes()),
            }
        }
        if caps.has(Capabilities::EXTENDED_METADATA) {
            self.encode_extended(out);
        }
        out.push(0x0c);
        put_u16(out, self.collation);
        put_u32(out, self.length);
        out.push(self.field_type as u8);
        put_u16(out, self.flags);
        out.push(self.decimals);
        put_u16(out, 0);
    }

    fn encode_extended(&self, out: &mut Vec<u8>) {
        let parts = [(0u8, self.type_name), (1, self.format_name)];
        let present = parts.iter().filter(|(_, name)| !name.is_empty());
        put_lenenc(out, present.clone().map(|(_, name)| name.len() as u64 + 2).sum());
        for (kind, name) in present {
            out.push(*kind);
            // Names are short, so the length is always one byte.
            put_lenenc_bytes(out, name.as_bytes());
        }
    }
}

/// Appends the column count. For a client that caches metadata, also whether definitions follow.
pub fn put_column_count(out: &mut Vec<u8>, count: usize, caps: Capabilities, follows: bool) {
    put_lenenc(out, count as u64);
    if caps.has(Capabilities::CACHE_METADATA) {
        out.push(u8::from(follows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMN: ColumnDef<'_> = ColumnDef {
        schema: "srv",
        table: "t",
        org_table: "t",
        name: "a",
        org_name: "a",
        collation: 63,
        length: 11,
        field_type: FieldType::Long,
        flags: 0x4203,
        decimals: 0,
        type_name: "",
        format_name: "json",
        names: None,
    };

    #[test]
    fn layout() {
        let mut out = Vec::new();
        COLUMN.encode(&mut out, Capabilities::NONE);
        let expected =
            b"\x03def\x03srv\x01t\x01t\x01a\x01a\x0c\x3f\x00\x0b\0\0\0\x03\x03\x42\0\0\0";
        assert_eq!(out, expected);
    }

    #[test]
    fn extended() {
        let mut out = Vec::new();
        COLUMN.encode(&mut out, Capabilities::EXTENDED_METADATA);
        assert_eq!(out[16..23], *b"\x06\x01\x04json");
    }
}
