//! Keys: their parts, names, order and limits. Ids are given last, by [`number`], and are never
//! given twice in a table (CAT-4).

use std::cmp::Reverse;

use selkie_catalog::{ColumnInfo, DefaultValue, IndexInfo, Period};
use selkie_engine::{IndexDef, IndexId, IndexKind, IndexPart, Personality};
use selkie_sql::ast;
use selkie_types::charset::identifier_eq;
use selkie_types::error::catalogue::{
    ER_BLOB_KEY_WITHOUT_LENGTH, ER_DUP_FIELDNAME, ER_DUP_INDEX, ER_DUP_KEYNAME, ER_GET_ERRNO,
    ER_INVISIBLE_NOT_NULL_WITHOUT_DEFAULT, ER_KEY_COLUMN_DOES_NOT_EXIST, ER_KEY_PART_0,
    ER_MULTIPLE_PRI_KEY, ER_PK_INDEX_CANT_BE_IGNORED, ER_PRIMARY_CANT_HAVE_NULL,
    ER_SPATIAL_CANT_HAVE_NULL, ER_TOO_LONG_INDEX_COMMENT, ER_TOO_LONG_KEY, ER_TOO_MANY_KEY_PARTS,
    ER_TOO_MANY_KEYS, ER_WRONG_ARGUMENTS, ER_WRONG_AUTO_KEY, ER_WRONG_KEY_COLUMN,
    ER_WRONG_NAME_FOR_INDEX, ER_WRONG_SUB_KEY,
};
use selkie_types::geometry::POINT_BYTES;
use selkie_types::{Condition, GeometryKind, SqlError, SqlResult, SqlType, TypeKind};

use super::columns::refuse_compressed;
use super::foreign::ForeignSpec;
use super::{DefineContext, fulltext, options, record, system_time};

const PARTS_MAX: usize = 32;

/// Limits of an engine's keys.
#[derive(Clone, Copy)]
struct Limits {
    engine: &'static Personality,
    /// Maximum length of a key in bytes.
    bytes: u64,
}

impl Limits {
    fn of(engine: &'static Personality) -> Self {
        Self { engine, bytes: engine.keys.bytes }
    }

    fn primary(self) -> IndexKind {
        if self.engine.keys.clustered { IndexKind::Primary } else { IndexKind::HeapPrimary }
    }

    /// Maximum number of characters of a TEXT in a key.
    fn most_characters(self, ty: &SqlType) -> u32 {
        ((self.bytes / ty.collation.charset().max_len() as u64) as u32).min(ty.length)
    }

    fn too_long(self) -> SqlError {
        SqlError::new(&ER_TOO_LONG_KEY, &[&self.bytes])
    }
}

/// A key with its SQL attributes.
pub(super) type Key = (IndexDef, IndexInfo);

/// A key definition before its name and order are settled.
pub(super) struct KeySpec<'a> {
    pub(super) kind: ast::IndexKind,
    pub(super) name: Option<&'a str>,
    pub(super) parts: Vec<ast::IndexPart>,
    /// The period of `WITHOUT OVERLAPS`.
    pub(super) period: Option<&'a str>,
    pub(super) options: ast::IndexOptions,
    /// Created for a foreign key.
    pub(super) generated: bool,
}

impl<'a> KeySpec<'a> {
    /// From a `KEY` element of a table, or `CREATE INDEX`.
    pub(super) fn of(def: &'a ast::IndexDef) -> Self {
        Self {
            kind: def.kind,
            name: def.name.as_ref().map(|n| &*n.value),
            parts: def.parts.clone(),
            period: def.without_overlaps.as_ref().map(|name| &*name.value),
            options: def.options.clone(),
            generated: false,
        }
    }

    /// From `PRIMARY KEY` or `UNIQUE` of a column.
    pub(super) fn of_column(column: &'a ast::ColumnDef) -> Option<Self> {
        let serial = column.data_type.name == ast::TypeName::Serial;
        let kind = match column.key {
            Some(ast::ColumnKey::Primary) => ast::IndexKind::Primary,
            Some(ast::ColumnKey::Unique) => ast::IndexKind::Unique,
            None if serial => ast::IndexKind::Unique,
            None => return None,
        };
        let part = ast::IndexPart { column: column.name.clone(), length: None, descending: false };
        let (name, parts) = (None, vec![part]);
        let (period, options) = (None, Default::default());
        Some(Self { kind, name, parts, period, options, generated: false })
    }

    /// The key that a foreign key needs unless another key over its columns exists.
    pub(super) fn of_foreign(spec: &ForeignSpec<'a>) -> Self {
        let part = |column: &ast::Ident| ast::IndexPart {
            column: column.clone(),
            length: None,
            descending: false,
        };
        Self {
            kind: ast::IndexKind::Plain,
            name: spec.name,
            parts: spec.columns.iter().map(part).collect(),
            period: None,
            options: Default::default(),
            generated: true,
        }
    }
}

/// Id of a new key, until [`number`] gives it its own.
pub(super) const UNNUMBERED: IndexId = IndexId(u32::MAX);

/// Gives new keys ids from `first` on; returns the first unused id.
pub(super) fn number(keys: &mut [Key], first: u32) -> u32 {
    let new = keys.iter_mut().filter(|(def, _)| def.id == UNNUMBERED);
    new.zip(first..).fold(first, |_, ((def, _), id)| {
        def.id = IndexId(id);
        id + 1
    })
}

/// Adds the keys of `specs`, without ids, to `keys` over `columns`. Parts of a primary key become
/// NOT NULL.
pub(super) fn add_keys(
    context: &DefineContext<'_>,
    engine: &'static Personality,
    columns: &mut [ColumnInfo],
    keys: &mut Vec<Key>,
    specs: Vec<KeySpec<'_>>,
    period: Option<&Period>,
) -> SqlResult<()> {
    let limits = Limits::of(engine);
    if engine.keys.count == 0 && !specs.is_empty() {
        return Err(SqlError::new(&ER_TOO_MANY_KEYS, &[&engine.keys.count]));
    }
    for spec in without_redundant(columns, keys, specs) {
        let mut key = define(context, limits, (columns, period), keys, &spec)?;
        system_time::complete_key(columns, &mut key);
        note_duplicate(context, keys, &key);
        if key.0.kind.is_primary() {
            make_not_null(columns, &key.0)?;
        }
        keys.push(key);
    }
    check_invisible(columns)?;
    settle(columns, keys, limits)
}

/// An invisible column must have a value: NULL, a default, or a generated one.
fn check_invisible(columns: &[ColumnInfo]) -> SqlResult<()> {
    let lacks_value = |c: &&ColumnInfo| {
        let given = c.auto_increment || c.generated.is_some();
        c.invisible && !c.nullable && !given && c.default == DefaultValue::Implicit
    };
    match columns.iter().find(lacks_value) {
        Some(column) => Err(SqlError::new(&ER_INVISIBLE_NOT_NULL_WITHOUT_DEFAULT, &[&column.name])),
        None => Ok(()),
    }
}

/// A note if an earlier key is the same.
fn note_duplicate(context: &DefineContext<'_>, keys: &[Key], (index, info): &Key) {
    let is_same = |(other, of): &&Key| {
        other.kind == index.kind
            && other.parts == index.parts
            && of.algorithm == info.algorithm
            // Compat: a FULLTEXT key is compared with those of the same statement.
            && (index.kind != IndexKind::Fulltext || other.id == UNNUMBERED)
            && !of.generated
    };
    if !info.generated && keys.iter().any(|key| is_same(&key)) {
        context.eval.note(&ER_DUP_INDEX, &[&index.name]);
    }
}

/// Position of the column, if one has the name, and the prefix length.
type Part = (Option<usize>, Option<u32>);

/// Removes the generated keys, in `specs` and in `keys`, whose columns are the first columns of
/// another key. Of two generated keys over the same columns the later one stays.
fn without_redundant<'a>(
    columns: &[ColumnInfo],
    keys: &mut Vec<Key>,
    specs: Vec<KeySpec<'a>>,
) -> Vec<KeySpec<'a>> {
    let position = |name: &str| columns.iter().position(|c| identifier_eq(&c.name, name));
    let of_spec = |spec: &KeySpec<'_>| {
        let columns = spec.parts.iter();
        columns.map(|p| (position(&p.column.value), p.length.map(|n| n as u32))).collect()
    };
    let of_key = |(key, _): &Key| key.parts.iter().map(|p| (Some(p.column), p.prefix)).collect();
    let mut list: Vec<(bool, Vec<Part>)> =
        keys.iter().map(|key| (key.1.generated, of_key(key))).collect();
    list.extend(specs.iter().map(|spec| (spec.generated, of_spec(spec))));
    let redundant = |at: usize| {
        let (generated, own) = &list[at];
        let serves = |(other, (also, parts)): (usize, &(bool, Vec<_>))| {
            let earlier = *also && parts.len() == own.len() && other < at;
            other != at && parts.starts_with(own) && !earlier
        };
        *generated && list.iter().enumerate().any(serves)
    };
    let gone: Vec<bool> = (0..list.len()).map(redundant).collect();
    let existing = keys.len();
    let mut at = gone.iter();
    keys.retain(|_| at.next() != Some(&true));
    let kept = specs.into_iter().zip(&gone[existing..]).filter(|(_, gone)| !**gone);
    kept.map(|(spec, _)| spec).collect()
}

fn make_not_null(columns: &mut [ColumnInfo], index: &IndexDef) -> SqlResult<()> {
    for part in &index.parts {
        let column = &mut columns[part.column];
        let null = selkie_catalog::DefaultValue::Literal(selkie_types::Value::Null);
        if column.default == null {
            return Err(SqlError::new(&ER_PRIMARY_CANT_HAVE_NULL, &[]));
        }
        column.nullable = false;
    }
    Ok(())
}

/// Sorts the keys into MariaDB's order and makes the checks over all keys.
fn settle(columns: &[ColumnInfo], keys: &mut [Key], limits: Limits) -> SqlResult<()> {
    let allowed = &limits.engine.keys;
    if keys.len() > allowed.count {
        return Err(SqlError::new(&ER_TOO_MANY_KEYS, &[&allowed.count]));
    }
    for (index, _) in keys.iter_mut().filter(|(index, _)| index.kind.is_primary()) {
        // The table may have come from another engine.
        index.kind = limits.primary();
    }
    keys.sort_by_key(|(index, _)| Reverse(rank(columns, index)));
    let mut autos = columns.iter().enumerate().filter(|(_, column)| column.auto_increment);
    if let Some((auto, _)) = autos.next() {
        let most = if allowed.counts_in_groups { usize::MAX } else { 1 };
        let leads = keys
            .iter()
            .any(|(index, _)| index.parts.iter().take(most).any(|part| part.column == auto));
        if !leads || autos.next().is_some() {
            return Err(SqlError::new(&ER_WRONG_AUTO_KEY, &[]));
        }
    }
    Ok(())
}

/// Sort rank of a key. Compat: hashed unique keys are the last of the unique keys, and FULLTEXT
/// keys the last of all.
fn rank(columns: &[ColumnInfo], index: &IndexDef) -> [bool; 6] {
    let unique = index.is_unique();
    let plain = unique && !index.hashed;
    let nullable = index.parts.iter().any(|part| columns[part.column].nullable);
    let cut = index.parts.iter().any(|part| part.prefix.is_some());
    let ordered = index.kind != IndexKind::Fulltext;
    [ordered, index.kind.is_primary(), unique, plain, plain && !nullable, plain && !cut]
}

/// Fails for the name of a key that the engine keeps for itself.
pub(super) fn refuse_reserved(
    context: &DefineContext<'_>,
    engine: &Personality,
    name: &str,
) -> SqlResult<()> {
    let Some(reserved) = engine.keys.reserved.filter(|own| name.eq_ignore_ascii_case(own)) else {
        return Ok(());
    };
    let message = format!(
        "Cannot Create Index with name '{reserved}'. The name is reserved for the system default \
         primary index."
    );
    let warning = Condition::warning(&ER_WRONG_NAME_FOR_INDEX, &[&name]);
    context.eval.push(Condition { message, ..warning });
    Err(SqlError::new(&ER_WRONG_NAME_FOR_INDEX, &[&reserved]))
}

/// Notes that the engine has refused a name when it was to create the table. Compat: it says so
/// with an error of its own.
pub(super) fn note_refused(context: &DefineContext<'_>, engine: &Personality, error: &SqlError) {
    let Some(reserved) = engine.keys.reserved else { return };
    let refused = SqlError::new(&ER_WRONG_NAME_FOR_INDEX, &[&reserved]);
    if error.code() == refused.code() && error.message() == refused.message() {
        let args: [&dyn std::fmt::Display; 2] = [&WRONG_INDEX, &engine.name];
        (context.after_error)(Condition::warning(&ER_GET_ERRNO, &args));
    }
}

/// The number of an engine's error for an index that is not as it has to be.
const WRONG_INDEX: u32 = 124;

fn define(
    context: &DefineContext<'_>,
    limits: Limits,
    (columns, period): (&[ColumnInfo], Option<&Period>),
    keys: &[Key],
    spec: &KeySpec<'_>,
) -> SqlResult<Key> {
    let kind = match spec.kind {
        ast::IndexKind::Primary => limits.primary(),
        ast::IndexKind::Unique => IndexKind::Unique,
        ast::IndexKind::Plain => IndexKind::Plain,
        ast::IndexKind::Fulltext => IndexKind::Fulltext,
        ast::IndexKind::Spatial => return Err(refuse_spatial(columns, spec)),
    };
    if kind.is_primary() && spec.options.ignored == Some(true) {
        return Err(SqlError::new(&ER_PK_INDEX_CANT_BE_IGNORED, &[]));
    }
    if kind.is_primary() && keys.iter().any(|(k, _)| k.kind.is_primary()) {
        return Err(SqlError::new(&ER_MULTIPLE_PRI_KEY, &[]));
    }
    let hashed = is_hashed(columns, kind, spec, limits);
    if needs_hash(columns, kind, spec, limits) && !hashed {
        return Err(limits.too_long());
    }
    let parts = match kind {
        IndexKind::Fulltext => fulltext::parts(columns, spec, limits.engine)?,
        _ => parts(context, columns, kind, spec, limits, hashed)?,
    };
    let name = match kind {
        kind if kind.is_primary() => {
            if let Some(name) = spec.name.filter(|n| !n.eq_ignore_ascii_case("PRIMARY")) {
                let message = format!("Name '{name}' ignored for PRIMARY key.");
                let warning = Condition::warning(&ER_WRONG_NAME_FOR_INDEX, &[&name]);
                context.eval.push(Condition { message, ..warning });
            }
            "PRIMARY".to_owned()
        }
        _ => key_name(columns, keys, spec, &parts)?,
    };
    refuse_reserved(context, limits.engine, &name)?;
    options::check_part(context, &spec.options.engine)?;
    let (given, most) = (spec.options.comment.as_deref(), options::COMMENT_MAX);
    let comment = options::fitted(context, given, most, &ER_TOO_LONG_INDEX_COMMENT, &name)?;
    let without_overlaps = spec.period.is_some();
    let name = name.into();
    let mut index = IndexDef { id: UNNUMBERED, name, kind, parts, hashed, without_overlaps };
    if let Some(of) = spec.period {
        index.parts = super::period::add_parts(columns, period, (of, &index))?;
    }
    let mut info = IndexInfo { comment, generated: spec.generated, ..info(&spec.options) };
    if hashed {
        info.algorithm = Some("HASH".to_owned());
    }
    if kind == IndexKind::Fulltext {
        info.algorithm = None;
    }
    Ok((index, info))
}

/// The reason why there is no SPATIAL key over these columns.
fn refuse_spatial(columns: &[ColumnInfo], spec: &KeySpec<'_>) -> SqlError {
    let mut geometries = 0;
    for part in &spec.parts {
        let Some(column) = part_column(columns, part) else {
            return SqlError::new(&ER_KEY_COLUMN_DOES_NOT_EXIST, &[&part.column.value]);
        };
        match column.ty.geometry {
            Some(_) if part.length.is_some() => return SqlError::new(&ER_WRONG_SUB_KEY, &[]),
            Some(_) if column.nullable => return SqlError::new(&ER_SPATIAL_CANT_HAVE_NULL, &[]),
            Some(_) => geometries += 1,
            None => return SqlError::new(&ER_WRONG_ARGUMENTS, &[&"SPATIAL INDEX"]),
        }
    }
    match geometries {
        1 => SqlError::not_supported("SPATIAL KEY"),
        _ => SqlError::new(&ER_WRONG_ARGUMENTS, &[&"SPATIAL INDEX"]),
    }
}

fn info(options: &ast::IndexOptions) -> IndexInfo {
    let algorithm = options.algorithm.map(|algorithm| {
        match algorithm {
            ast::IndexAlgorithm::Btree | ast::IndexAlgorithm::Rtree => "BTREE",
            ast::IndexAlgorithm::Hash => "HASH",
        }
        .to_owned()
    });
    IndexInfo {
        algorithm,
        ignored: options.ignored == Some(true),
        key_block_size: options.key_block_size.unwrap_or(0),
        ..IndexInfo::default()
    }
}

fn key_name(
    columns: &[ColumnInfo],
    keys: &[Key],
    spec: &KeySpec<'_>,
    parts: &[IndexPart],
) -> SqlResult<String> {
    let taken = |name: &str| keys.iter().any(|(key, _)| identifier_eq(&key.name, name));
    if let Some(name) = spec.name {
        if name.eq_ignore_ascii_case("PRIMARY") || name.is_empty() {
            return Err(SqlError::new(&ER_WRONG_NAME_FOR_INDEX, &[&name]));
        }
        if taken(name) {
            return Err(SqlError::new(&ER_DUP_KEYNAME, &[&name]));
        }
        return Ok(name.to_owned());
    }
    let base = &*columns[parts[0].column].name;
    if !taken(base) && !base.eq_ignore_ascii_case("PRIMARY") {
        return Ok(base.to_owned());
    }
    let numbered = (2..).map(|n| format!("{base}_{n}")).find(|name| !taken(name));
    Ok(numbered.unwrap_or_default())
}

/// The column that a part names, if it exists.
fn part_column<'c>(columns: &'c [ColumnInfo], part: &ast::IndexPart) -> Option<&'c ColumnInfo> {
    columns.iter().find(|c| identifier_eq(&c.name, &part.column.value))
}

/// The written length of a part. Compat: a key over a POINT has all its bytes, whatever is written.
fn part_length(column: &ColumnInfo, part: &ast::IndexPart) -> Option<u64> {
    match column.ty.geometry_kind() {
        Some(GeometryKind::Point) if part.length != Some(0) => Some(POINT_BYTES.into()),
        _ => part.length,
    }
}

/// Whether a type has geometries of any length.
fn is_long_geometry(ty: &SqlType) -> bool {
    ty.geometry_kind().is_some_and(|kind| kind != GeometryKind::Point)
}

/// Whether a unique key is hashed: it is too long for another form, or HASH is requested.
fn is_hashed(columns: &[ColumnInfo], kind: IndexKind, spec: &KeySpec<'_>, limits: Limits) -> bool {
    let algorithm = spec.options.algorithm;
    if kind != IndexKind::Unique
        || !limits.engine.keys.hashed
        || algorithm == Some(ast::IndexAlgorithm::Btree)
    {
        return false;
    }
    let bytes = |part: &ast::IndexPart| {
        let Some(column) = part_column(columns, part) else { return 0 };
        match part_length(column, part) {
            None if column.ty.is_text_or_blob() => u64::MAX,
            length => key_bytes(column, length.map(|n| n as u32)),
        }
    };
    let total = spec.parts.iter().map(bytes).fold(0, u64::saturating_add);
    total > limits.bytes || algorithm == Some(ast::IndexAlgorithm::Hash)
}

/// Whether a unique key must be hashed: it has a whole BLOB or TEXT.
fn needs_hash(columns: &[ColumnInfo], kind: IndexKind, spec: &KeySpec<'_>, limits: Limits) -> bool {
    let whole = |part: &ast::IndexPart| {
        let whole = |column: &ColumnInfo| {
            part_length(column, part).is_none() && column.ty.is_text_or_blob()
        };
        part_column(columns, part).is_some_and(whole)
    };
    kind == IndexKind::Unique && limits.engine.keys.hashed && spec.parts.iter().any(whole)
}

fn parts(
    context: &DefineContext<'_>,
    columns: &[ColumnInfo],
    kind: IndexKind,
    spec: &KeySpec<'_>,
    limits: Limits,
    hashed: bool,
) -> SqlResult<Vec<IndexPart>> {
    if spec.parts.len() > PARTS_MAX {
        return Err(SqlError::new(&ER_TOO_MANY_KEY_PARTS, &[&PARTS_MAX]));
    }
    let limits = if hashed { Limits { bytes: u64::MAX, ..limits } } else { limits };
    let mut out: Vec<IndexPart> = Vec::with_capacity(spec.parts.len());
    let mut total = 0;
    for part in &spec.parts {
        let name = &*part.column.value;
        let named = |c: &ColumnInfo| identifier_eq(&c.name, name) && !c.is_hidden();
        let column = columns.iter().position(named);
        let column =
            column.ok_or_else(|| SqlError::new(&ER_KEY_COLUMN_DOES_NOT_EXIST, &[&name]))?;
        if out.iter().any(|p| p.column == column) {
            return Err(SqlError::new(&ER_DUP_FIELDNAME, &[&name]));
        }
        refuse_compressed(&columns[column])?;
        let (ty, nullable) = (&columns[column].ty, columns[column].nullable);
        if matches!(ty.kind, TypeKind::Char | TypeKind::VarChar) && ty.length == 0 && !nullable {
            return Err(SqlError::new(&ER_WRONG_KEY_COLUMN, &[&limits.engine.name, &name]));
        }
        // Compat: a hash is that of whole geometries, whatever length is written.
        let length = part_length(&columns[column], part)
            .filter(|_| !hashed || !is_long_geometry(&columns[column].ty));
        let prefix = prefix(context, &columns[column], length, kind, limits)?;
        total += key_bytes(&columns[column], prefix);
        out.push(IndexPart { column, prefix, descending: part.descending });
    }
    if total > limits.bytes {
        return Err(limits.too_long());
    }
    Ok(out)
}

/// Keeps the prefix of a kept key's part, if its column can still have it.
pub(super) fn keep_prefix(
    context: &DefineContext<'_>,
    engine: &'static Personality,
    kind: IndexKind,
    part: &mut IndexPart,
    before: &SqlType,
    now: &SqlType,
) {
    let fits = |length: u32| {
        let whole = if now.is_text_or_blob() { length > now.length } else { length >= now.length };
        let was_whole = !before.is_text_or_blob() && length >= before.length;
        before.is_string() && now.is_string() && !whole && !was_whole
    };
    part.prefix = part.prefix.filter(|length| fits(*length));
    let limits = Limits::of(engine);
    let most = limits.most_characters(now);
    let is_too_long = match part.prefix {
        Some(length) => length > most,
        None => now.is_text_or_blob() || (now.is_string() && now.length > most),
    };
    if is_too_long && kind == IndexKind::Plain {
        if most < now.length {
            context.eval.note(&ER_TOO_LONG_KEY, &[&limits.bytes]);
        }
        part.prefix = Some(most);
    }
}

/// Prefix of a key part over a new column that replaces a dropped one of the same name.
///
/// Compat: its length is the number of characters of a text, otherwise the number of bytes of the
/// old part.
pub(super) fn prefix_again(
    prefix: Option<u32>,
    before: &SqlType,
    now: &SqlType,
) -> SqlResult<Option<u32>> {
    let length = match prefix {
        Some(length) => length,
        None if before.is_string() => before.length,
        None => record::packed_bytes(before) as u32,
    };
    let whole = match now.is_string() {
        true => now.length,
        false => record::packed_bytes(now) as u32,
    };
    match now.is_text_or_blob() {
        true => Ok(Some(length)),
        false if length == whole => Ok(None),
        false if length < whole && now.is_string() => Ok(Some(length)),
        false => Err(SqlError::new(&ER_WRONG_SUB_KEY, &[])),
    }
}

/// Makes a kept unique key hashed if it now has a whole TEXT; returns whether it was not hashed
/// before.
pub(super) fn hash_texts(
    engine: &'static Personality,
    columns: &[ColumnInfo],
    index: &mut IndexDef,
    info: &mut IndexInfo,
) -> bool {
    let mut parts = index.parts.iter();
    let whole = parts.any(|p| p.prefix.is_none() && columns[p.column].ty.is_text_or_blob());
    let new = whole && index.kind == IndexKind::Unique && !index.hashed && engine.keys.hashed;
    if new {
        index.hashed = true;
        info.algorithm = Some("HASH".to_owned());
    }
    new
}

/// An error if a kept key is too long for the new types of its columns.
pub(super) fn check_length(
    engine: &'static Personality,
    columns: &[ColumnInfo],
    index: &IndexDef,
) -> SqlResult<()> {
    let limits = Limits::of(engine);
    let primary = index.kind.is_primary();
    let whole_text =
        |part: &&IndexPart| part.prefix.is_none() && columns[part.column].ty.is_text_or_blob();
    if let Some(part) = index.parts.iter().find(whole_text).filter(|_| primary) {
        let name = &columns[part.column].name;
        return Err(SqlError::new(&ER_BLOB_KEY_WITHOUT_LENGTH, &[name]));
    }
    let bytes = index.parts.iter().map(|part| key_bytes(&columns[part.column], part.prefix));
    match (primary || !index.is_unique()) && bytes.sum::<u64>() > limits.bytes {
        true => Err(limits.too_long()),
        false => Ok(()),
    }
}

/// Length of a key part in its character set, in bytes, as MariaDB counts.
fn key_bytes(column: &ColumnInfo, prefix: Option<u32>) -> u64 {
    match column.ty.fixed_width() {
        Some(width) => width as u64,
        None if let Some(kind) = column.ty.fixed_binary() => kind.width() as u64,
        None => {
            let characters = u64::from(prefix.unwrap_or(column.ty.length));
            characters * column.ty.collation.charset().max_len() as u64
        }
    }
}

/// Prefix length of a part; a key over a whole VARCHAR has none.
///
/// Compat: a part that is too long for a key is cut with a note, unless the key is unique.
fn prefix(
    context: &DefineContext<'_>,
    column: &ColumnInfo,
    length: Option<u64>,
    kind: IndexKind,
    limits: Limits,
) -> SqlResult<Option<u32>> {
    if length == Some(0) {
        return Err(SqlError::new(&ER_KEY_PART_0, &[&column.name]));
    }
    let ty = &column.ty;
    let max_len = ty.collation.charset().max_len() as u64;
    let text = ty.is_text_or_blob();
    let too_long = |characters: u64| characters.saturating_mul(max_len) > limits.bytes;
    match length {
        Some(_) if !ty.is_string() => Err(SqlError::new(&ER_WRONG_SUB_KEY, &[])),
        Some(n) if !text && n > u64::from(ty.length) => Err(SqlError::new(&ER_WRONG_SUB_KEY, &[])),
        None if text && limits.bytes == u64::MAX => Ok(None),
        None if text && kind == IndexKind::Plain && !too_long(u64::from(ty.length)) => {
            Ok(Some(limits.most_characters(ty)))
        }
        None if text && kind == IndexKind::Plain => cut(context, kind, max_len, limits),
        None if text => Err(SqlError::new(&ER_BLOB_KEY_WITHOUT_LENGTH, &[&column.name])),
        None if ty.is_string() && too_long(u64::from(ty.length)) => {
            cut(context, kind, max_len, limits)
        }
        Some(n) if too_long(n) => cut(context, kind, max_len, limits),
        Some(n) if !text && n == u64::from(ty.length) => Ok(None),
        Some(n) => Ok(Some(n as u32)),
        None => Ok(None),
    }
}

fn cut(
    context: &DefineContext<'_>,
    kind: IndexKind,
    max_len: u64,
    limits: Limits,
) -> SqlResult<Option<u32>> {
    if kind != IndexKind::Plain {
        return Err(limits.too_long());
    }
    context.eval.note(&ER_TOO_LONG_KEY, &[&limits.bytes]);
    Ok(Some((limits.bytes / max_len) as u32))
}
