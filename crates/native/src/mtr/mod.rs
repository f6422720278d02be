//! Mini-transactions: the unit of page changes. A mini-transaction latches pages, changes them,
//! collects records of the changes, and commits them as one log group, which recovery applies
//! wholly or not at all (I2). It must not know transactions: those consist of mini-transactions.

mod commit;
mod edit;
mod ride;

pub(crate) use edit::{Mtr, PageSlot};

use crate::error::Result;
use crate::ids::PageId;

/// The page owner's part of physiological logging: `Mtr::op` calls it when a change is made and
/// recovery when it is redone, so both do the same.
pub(crate) trait PageRedo: Send + Sync {
    /// Applies operation `op` with arguments `payload` to the page. The result must depend on
    /// nothing but the arguments. An error means that page and log do not fit together: corruption.
    fn apply(&self, page_id: PageId, op: u8, page: &mut [u8], payload: &[u8]) -> Result<()>;
}
