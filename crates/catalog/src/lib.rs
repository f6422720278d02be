//! The catalog: schemas, tables, views, their columns and statistics.
//!
//! # What it is
//! An immutable [`Snapshot`] of all definitions, replaced as a whole by DDL; the [`Dictionary`]
//! that keeps definitions in ordinary tables of an engine; the definitions of
//! `information_schema`'s tables and those of other computed schemas.
//!
//! # Words
//! *Snapshot*: all definitions at one moment; a statement plans and runs on one. *Version*: the
//! number of one state of one definition; a plan made for another version is made anew.
//!
//! # Invariants
//! - CAT-1 A [`TableInfo`] never changes; a change makes a new one, whose version no definition has
//!   had since the start of the server. Versions are not stored: nothing that outlives the server
//!   knows them.
//! - CAT-2 What a snapshot shows is durable: it is published after the dictionary's commit.
//! - CAT-3 Table ids are never given twice (they come from a durable AUTO_INCREMENT counter).
//! - CAT-4 Ids of indexes are not given twice while their table lives: data stored under the id of
//!   one index never belongs to another.
//!
//! # Not here
//! No I/O but through [`selkie_engine::Engine`], no privileges checked, no statement executed.

#![forbid(unsafe_code)]

mod dictionary;
mod event;
mod foreign;
pub mod histogram;
mod information;
mod names;
mod partition;
mod period;
mod program;
mod rotation;
mod sequence;
mod series;
mod show_create;
mod show_partitions;
mod snapshot;
mod statistics;
mod system_tables;
mod system_time;
mod table;

pub use dictionary::{Dictionary, DictionaryError, EngineNamed};
pub use event::{EVENT_COLUMNS, Event, EventStatus, Timing, smallest_unit};
pub use foreign::{ForeignKey, ForeignKeyAction, action_text};
pub use information::{Asked, InformationRow, InformationSource, NAME_COLUMNS, information_rows};
pub use names::{Namespace, TemporaryTables};
pub use partition::{
    Given, Leaf, MethodKind, Partition, PartitionLimit, PartitionMethod, PartitionOptions,
    PartitionValue, Partitioning, Subpartition,
};
pub use period::Period;
pub use program::{
    PackageMember, PackagePart, ProgramContext, Routine, RoutineForm, RoutineParameter,
    RoutineResult, Trigger, quoted_account,
};
pub use rotation::{HistoryInterval, RotateBy, Rotation, timestamp_value};
pub use sequence::{
    NextValue, SequenceChange, SequenceDef, SequenceState, sequence_columns, sequence_fault,
};
pub use series::{SERIES_ENGINE, Series};
pub use show_create::{
    ShowStyle, default_text, quote_identifier, show_create_database, show_create_table,
};
pub use show_partitions::partition_clause;
pub use snapshot::{Catalog, Schema, Snapshot};
pub use statistics::{ColumnStatistics, IndexStatistics, Statistics};
pub use system_tables::{PERFORMANCE_ENGINE, information_schema};
pub use system_time::{SystemRole, SystemTime, is_transaction_bound};
pub use table::{
    CheckInfo, ColumnInfo, DefaultValue, Generated, IndexInfo, TableInfo, TableKind, TableOptions,
    TextIndex, View, new_version, shown_prefix,
};
