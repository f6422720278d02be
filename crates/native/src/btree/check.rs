//! Checks the structure of a whole tree: levels, fences, order, allocation.
//!
//! Holds the structure mutex, so no page splits or merges meanwhile; each page is read under its
//! latch.

use super::node::Node;
use super::tree::Tree;
use crate::error::Result;
use crate::ids::PageNo;

/// Result of a check.
#[derive(Default)]
pub(crate) struct TreeReport {
    /// A text per fault.
    pub(crate) wrong: Vec<String>,
    /// Pages of the tree.
    pub(crate) pages: u64,
}

/// A walk that may stop early.
struct CheckWalk<'a> {
    stops: &'a dyn Fn() -> bool,
    report: TreeReport,
}

impl Tree {
    /// Checks the structure. Entries may change meanwhile, the structure cannot.
    pub(crate) fn check(&self) -> Result<TreeReport> {
        self.check_until(&|| false)
    }

    /// As [`Self::check`], but ends when `stops` returns true; the report is then incomplete.
    pub(crate) fn check_until(&self, stops: &dyn Fn() -> bool) -> Result<TreeReport> {
        let _structure = self.structure.lock();
        let mut walk = CheckWalk { stops, report: TreeReport::default() };
        self.check_page(self.root, None, &[], None, &mut walk)?;
        Ok(walk.report)
    }

    fn check_page(
        &self,
        page: PageNo,
        level: Option<u8>,
        lower: &[u8],
        upper: Option<&[u8]>,
        walk: &mut CheckWalk<'_>,
    ) -> Result<()> {
        if (walk.stops)() {
            return Ok(());
        }
        let report = &mut walk.report;
        let id = self.page_id(page);
        if !self.storage.space().is_allocated(&self.storage, id)? {
            report.wrong.push(format!("{id} is used but not allocated"));
        }
        let children = {
            let guard = self.storage.pool().shared(id)?;
            let node = Node::new(&guard[..]);
            report.pages += 1;
            if let Some(wrong) = fault(node, level, lower, upper) {
                report.wrong.push(format!("{id}: {wrong}"));
                return Ok(());
            }
            match node.is_leaf() {
                Some(false) => (0..node.count()).map(|at| (node.key(at), node.child(at))).collect(),
                _ => Vec::new(),
            }
        };
        let below = level.map_or_else(|| self.root_level(), Ok)?.checked_sub(1);
        for (at, (key, child)) in children.iter().enumerate() {
            let end = children.get(at + 1).map(|(next, _)| &next[..]).or(upper);
            self.check_page(*child, below, key, end, walk)?;
        }
        Ok(())
    }

    fn root_level(&self) -> Result<u8> {
        let guard = self.storage.pool().shared(self.page_id(self.root))?;
        Ok(Node::new(&guard[..]).level())
    }
}

fn fault(
    node: Node<'_>,
    level: Option<u8>,
    lower: &[u8],
    upper: Option<&[u8]>,
) -> Option<&'static str> {
    if node.is_leaf() != Some(node.level() == 0) || level.is_some_and(|l| l != node.level()) {
        return Some("wrong level");
    }
    if node.lower() != lower || node.upper() != upper {
        return Some("fences do not fit the parent");
    }
    let keys: Vec<Vec<u8>> = (0..node.count()).map(|at| node.key(at)).collect();
    if !keys.is_sorted_by(|a, b| a < b) {
        return Some("keys out of order");
    }
    if keys.iter().any(|key| !node.contains(key)) {
        return Some("key outside the fences");
    }
    if keys.iter().enumerate().any(|(at, key)| node.search(key) != Ok(at)) {
        return Some("key not found by search");
    }
    (node.level() > 0 && keys.first().is_none_or(|first| first != lower))
        .then_some("first child does not start at the lower fence")
}
