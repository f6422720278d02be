//! Partitions of a table: the method that tells where a row belongs, and the storage of each part.
//! Serialized types here are part of the dictionary's stored format. No row is routed here.

use std::sync::Arc;

use selkie_engine::{TableDef, TableId};
use selkie_types::Value;
use serde::{Deserialize, Serialize};

use crate::{Rotation, TableInfo, quote_identifier};

/// Partitioning of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partitioning {
    /// The rule by which a row finds its partition.
    pub method: PartitionMethod,
    /// The same for its subpartition, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub: Option<PartitionMethod>,
    /// The partitions in order.
    pub parts: Vec<Partition>,
    /// The extent to which the statement gave the partitions.
    pub given: Given,
    /// The same for the subpartitions.
    #[serde(default)]
    pub subs_given: Given,
}

/// Extent to which a statement gives partitions or subpartitions; the rest is filled in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given {
    /// Nothing: there is one, with a made name.
    #[default]
    Nothing,
    /// Their number; their names are made.
    Count,
    /// Each of them.
    List,
}

/// Kind of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MethodKind {
    /// Ranges of the value of an expression.
    Range,
    /// Ranges of columns.
    RangeColumns,
    /// Listed values of an expression.
    List,
    /// Listed values of columns.
    ListColumns,
    /// An expression modulo the number of partitions.
    Hash,
    /// A hash of columns.
    Key,
    /// The end of a row's validity, in a system-versioned table.
    SystemTime,
}

impl MethodKind {
    /// Whether each partition has values of its own.
    pub fn has_values(self) -> bool {
        !matches!(self, Self::Hash | Self::Key)
    }

    /// Whether it reads columns, not an expression.
    pub fn reads_columns(self) -> bool {
        matches!(self, Self::RangeColumns | Self::ListColumns | Self::Key)
    }
}

/// The function that a method applies to a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartitionMethod {
    /// Its kind.
    pub kind: MethodKind,
    /// `LINEAR`.
    #[serde(default)]
    pub linear: bool,
    /// `KEY ALGORITHM`, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<u8>,
    /// The expression in canonical text; empty if columns are read.
    #[serde(default)]
    pub expression: String,
    /// Names of the columns that are read; none for `KEY ()`, which reads the primary key.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The rule for history of a method by system time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
}

/// A partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Name.
    pub name: String,
    /// Its storage; 0 if it has subpartitions.
    pub id: TableId,
    /// The rows it holds.
    pub limit: PartitionLimit,
    /// Its options.
    #[serde(default)]
    pub options: PartitionOptions,
    /// Its subpartitions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subs: Vec<Subpartition>,
}

/// A subpartition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subpartition {
    /// Name.
    pub name: String,
    /// Its storage.
    pub id: TableId,
    /// Its options.
    #[serde(default)]
    pub options: PartitionOptions,
}

/// The rows that a partition holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PartitionLimit {
    /// Those that a hash gives it.
    Slot,
    /// Rows below one value per column, `None` for MAXVALUE, and not in an earlier partition.
    LessThan(Vec<Option<PartitionValue>>),
    /// Rows with one of these combinations of values.
    In(Vec<Vec<PartitionValue>>),
    /// Rows with values that are in no other partition.
    Default,
    /// Rows of history; with an end in seconds since 1970 only those that ended before it, but for
    /// the last such partition.
    History(Option<i64>),
    /// Current rows.
    Current,
}

/// A constant of a partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartitionValue {
    /// Its value: an integer for an expression, else one of the column's type.
    pub value: Value,
    /// As it is shown.
    pub text: String,
}

/// Options of a partition or subpartition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartitionOptions {
    /// `COMMENT`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Options shown before the comment: name and value as shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<(String, String)>,
    /// Options shown after the engine: name and value as shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<(String, String)>,
}

/// A leaf: what has rows of its own, a subpartition or a partition without subpartitions.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a> {
    /// Its partition.
    pub part: &'a Partition,
    /// The subpartition.
    pub sub: Option<&'a Subpartition>,
}

impl Leaf<'_> {
    /// Its storage.
    pub fn id(self) -> TableId {
        self.sub.map_or(self.part.id, |sub| sub.id)
    }

    /// Its options.
    pub fn options(&self) -> &PartitionOptions {
        self.sub.map_or(&self.part.options, |sub| &sub.options)
    }

    /// Its name in EXPLAIN.
    pub fn shown_name(self) -> String {
        match self.sub {
            Some(sub) => format!("{}_{}", self.part.name, sub.name),
            None => self.part.name.clone(),
        }
    }
}

impl Partitioning {
    /// The most leaves a table may have.
    pub const MOST_LEAVES: usize = 8192;

    /// Number of leaves in each partition.
    pub fn leaves_each(&self) -> usize {
        self.parts.first().map_or(1, |part| part.subs.len().max(1))
    }

    /// All leaves in order.
    pub fn leaves(&self) -> impl Iterator<Item = Leaf<'_>> {
        self.parts.iter().flat_map(|part| {
            let own = part.subs.is_empty().then_some(Leaf { part, sub: None });
            own.into_iter().chain(part.subs.iter().map(move |sub| Leaf { part, sub: Some(sub) }))
        })
    }

    /// Number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.parts.len() * self.leaves_each()
    }

    /// Gives a leaf other storage.
    pub fn set_storage(&mut self, leaf: usize, id: TableId) {
        let each = self.leaves_each();
        let Some(part) = self.parts.get_mut(leaf / each) else { return };
        match part.subs.get_mut(leaf % each) {
            Some(sub) => sub.id = id,
            None => part.id = id,
        }
    }

    /// Gives every leaf new storage.
    pub fn renumber<E>(&mut self, mut next: impl FnMut() -> Result<TableId, E>) -> Result<(), E> {
        for part in &mut self.parts {
            if part.subs.is_empty() {
                part.id = next()?;
            }
            for sub in &mut part.subs {
                sub.id = next()?;
            }
        }
        Ok(())
    }

    /// Gives storage to every leaf without; returns what was given.
    pub fn number_new<E>(
        &mut self,
        mut next: impl FnMut() -> Result<TableId, E>,
    ) -> Result<Vec<TableId>, E> {
        let mut given = Vec::new();
        let mut number = |id: &mut TableId| {
            if *id == TableId(0) {
                *id = next()?;
                given.push(*id);
            }
            Ok(())
        };
        for part in &mut self.parts {
            if part.subs.is_empty() {
                number(&mut part.id)?;
            }
            for sub in &mut part.subs {
                number(&mut sub.id)?;
            }
        }
        Ok(given)
    }

    /// Whether the partition of a row of `table` depends on a column. A KEY without columns reads
    /// those of the table's shown primary key.
    pub fn reads(&self, table: &TableInfo, column: usize) -> bool {
        let mut methods = std::iter::once(&self.method).chain(&self.sub);
        methods.any(|method| method.columns_of(table).is_some_and(|all| all.contains(&column)))
    }

    /// Whether a KEY without columns takes those of the table's shown primary key.
    pub fn follows_primary(&self) -> bool {
        let mut methods = std::iter::once(&self.method).chain(&self.sub);
        methods.any(|method| method.kind == MethodKind::Key && method.columns.is_empty())
    }

    /// Numbers of the leaves of the partition or subpartition `name`; `None` if there is none.
    pub fn leaves_of(&self, name: &str) -> Option<std::ops::Range<usize>> {
        let each = self.leaves_each();
        let same = |other: &str| selkie_types::charset::identifier_eq(other, name);
        for (at, part) in self.parts.iter().enumerate() {
            if same(&part.name) {
                return Some(at * each..(at + 1) * each);
            }
            if let Some(sub) = part.subs.iter().position(|sub| same(&sub.name)) {
                return Some(at * each + sub..at * each + sub + 1);
            }
        }
        None
    }
}

impl PartitionMethod {
    /// Positions of the columns that a method over columns reads; `None` if one is missing.
    pub fn columns_of(&self, table: &TableInfo) -> Option<Vec<usize>> {
        match self.kind {
            MethodKind::Key => {}
            MethodKind::SystemTime => return Some(vec![table.system_time()?.end]),
            _ => return table.column_positions(&self.columns),
        }
        let mut columns: Vec<usize> = match self.columns.is_empty() {
            false => table.column_positions(&self.columns)?,
            true => table.shown_primary()?.parts.iter().map(|part| part.column).collect(),
        };
        // Compat: hashed in the order of the table.
        columns.sort_unstable();
        Some(columns)
    }

    /// The expression or columns as `information_schema` shows them.
    pub fn shown_expression(&self) -> String {
        match self.kind.reads_columns() {
            false => self.expression.clone(),
            true => {
                let names = self.columns.iter().map(|name| quote_identifier(name));
                names.collect::<Vec<_>>().join(",")
            }
        }
    }
}

impl TableInfo {
    /// The engine's definition of a leaf: the table's own under another id and name.
    pub fn leaf_def(&self, leaf: Leaf<'_>) -> TableDef {
        let mut name = format!("{}#P#{}", self.name(), leaf.part.name);
        if let Some(sub) = leaf.sub {
            name.push_str("#SP#");
            name.push_str(&sub.name);
        }
        // Texts of a table in parts are searched row by row: no leaf keeps their words.
        let texts = Vec::new();
        TableDef { id: leaf.id(), name: name.into(), texts, ..(*self.def).clone() }
    }

    /// The engine's definitions of the table's storage with their numbers: its own, or one for each
    /// leaf.
    pub fn storages(&self) -> Vec<(usize, Arc<TableDef>)> {
        match &self.partitions {
            None => vec![(0, self.def.clone())],
            Some(partitions) => {
                let defs = partitions.leaves().map(|leaf| Arc::new(self.leaf_def(leaf)));
                defs.enumerate().collect()
            }
        }
    }

    /// Ids of the table's storage: one, or one for each leaf.
    pub fn storage_ids(&self) -> Vec<TableId> {
        match &self.partitions {
            _ if !self.has_storage() => Vec::new(),
            None => vec![self.def.id],
            Some(partitions) => partitions.leaves().map(Leaf::id).collect(),
        }
    }
}
