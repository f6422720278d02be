//! Mini-transactions: the unit of change of pages. A mini-transaction latches pages, changes them,
//! collects the records that describe the changes, and commits all of them as one log group, which
//! recovery applies wholly or not at all (I2). It knows nothing about transactions: those consist
//! of mini-transactions.

mod commit;
mod edit;

pub(crate) use edit::{Mtr, PageSlot};

use crate::error::Result;
use crate::ids::PageId;

/// The page owner's half of physiological logging: `Mtr::op` runs it when the change is made,
/// recovery when it is redone, so both do the same.
pub(crate) trait PageRedo: Send + Sync {
    /// Applies operation `op` with arguments `payload` to the page. Must depend on nothing but its
    /// arguments. An error means that page and log do not fit together: corruption.
    fn apply(&self, page_id: PageId, op: u8, page: &mut [u8], payload: &[u8]) -> Result<()>;
}
