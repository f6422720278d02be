//! The head of a result set: how its columns are described to the client and how their values are
//! written. Kept with a prepared statement, it is made once for as long as the plan stays.

use std::cell::RefCell;
use std::sync::Arc;

use selkie_exec::Generations;
use selkie_plan::physical::OutputColumn;
use selkie_protocol::{Capabilities, Output};
use selkie_types::CollationId;

use super::metadata::column_def;
use super::rows::Encoder;

/// What a head depends on besides the columns.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Setting {
    /// The collation that columns are said to have, in the character set of results.
    pub(super) results: Option<CollationId>,
    pub(super) caps: Capabilities,
    /// Number of the packet of the first definition.
    pub(super) sequence: u8,
}

/// Describes the columns of a result.
#[derive(Debug)]
pub(super) struct Head {
    /// Of a plan. Another plan's cannot have their address as long as they are held here.
    planned: Option<Arc<[OutputColumn]>>,
    setting: Setting,
    pub(super) encoders: Vec<Encoder>,
    /// The packets of the definitions.
    pub(super) definitions: Output,
}

/// Heads in each generation of a thread.
const GENERATION: usize = 256;
/// Bytes of definitions up to which a head is kept.
const LARGEST: usize = 4 << 10;

thread_local! {
    /// Heads of plans by where the plan's columns lie: statements that share a plan share its head.
    static HEADS: RefCell<Generations<usize, Arc<Head>>> =
        const { RefCell::new(Generations::new(GENERATION)) };
}

impl Head {
    /// A head for a plan's columns, or the one that was made for them before.
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
        let encoders = columns.iter().map(|c| Encoder::new(&c.ty, charset)).collect();
        Self { planned: planned.cloned(), setting, encoders, definitions }
    }

    /// Whether this describes the columns of a plan under a setting.
    pub(super) fn is_of(&self, planned: &Arc<[OutputColumn]>, setting: &Setting) -> bool {
        self.planned.as_ref().is_some_and(|own| Arc::ptr_eq(own, planned))
            && self.setting == *setting
    }

    /// Whether a client that has this needs nothing of `other`.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.definitions.bytes() == other.definitions.bytes()
    }
}
