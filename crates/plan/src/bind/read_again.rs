//! Tables that an UPDATE, a multi-table DELETE or the RETURNING of an INSERT reads in subqueries.
//! Those of a DELETE must not be its targets.
//!
//! Must not know the targets: [`Binder::update`], [`Binder::delete`] and [`Binder::insert`] look at
//! them at the end.

use selkie_catalog::TableInfo;
use selkie_engine::TableId;
use selkie_types::error::catalogue::{ER_UPDATE_TABLE_USED, ER_VIEW_PREVENT_UPDATE};
use selkie_types::{SqlError, SqlResult};

use super::Binder;
use super::scope::Source;
use crate::logical::RelationId;

/// A view: its name in the statement, and its schema and name.
type NamedView = (Box<str>, (Box<str>, Box<str>));

/// The tables read so far, and the current place.
#[derive(Debug, Default)]
pub(super) struct ReadAgain {
    place: Place,
    tables: Vec<Read>,
    /// Whether tables that derived tables read count, too.
    everywhere: bool,
}

/// A table that is read.
#[derive(Clone, Debug)]
struct Read {
    id: TableId,
    alias: Box<str>,
    /// The outermost view through which it is read.
    view: Option<NamedView>,
}

/// Place of the tables being bound.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Whether it is a derived or common table, or a view that is not merged. Its rows are all read
    /// before the first row is deleted.
    hidden: bool,
    /// Whether it is in a subquery. Scopes do not show this inside a view, which has its own.
    below: bool,
    view: Option<NamedView>,
}

impl Binder<'_> {
    /// Starts recording the tables that are read.
    pub(super) fn watch_reads(&mut self) {
        self.read_again = Some(ReadAgain::default());
    }

    /// Starts recording all tables that are read, wherever.
    pub(super) fn watch_all_reads(&mut self) {
        self.read_again = Some(ReadAgain { everywhere: true, ..ReadAgain::default() });
    }

    /// Records a table that is added to the current scope.
    pub(super) fn note_read(&mut self, info: &TableInfo, alias: &str) {
        let in_subquery = self.scopes.len() > 1;
        if let Some(read) = &mut self.read_again
            && (read.everywhere || (in_subquery || read.place.below) && !read.place.hidden)
        {
            let view = read.place.view.clone();
            read.tables.push(Read { id: info.def.id, alias: alias.into(), view });
        }
    }

    /// Enters a query with its own scopes: a merged view with its alias, or a query whose reads do
    /// not count. [`Self::leave`] must follow.
    pub(super) fn enter(&mut self, merged: Option<(&str, &TableInfo)>) -> Option<Place> {
        let in_subquery = self.scopes.len() > 1;
        let place = &mut self.read_again.as_mut()?.place;
        let around = place.clone();
        match merged {
            None => place.hidden = true,
            Some((alias, info)) => {
                place.below |= in_subquery;
                let name = || (info.schema().into(), info.name().into());
                place.view.get_or_insert_with(|| (alias.into(), name()));
            }
        }
        Some(around)
    }

    /// Returns to the place before [`Self::enter`].
    pub(super) fn leave(&mut self, around: Option<Place>) {
        if let (Some(read), Some(around)) = (&mut self.read_again, around) {
            read.place = around;
        }
    }

    /// Whether a subquery has read the table of one of these; ends the recording.
    pub(super) fn was_read(&mut self, mut targets: impl Iterator<Item = RelationId>) -> bool {
        let tables = self.read_again.take().map(|read| read.tables).unwrap_or_default();
        let id = |relation: RelationId| self.columns.relations[relation].table.def.id;
        targets.any(|target| tables.iter().any(|read| read.id == id(target)))
    }

    /// Error 1093 or 1443 if a target named `source` is read too.
    pub(super) fn refuse_read_again(&self, source: &Source, relation: RelationId) -> SqlResult<()> {
        let id = self.columns.relations[relation].table.def.id;
        let tables = self.read_again.iter().flat_map(|read| &read.tables);
        let Some(read) = tables.into_iter().find(|read| read.id == id) else {
            return Ok(());
        };
        let target = self.kept_view(source).map(|view| (view.info.schema(), view.info.name()));
        Err(read_too(read, (&source.name, target), "DELETE"))
    }

    /// Error 1093 or 1443 if the table of an INSERT was read. Compat: not under another alias than
    /// that of the target, or of the table below it. Ends the recording.
    pub(super) fn refuse_inserted_read(
        &mut self,
        table: &TableInfo,
        alias: &str,
        (name, view): (&str, Option<(&str, &str)>),
    ) -> SqlResult<()> {
        let tables = self.read_again.take().map(|read| read.tables).unwrap_or_default();
        let names = self.table_names();
        let is_it = |read: &&Read| read.id == table.def.id && names.is_same(&read.alias, alias);
        match tables.iter().find(is_it) {
            Some(read) => Err(read_too(read, (name, view), "INSERT")),
            None => Ok(()),
        }
    }
}

/// The error for a target that is read, too: its name in the statement, and the schema and name of
/// its view.
fn read_too(read: &Read, (name, view): (&str, Option<(&str, &str)>), verb: &str) -> SqlError {
    let through = read.view.as_ref().map(|(alias, (schema, name))| (alias, (&**schema, &**name)));
    let prevents: Option<&str> = match through {
        Some((_, read)) if Some(read) == view => None,
        Some((alias, _)) => Some(alias),
        None => view.is_some().then_some(name),
    };
    match prevents {
        Some(by) => SqlError::new(&ER_VIEW_PREVENT_UPDATE, &[&by, &verb, &name]),
        None => SqlError::new(&ER_UPDATE_TABLE_USED, &[&name, &verb]),
    }
}
