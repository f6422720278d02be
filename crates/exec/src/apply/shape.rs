//! The way from the images of an event to rows of the table here, found once for a table and the
//! columns that the images have.
//!
//! Must not read rows.

use std::sync::Arc;

use selkie_catalog::{TableInfo, is_transaction_bound};
use selkie_plan::RowsPlan;
use selkie_plan::physical::RowRules;
use selkie_replication::images::{ColumnKind, Place, ReceivedRows, Shape};
use selkie_types::SqlType;

use super::Conversions;
use super::convert::{self, Conversion};
use super::failure::Applied;
use super::table::MappedTable;

/// Images of one kind, before or after the change.
pub(super) struct Side {
    pub(super) rows: ReceivedRows,
    /// Columns here that the images have values of, as they are or converted.
    pub(super) columns: Vec<usize>,
    /// Columns whose values are converted, in the order of the images.
    pub(super) converted: Vec<Converted>,
    /// Columns that tell rows apart: those of `columns` that are not computed.
    pub(super) telling: Vec<usize>,
    /// The generated columns that have to be computed for a new row.
    pub(super) rules: RowRules,
    /// A row has no values but those of the images, and what is computed.
    pub(super) is_complete: bool,
}

/// A column whose values are converted.
pub(super) struct Converted {
    pub(super) column: usize,
    pub(super) kind: ColumnKind,
    /// The type that its values have.
    pub(super) from: SqlType,
}

impl Side {
    /// For the columns of an event that are `present`.
    pub(super) fn new(
        mapped: &MappedTable,
        present: &[u8],
        info: &TableInfo,
        rules: &RowRules,
        conversions: Conversions,
    ) -> Applied<Self> {
        let shape = Shape::new(&mapped.columns, present)?;
        let mut places = Vec::with_capacity(mapped.columns.len());
        let mut types = Vec::with_capacity(mapped.columns.len());
        for (at, column) in mapped.columns.iter().enumerate() {
            let Some(local) = info.columns.get(at) else {
                places.push(Place::Nowhere);
                types.push(None);
                continue;
            };
            let unsigned = mapped.unsigned.as_ref().and_then(|all| all.get(at)).copied();
            let found = convert::conversion(column.kind, unsigned, &local.ty, conversions);
            let (place, from) = match found {
                Some(Conversion::None) => (Place::Column(at), None),
                Some(Conversion::From(from)) => (Place::Converted, Some(from)),
                None => return Err(convert::refused(at, column.kind, info).into()),
            };
            places.push(if info.is_computed(at) { Place::Nowhere } else { place });
            types.push(from);
        }
        let place = |at: usize| places.get(at).copied().unwrap_or(Place::Nowhere);
        let rows = ReceivedRows::new(&shape, &info.def.layout, place)?;
        let present = || shape.columns().iter().filter(|(at, _)| place(*at) != Place::Nowhere);
        let columns: Vec<usize> = present().map(|(at, _)| *at).collect();
        let converted = present().filter_map(|(at, column)| {
            let from =
                types.get(*at).cloned().flatten().filter(|_| place(*at) == Place::Converted)?;
            Some(Converted { column: *at, kind: column.kind, from })
        });
        let converted: Vec<Converted> = converted.collect();
        let is_virtual = |at: usize| info.columns[at].generated.as_ref().is_some_and(|g| !g.stored);
        let is_open =
            |at: usize| !info.is_computed(at) && (is_virtual(at) || !columns.contains(&at));
        let generated = rules.generated.iter();
        // A column that is computed of an open one has to be there for it.
        let needed = generated.clone().any(|(at, _)| is_open(*at));
        let generated = generated.filter(|(at, _)| needed && (is_open(*at) || is_virtual(*at)));
        // The numbers of the primary's transactions mean nothing here.
        let is_number = |at: usize| is_transaction_bound(&info.columns[at]);
        let rules = RowRules {
            generated: generated.cloned().collect(),
            bounds: (0..info.columns.len()).filter(|at| is_number(*at)).collect(),
            ..RowRules::default()
        };
        let is_made = |at: usize| rules.generated.iter().any(|(made, _)| *made == at);
        let all = 0..info.columns.len();
        let is_complete =
            all.clone().all(|at| columns.contains(&at) || is_made(at) || info.is_computed(at));
        let telling = columns.iter().copied();
        // All rows that are current have the same end.
        let is_own = |at: usize| is_number(at) && info.columns[at].system.is_start();
        let telling = telling.filter(|at| !is_virtual(*at) && !is_own(*at)).collect();
        Ok(Self { rows, columns, converted, telling, rules, is_complete })
    }
}

/// Preparation for rows events of a kind, as long as neither the table nor the events change.
pub(super) struct Prepared {
    pub(super) info: Arc<TableInfo>,
    pub(super) plan: RowsPlan,
    /// Images before the change; the only ones of a deletion.
    pub(super) before: Option<Side>,
    /// Images after the change; the only ones of an insertion.
    pub(super) after: Option<Side>,
}
