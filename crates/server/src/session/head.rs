//! The head of a result set: the column definitions for the client, and the encoders of the values.
//! A prepared statement keeps its head as long as its plan does not change.
//!
//! Must not depend on anything but the columns and [`Setting`]: heads of plans are shared by
//! statements.

use std::cell::RefCell;
use std::sync::Arc;

use selkie_exec::Generations;
use selkie_plan::physical::OutputColumn;
use selkie_protocol::{Capabilities, Output};
use selkie_types::CollationId;

use super::metadata::column_def;
use super::rows::Encoder;

/// Everything a head depends on, besides the columns.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Setting {
    /// The collation announced for columns; it belongs to the character set of results.
    pub(super) results: Option<CollationId>,
    pub(super) caps: Capabilities,
    /// Packet number of the first definition.
    pub(super) sequence: u8,
}

/// Definitions and encoders of the columns of a result.
#[derive(Debug)]
pub(super) struct Head {
    /// The columns of a plan. The head holds them, so that another plan's columns cannot get their
    /// address.
    planned: Option<Arc<[OutputColumn]>>,
    setting: Setting,
    pub(super) encoders: Vec<Encoder>,
    /// The packets of the definitions.
    pub(super) definitions: Output,
}

/// Heads in each generation of a thread's cache.
const GENERATION: usize = 256;
/// Maximum bytes of definitions of a head that is cached.
const LARGEST: usize = 4 << 10;

thread_local! {
    /// Heads by the address of the plan's columns: statements that share a plan share its head.
    static HEADS: RefCell<Generations<usize, Arc<Head>>> =
        const { RefCell::new(Generations::new(GENERATION)) };
}

impl Head {
    /// The head for a plan's columns: a cached one, or a new one.
    pub(super) fn of_plan(planned: &Arc<[OutputColumn]>, setting: Setting) -> Arc<Self> {
        let place = planned.as_ptr().addr();
        HEADS.with_borrow_mut(|heads| {
            if let Some(head) = heads.find(&place).filter(|head| head.is_of(planned, &setting)) {
                return head.clone();
            }
            let head = Arc::new(Self::new(planned, Some(planned), setting));
            if head.definitions.len() <= LARGEST {
                heads.keep(place, head.clone());
            }
            head
        })
    }

    pub(super) fn new(
        columns: &[OutputColumn],
        planned: Option<&Arc<[OutputColumn]>>,
        setting: Setting,
    ) -> Self {
        let mut definitions = Output::new(setting.sequence);
        for column in columns {
            definitions.packet(|b| column_def(column, setting.results).encode(b, setting.caps));
        }
        let charset = setting.results.map(CollationId::charset);
        let encoders = columns.iter().map(|c| Encoder::of(c, charset)).collect();
        Self { planned: planned.cloned(), setting, encoders, definitions }
    }

    /// Whether this is the head for the columns of a plan with a setting.
    pub(super) fn is_of(&self, planned: &Arc<[OutputColumn]>, setting: &Setting) -> bool {
        self.planned.as_ref().is_some_and(|own| Arc::ptr_eq(own, planned))
            && self.setting == *setting
    }

    /// Whether a client that has this head does not need the definitions of `other`.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.definitions.bytes() == other.definitions.bytes()
    }
}
