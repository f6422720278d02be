//! The keys that rows events touch, for the order in which a replica may apply groups.
//!
//! Two rows that cannot be changed in any order have a hash in common: too many hashes are no
//! error, too few are. Must not read or change tables.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashMap;
use selkie_catalog::{ForeignKey, Snapshot, TableInfo};
use selkie_replication::codec::{Change, Rows, TableMap};
use selkie_replication::images::{Images, Shape, Value};
use selkie_replication::replica::Touch;
use selkie_replication::{DecodeError, DecodeResult};
use selkie_types::{CollationId, TypeKind};

use super::MOST_IMAGES;
use super::table::MappedTable;
use crate::Instance;

/// Knowledge of a group from its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The keys that it touches.
    Keys(Vec<Touch>),
    /// It may touch any key.
    Opaque,
    /// It changes tables of an engine that cannot roll back.
    Alone,
}

/// Reads the keys that groups touch.
#[derive(Default)]
pub struct Toucher {
    /// Tables of the running statement.
    tables: Vec<MappedTable>,
    spaces: HashMap<Name, (u64, Arc<Spaces>)>,
    touches: Vec<Touch>,
    is_opaque: bool,
    is_alone: bool,
}

/// The keys of a table that count.
struct Spaces {
    /// Whether the table's engine can roll back.
    can_roll_back: bool,
    all: Vec<Space>,
}

/// Columns whose values are a key.
struct Space {
    id: u64,
    parts: Vec<Part>,
    /// Whether a NULL is a value like others.
    has_nulls: bool,
}

/// A column of a key.
#[derive(Clone, Copy)]
struct Part {
    column: usize,
    text: Option<CollationId>,
    /// Only the value's begin is a part of the key.
    is_cut: bool,
}

/// Schema and name of a table.
type Name = (Box<str>, Box<str>);

/// Values of a row's image by column.
type Row<'a> = Vec<Option<Value<'a>>>;

/// A key of a row.
enum Key {
    Hash(u64),
    /// It has a NULL.
    None,
    /// A value is not there.
    Unknown,
}

impl Toucher {
    /// A statement, or something else that is not rows: nobody knows what it touches.
    pub fn statement(&mut self) {
        self.is_opaque = true;
    }

    /// A TABLE_MAP event; `target` is as for [`super::Applier::table_map`].
    pub fn table_map(&mut self, map: &TableMap<'_>, target: Option<(&str, &str)>) {
        self.tables.retain(|table| table.id != map.table_id);
        match MappedTable::new(map, target) {
            Ok(table) => self.tables.push(table),
            Err(_) => self.is_opaque = true,
        }
    }

    /// A rows event.
    pub fn rows(&mut self, instance: &Instance, rows: &Rows<'_>) {
        if !self.is_opaque && self.add(instance, rows).is_err() {
            // Whoever applies it reports the error.
            self.is_opaque = true;
        }
    }

    /// Ends a group, or breaks it off.
    pub fn end(&mut self) -> Sight {
        self.tables.clear();
        let touches = std::mem::take(&mut self.touches);
        let (is_opaque, is_alone) = (self.is_opaque, self.is_alone);
        (self.is_opaque, self.is_alone) = (false, false);
        match (is_alone, is_opaque) {
            (true, _) => Sight::Alone,
            (false, true) => Sight::Opaque,
            (false, false) => Sight::Keys(touches),
        }
    }

    fn add(&mut self, instance: &Instance, rows: &Rows<'_>) -> DecodeResult<()> {
        let at = self.tables.iter().position(|table| table.id == rows.table_id);
        let Some(target) = at.and_then(|at| self.tables[at].target.clone()) else { return Ok(()) };
        let Some(spaces) = self.spaces_of(instance, target) else {
            self.is_opaque = true;
            return Ok(());
        };
        if !spaces.can_roll_back {
            self.is_alone = true;
            return Ok(());
        }
        let Some(mapped) = at.map(|at| &self.tables[at]) else { return Ok(()) };
        let images = rows.plain_images(MOST_IMAGES)?;
        let first = Shape::new(&mapped.columns, rows.present)?;
        let second = match rows.change {
            Change::Update => Some(Shape::new(&mapped.columns, rows.present_after)?),
            Change::Write | Change::Delete => None,
        };
        let (mut images, mut values) = (Images::new(&images), Vec::new());
        let count = mapped.columns.len();
        while !images.is_empty() {
            let row = read(&mut images, &first, count, &mut values)?;
            let after = match &second {
                Some(shape) => Some(read(&mut images, shape, count, &mut values)?),
                None => None,
            };
            for space in &spaces.all {
                space.touch(&row, after.as_ref(), &mut self.touches);
            }
        }
        Ok(())
    }

    fn spaces_of(&mut self, instance: &Instance, name: Name) -> Option<Arc<Spaces>> {
        let version = instance.catalog.version();
        if let Some((of, spaces)) = self.spaces.get(&name)
            && *of == version
        {
            return Some(Arc::clone(spaces));
        }
        let snapshot = instance.catalog.snapshot();
        let info = snapshot.table(&name.0, &name.1).filter(|info| info.has_storage())?;
        let spaces = Arc::new(Spaces::of(info, &snapshot));
        self.spaces.insert(name, (version, Arc::clone(&spaces)));
        Some(spaces)
    }
}

/// The next image as values by column.
fn read<'a>(
    images: &mut Images<'a>,
    shape: &Shape,
    columns: usize,
    values: &mut Vec<Value<'a>>,
) -> DecodeResult<Row<'a>> {
    images.next(shape, values)?;
    let mut row = vec![None; columns];
    for ((at, _), value) in shape.columns().iter().zip(values.iter()) {
        *row.get_mut(*at).ok_or(DecodeError::Invalid("column of an image"))? = Some(*value);
    }
    Ok(row)
}

impl Spaces {
    fn of(info: &TableInfo, snapshot: &Snapshot) -> Self {
        let name = |column: usize| info.columns.get(column).map_or("", |column| &*column.name);
        let own = (info.schema(), info.name());
        let mut all = Vec::new();
        let mut is_told_apart = false;
        for index in info.def.indexes.iter().filter(|index| index.is_unique()) {
            let is_null = |column: usize| info.columns.get(column).is_none_or(|c| c.nullable);
            is_told_apart |= !index.parts.iter().any(|part| is_null(part.column));
            let id = space(own, index.parts.iter().map(|part| name(part.column)));
            let parts = index.parts.iter();
            let parts =
                parts.map(|part| Part { is_cut: part.prefix.is_some(), ..of(info, part.column) });
            all.push(Space { id, parts: parts.collect(), has_nulls: false });
        }
        if !is_told_apart {
            let parts = (0..info.columns.len()).filter(|at| !info.is_computed(*at));
            let parts = parts.map(|at| of(info, at)).collect();
            all.push(Space { id: space(own, ["*"].into_iter()), parts, has_nulls: true });
        }
        let mut refer = |foreign: &ForeignKey, columns: &[String]| {
            let at = |name: &String| {
                info.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
            };
            let to = (&*foreign.referenced_schema, &*foreign.referenced_table);
            let id = space(to, foreign.referenced_columns.iter().map(String::as_str));
            // A column that is not there has no value: all keys of the space count.
            let parts = columns.iter().map(|name| of(info, at(name).unwrap_or(usize::MAX)));
            let parts = parts.collect();
            all.push(Space { id, parts, has_nulls: false });
        };
        info.foreign_keys.iter().for_each(|key| refer(key, &key.columns));
        for child in snapshot.children(own.0, own.1) {
            let keys = child.foreign_keys.iter().filter(|key| key.refers_to(own.0, own.1));
            keys.for_each(|key| refer(key, &key.referenced_columns));
        }
        Self { can_roll_back: info.engine.transactional, all }
    }
}

/// Number of the space of a table's columns.
fn space<'n>((schema, table): (&str, &str), columns: impl Iterator<Item = &'n str>) -> u64 {
    let mut hasher = hasher();
    (schema, table).hash(&mut hasher);
    columns.for_each(|name| name.to_lowercase().hash(&mut hasher));
    hasher.finish()
}

fn hasher() -> impl Hasher {
    foldhash::fast::FixedState::with_seed(18).build_hasher()
}

fn of(info: &TableInfo, column: usize) -> Part {
    let ty = info.columns.get(column).map(|column| &column.ty);
    let is_text = |kind| matches!(kind, TypeKind::Char | TypeKind::VarChar);
    let text = ty.filter(|ty| is_text(ty.kind) || ty.is_text_or_blob()).map(|ty| ty.collation);
    Part { column, text, is_cut: false }
}

fn value<'a>(row: &Row<'a>, column: usize) -> Option<Value<'a>> {
    row.get(column).copied().flatten()
}

impl Space {
    /// Adds the keys that a change of a row touches. `row` is its only image, or the one before.
    fn touch(&self, row: &Row<'_>, after: Option<&Row<'_>>, out: &mut Vec<Touch>) {
        let has = |row: &Row<'_>, column: usize| value(row, column).is_some();
        let changes = after.is_none_or(|after| self.parts.iter().any(|p| has(after, p.column)));
        let before = self.key(|column| value(row, column));
        match before {
            // The row keeps its key, and nobody else may have it.
            Key::Unknown if !changes => return,
            key => self.push(key, out),
        }
        let Some(after) = after.filter(|_| changes) else { return };
        self.push(self.key(|column| value(after, column).or_else(|| value(row, column))), out);
    }

    fn push(&self, key: Key, out: &mut Vec<Touch>) {
        match key {
            Key::Hash(key) => out.push(Touch::Key { space: self.id, key }),
            Key::Unknown => out.push(Touch::Space(self.id)),
            Key::None => {}
        }
    }

    fn key<'v>(&self, value: impl Fn(usize) -> Option<Value<'v>>) -> Key {
        let mut hasher = hasher();
        for part in &self.parts {
            match value(part.column) {
                None => return Key::Unknown,
                Some(Value::Null) if !self.has_nulls => return Key::None,
                Some(_) if part.is_cut => {}
                Some(value) => put(value, part.text, &mut hasher),
            }
        }
        Key::Hash(hasher.finish())
    }
}

/// Adds a value to a hash. Values that are equal in their column are so here.
fn put(value: Value<'_>, text: Option<CollationId>, out: &mut impl Hasher) {
    match value {
        Value::Null => out.write_u8(0),
        Value::Int(number) => out.write_i64(number),
        Value::Year(year) => out.write_u16(year),
        // Zero has two forms.
        Value::Float(number) => out.write_u64(f64::to_bits(f64::from(number) + 0.0)),
        Value::Double(number) => out.write_u64((number + 0.0).to_bits()),
        Value::Decimal(number) => number.hash(out),
        Value::Bits(bits) => bits.hash(out),
        Value::Date(date) => date.hash(out),
        Value::Time(time) => time.hash(out),
        Value::DateTime(datetime) => datetime.hash(out),
        Value::Timestamp(timestamp) => timestamp.hash(out),
        Value::Bytes(bytes) => match text {
            Some(collation) if !collation.is_binary() => out.write_u64(collation.hash(bytes, 0)),
            // The zeros at the end of a value of a fixed length may be left out.
            _ => {
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                bytes.get(..end).hash(out);
            }
        },
        Value::Enum(member) => out.write_u16(member),
        Value::Set(members) => out.write_u64(members),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(column: usize, text: Option<CollationId>) -> Part {
        Part { column, text, is_cut: false }
    }

    fn touches(space: &Space, row: &Row<'_>, after: Option<&Row<'_>>) -> Vec<Touch> {
        let mut out = Vec::new();
        space.touch(row, after, &mut out);
        out
    }

    #[test]
    fn keys_are_equal_as_their_columns_compare() {
        let text = CollationId::UTF8MB4_GENERAL_CI;
        let space = Space { id: 1, parts: vec![part(1, Some(text))], has_nulls: false };
        let row = |name: &'static [u8]| vec![Some(Value::Int(1)), Some(Value::Bytes(name))];
        let of = |name| touches(&space, &row(name), None);
        assert_eq!(of(b"Name "), of(b"nAME"));
        assert_ne!(of(b"Name"), of(b"Nam"));
        assert_eq!(touches(&space, &vec![None, Some(Value::Null)], None), []);
        let cut = Space { parts: vec![Part { is_cut: true, ..space.parts[0] }], ..space };
        assert_eq!(touches(&cut, &row(b"a"), None), touches(&cut, &row(b"b"), None));
    }

    #[test]
    fn a_change_touches_both_keys_of_its_row() {
        let parts = vec![part(0, None), part(1, None)];
        let space = Space { id: 7, parts, has_nulls: false };
        let int = |number| Some(Value::Int(number));
        let whole = |one, other| touches(&space, &vec![int(one), int(other), None], None);
        let before = vec![int(1), int(2), None];
        // The image after the change lacks what has not changed.
        let changed = touches(&space, &before, Some(&vec![None, int(3), None]));
        assert_eq!(changed, [whole(1, 2), whole(1, 3)].concat());
        assert_eq!(touches(&space, &before, Some(&vec![None, None, int(9)])), whole(1, 2));
        let partial = vec![int(1), None, None];
        assert_eq!(touches(&space, &partial, Some(&vec![None, None, int(9)])), []);
        assert_eq!(touches(&space, &partial, None), [Touch::Space(7)]);
        let unknown = touches(&space, &partial, Some(&vec![None, int(3), None]));
        assert_eq!(unknown, [vec![Touch::Space(7)], whole(1, 3)].concat());
    }
}
