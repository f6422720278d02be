//! Units and SELECTs of a statement while it is bound. They have no effect on the plan but for the
//! marks that EXPLAIN reads.

use std::fmt::Display;

use hashbrown::HashMap;
use selkie_types::Condition;
use selkie_types::error::catalogue::{ER_WARN_AGGFUNC_DEPENDENCE, ER_WARN_FIELD_RESOLVED};

use super::{ColumnId, Logical};
use crate::physical::{Unit, UnitKind, UnitTables};

/// Number of a unit; 0 is the statement's own.
pub(crate) type UnitId = usize;

/// Place of a SELECT: the number of its text, and its position in that text.
pub(crate) type Place = (u32, u32);

/// The way to a name through the blocks around it, the outermost first: for each the clause, as a
/// number in the order of MariaDB, and the number of the block.
pub(crate) type Steps = Vec<(u32, u32)>;

/// A name or an aggregate of a SELECT that belongs to a block around it.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// Its text.
    pub name: ResolvedName,
    /// The SELECT that contains it.
    pub inside: Option<Place>,
    /// The SELECT to which it belongs; `None` for other blocks.
    pub within: Option<Place>,
    /// The way to it.
    pub steps: Steps,
}

/// A name or an aggregate that belongs to a block around it.
#[derive(Clone, Debug)]
pub(crate) enum ResolvedName {
    /// A column or an entry of the select list.
    Column(String),
    /// An aggregate, up to its first argument.
    Aggregate(String),
}

/// The units of a statement.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    all: Vec<BoundUnit>,
    current: UnitId,
    /// The SELECT being bound.
    select: Option<Place>,
    /// Number of the text being bound, and of texts so far. The statement's is 0; each view, and
    /// each common table that is read again, is one.
    text: u32,
    texts: u32,
    /// Position of the query whose first SELECT is bound next. Compat: a SELECT behind WITH comes
    /// before those inside it.
    begins: Option<u32>,
    /// Names of the columns of kept tables.
    names: HashMap<ColumnId, Box<str>>,
    /// Subqueries that their values replace.
    reduced: Vec<UnitId>,
    /// SELECTs whose HAVING is never true.
    impossible: Vec<Place>,
    /// Names and aggregates that belong to blocks around them, if the plan is for EXPLAIN.
    pub resolved: Vec<Resolved>,
    /// Number of blocks so far.
    blocks: u32,
    /// Whether a unit inside the statement may have rows of its own, and whether a table has.
    inner: bool,
    kept: bool,
    /// Kept tables on whose rows conditions around them are tested, if the plan is for EXPLAIN.
    pub tested: Vec<UnitId>,
    /// Compat: whether `optimizer_switch` denies keys to kept tables.
    pub keyless: bool,
}

/// A unit while it is bound.
#[derive(Clone, Debug)]
struct BoundUnit {
    kind: UnitKind,
    alias: Box<str>,
    parent: UnitId,
    within: Option<Place>,
    selects: Vec<Place>,
    output: Vec<ColumnId>,
    sorted: bool,
}

/// State to return to.
#[derive(Clone, Copy)]
pub(crate) struct Around {
    unit: UnitId,
    select: Option<Place>,
    text: u32,
    begins: Option<u32>,
}

impl Default for Units {
    fn default() -> Self {
        let own = BoundUnit {
            kind: UnitKind::Statement,
            alias: "".into(),
            parent: 0,
            within: None,
            selects: Vec::new(),
            output: Vec::new(),
            sorted: false,
        };
        Self {
            all: vec![own],
            current: 0,
            select: None,
            text: 0,
            texts: 0,
            begins: None,
            names: HashMap::new(),
            reduced: Vec::new(),
            impossible: Vec::new(),
            resolved: Vec::new(),
            blocks: 0,
            inner: false,
            kept: false,
            tested: Vec::new(),
            keyless: false,
        }
    }
}

impl Units {
    /// The unit being bound.
    pub(crate) fn current(&self) -> UnitId {
        self.current
    }

    fn around(&self) -> Around {
        let (unit, select) = (self.current, self.select);
        Around { unit, select, text: self.text, begins: self.begins }
    }

    /// Begins a unit.
    pub(crate) fn open(&mut self, kind: UnitKind, alias: &str) -> Around {
        let around = self.around();
        self.all.push(BoundUnit {
            kind,
            alias: alias.into(),
            parent: self.current,
            within: self.select,
            selects: Vec::new(),
            output: Vec::new(),
            sorted: false,
        });
        self.current = self.all.len() - 1;
        self.inner |= kind != UnitKind::Merged;
        self.begins = None;
        around
    }

    /// Begins the unit of common tables that read each other.
    pub(crate) fn open_group(&mut self) -> Around {
        self.open(UnitKind::Merged, "")
    }

    /// As [`Self::open`], for a unit with a text of its own.
    pub(crate) fn open_text(&mut self, kind: UnitKind, alias: &str) -> Around {
        let around = self.open(kind, alias);
        self.texts += 1;
        self.text = self.texts;
        around
    }

    /// Ends a unit and returns its number.
    pub(crate) fn close(&mut self, around: Around) -> UnitId {
        let unit = self.current;
        (self.current, self.select) = (around.unit, around.select);
        (self.text, self.begins) = (around.text, around.begins);
        unit
    }

    /// Notes that the rows of a unit are kept, and the names of its columns.
    pub(crate) fn keep(&mut self, unit: UnitId, plan: &Logical, columns: &[(Box<str>, ColumnId)]) {
        self.all[unit].kind = UnitKind::Kept;
        (self.inner, self.kept) = (true, true);
        self.all[unit].output = columns.iter().map(|(_, id)| *id).collect();
        let below = |id: ColumnId| match plan {
            Logical::Project { columns, .. } => {
                let (_, e) = columns.iter().find(|(own, _)| *own == id)?;
                e.as_column()
            }
            _ => None,
        };
        for (name, id) in columns {
            self.names.insert(*id, name.clone());
            self.names.extend(below(*id).map(|below| (below, name.clone())));
        }
    }

    /// Notes that its value replaces a subquery.
    pub(crate) fn reduce(&mut self, unit: UnitId) {
        self.reduced.push(unit);
    }

    /// Numbers of the SELECTs that their values replace.
    pub(crate) fn reduced(&self) -> Vec<u64> {
        let units = if self.reduced.is_empty() { Vec::new() } else { self.numbered() };
        self.reduced.iter().filter_map(|unit| units[*unit].numbers.first().copied()).collect()
    }

    /// Place of the SELECT being bound.
    pub(crate) fn place(&self) -> Option<Place> {
        self.select
    }

    /// The number of a block that begins.
    pub(crate) fn next_block(&mut self) -> u32 {
        self.blocks += 1;
        self.blocks
    }

    /// Notes about what belongs to blocks around it, in MariaDB's order.
    pub(crate) fn resolved(&self) -> Vec<Condition> {
        let mut resolved: Vec<&Resolved> = self.resolved.iter().collect();
        if resolved.is_empty() {
            return Vec::new();
        }
        resolved.sort_by(|a, b| a.steps.cmp(&b.steps));
        let number = self.numbers();
        // Compat: the result of a union has no number.
        let other = if self.all[0].selects.is_empty() { 1 } else { -1 };
        let number = |place: &Option<Place>| match place {
            Some(place) => number(place) as i64,
            None => other,
        };
        let note = |resolved: &&Resolved| {
            let (inside, within) = (number(&resolved.inside), number(&resolved.within));
            match &resolved.name {
                ResolvedName::Column(name) => {
                    let parts: [&dyn Display; 7] = [name, &"", &"", &"", &"", &inside, &within];
                    Condition::note(&ER_WARN_FIELD_RESOLVED, &parts)
                }
                ResolvedName::Aggregate(name) => {
                    Condition::note(&ER_WARN_AGGFUNC_DEPENDENCE, &[name, &inside, &within])
                }
            }
        };
        resolved.iter().map(note).collect()
    }

    /// Notes that HAVING of the SELECT being bound is never true.
    pub(crate) fn has_no_groups(&mut self) {
        self.impossible.extend(self.select);
    }

    /// Numbers of the SELECTs whose HAVING is never true.
    pub(crate) fn impossible(&self) -> Vec<u64> {
        if self.impossible.is_empty() {
            return Vec::new();
        }
        let number = self.numbers();
        self.impossible.iter().map(number).collect()
    }

    /// Another use of a kept unit, under an alias, after `before` others.
    pub(crate) fn read_again(&mut self, unit: UnitId, alias: &str, before: usize) -> UnitId {
        let mut copy = self.all[unit].clone();
        (copy.parent, copy.within) = (self.current, self.select);
        copy.alias = alias.into();
        if before > 0 {
            self.texts += 1;
            copy.selects.iter_mut().for_each(|(text, _)| *text = self.texts);
        }
        self.all.push(copy);
        self.all.len() - 1
    }

    /// Gives a unit that reads another its columns.
    pub(crate) fn name_columns(&mut self, unit: UnitId, names: &[Box<str>], ids: &[ColumnId]) {
        self.all[unit].output = ids.to_vec();
        self.names.extend(ids.iter().copied().zip(names.iter().cloned()));
    }

    /// Notes where a query with WITH begins.
    pub(crate) fn begin_with(&mut self, start: u32) -> Option<u32> {
        self.begins.replace(start)
    }

    /// The first SELECT bound next is that of a query that begins there.
    pub(crate) fn end_with(&mut self, begins: Option<u32>) {
        self.begins = begins;
    }

    /// Begins a SELECT of the current unit; returns the one to return to.
    pub(crate) fn select(&mut self, start: u32) -> Around {
        let around = Around { begins: None, ..self.around() };
        let place = (self.text, self.begins.take().unwrap_or(start));
        let selects = &mut self.all[self.current].selects;
        if selects.last() != Some(&place) {
            selects.push(place);
        }
        self.select = Some(place);
        around
    }

    /// Notes by how many keys the combined rows of the current unit are sorted. The last one
    /// counts: that of the outermost parentheses.
    pub(crate) fn sort_combined(&mut self, keys: usize) {
        self.all[self.current].sorted = keys > 0;
    }

    /// Whether a unit is a part of ORDER BY behind the combined SELECTs of its parent.
    fn orders_parent(&self, unit: &BoundUnit) -> bool {
        let selects = &self.all[unit.parent].selects;
        selects.len() > 1 && !unit.within.is_some_and(|within| selects.contains(&within))
    }

    /// Ends a SELECT.
    pub(crate) fn end_select(&mut self, around: Around) {
        self.select = around.select;
    }

    /// Whether a unit inside the statement may have rows of its own.
    pub(crate) fn has_inner(&self) -> bool {
        self.inner
    }

    /// Whether the rows of any table are kept.
    pub(crate) fn has_kept(&self) -> bool {
        self.kept
    }

    /// The mark of a node that a unit made, with these columns.
    pub(crate) fn mark(&self, unit: UnitId, layout: &[ColumnId]) -> UnitTables {
        let names = layout.iter().map(|id| self.names.get(id).cloned()).collect();
        UnitTables { units: vec![unit], alias: "".into(), names }
    }

    /// Alias of a unit.
    pub(crate) fn alias(&self, unit: UnitId) -> Box<str> {
        self.all[unit].alias.clone()
    }

    /// The kept units between `home` and `unit`, the outermost first; none if `unit` is not within.
    /// `whole`: the unit all of whose rows a node gives; it may be a subquery too.
    pub(crate) fn kept_between(
        &self,
        home: UnitId,
        unit: UnitId,
        whole: Option<UnitId>,
    ) -> Vec<UnitId> {
        let (mut kept, mut at) = (Vec::new(), unit);
        while at != home && at != 0 {
            let stands = match self.all[at].kind {
                UnitKind::Kept => true,
                UnitKind::Subquery | UnitKind::Compared => whole == Some(at),
                UnitKind::Statement | UnitKind::Merged => false,
            };
            kept.extend(stands.then_some(at));
            at = self.all[at].parent;
        }
        if at != home {
            return Vec::new();
        }
        kept.reverse();
        kept
    }

    /// The nearest unit that contains both.
    pub(crate) fn common(&self, a: UnitId, b: UnitId) -> UnitId {
        let mut above = vec![a];
        let mut at = a;
        while at != 0 {
            at = self.all[at].parent;
            above.push(at);
        }
        let mut at = b;
        while !above.contains(&at) {
            at = self.all[at].parent;
        }
        at
    }

    /// Columns of kept tables, with their tables.
    pub(crate) fn kept_columns(&self) -> HashMap<ColumnId, UnitId> {
        let kept = self.all.iter().enumerate().filter(|(_, unit)| unit.kind == UnitKind::Kept);
        kept.flat_map(|(at, unit)| unit.output.iter().map(move |id| (*id, at))).collect()
    }

    /// The units with the numbers of their SELECTs; none if the statement has only its own and
    /// there is nothing to tell of it.
    pub(crate) fn numbered(&self) -> Vec<Unit> {
        if self.all.len() == 1 && !self.all[0].sorted {
            return Vec::new();
        }
        let number = self.numbers();
        let unit = |(at, unit): (usize, &BoundUnit)| Unit {
            kind: unit.kind,
            numbers: unit.selects.iter().map(&number).collect(),
            within: match &unit.within {
                Some(place) => number(place),
                None if at == 0 => 0,
                None => 1,
            },
            orders: (at > 0 && self.orders_parent(unit)).then_some(unit.parent),
            sorted: unit.sorted,
            tested: self.tested.contains(&at),
            has_keys: unit.kind != UnitKind::Kept || !self.keyless,
        };
        self.all.iter().enumerate().map(unit).collect()
    }

    /// The numbers of the SELECTs by their places.
    fn numbers(&self) -> impl Fn(&Place) -> u64 {
        let mut places: Vec<Place> = self.all.iter().flat_map(|u| &u.selects).copied().collect();
        places.sort_unstable();
        places.dedup();
        // Compat: a statement without a SELECT of its own still has the first number.
        let first = if self.all[0].selects.is_empty() { 2 } else { 1 };
        move |place| places.binary_search(place).map_or(0, |at| at as u64 + first)
    }
}
