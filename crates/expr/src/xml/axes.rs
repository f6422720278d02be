//! Steps from nodes to nodes along the axes.
//!
//! Compat: `Parent` and `Ancestor` give every node once, numbered over the whole result. The other
//! axes number the nodes anew for each starting node, and may give a node twice.

use selkie_meter::tick;

use super::document::{Document, NodeKind};
use super::path::Axis;

/// A node in a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its number in the document.
    pub(crate) node: usize,
    /// Its position in its group, from 0.
    pub(crate) place: usize,
    /// Number of nodes in the group; 0 if unknown.
    pub(crate) size: usize,
}

impl Item {
    pub(super) fn new(node: usize, place: usize) -> Self {
        Self { node, place, size: 0 }
    }
}

/// The nodes a step leads to.
pub(super) fn step(
    document: &Document<'_>,
    from: &[Item],
    axis: Axis,
    name: Option<&[u8]>,
) -> Vec<Item> {
    let named = |node: usize| name.is_none_or(|name| document.name(node) == name);
    match axis {
        Axis::Parent => parents(document, from, named),
        Axis::Ancestor | Axis::AncestorOrSelf => {
            ancestors(document, from, axis == Axis::AncestorOrSelf, named)
        }
        Axis::Child | Axis::Attribute if from.len() > 1 => children(document, from, axis, named),
        _ => {
            let reached = from.iter().flat_map(|item| {
                let found = forward(document, item.node, axis).filter(|node| named(*node));
                found.enumerate().map(|(place, node)| Item::new(node, place)).collect::<Vec<_>>()
            });
            reached.collect()
        }
    }
}

/// The children or attributes of several nodes, parent after parent. One pass over the document
/// finds them all: looking below each node would take quadratic time in a deep document.
fn children(
    document: &Document<'_>,
    from: &[Item],
    axis: Axis,
    named: impl Fn(usize) -> bool,
) -> Vec<Item> {
    let kind = if axis == Axis::Child { NodeKind::Element } else { NodeKind::Attribute };
    let mut below: Vec<Option<Vec<usize>>> = vec![None; document.nodes.len()];
    for item in from {
        below[item.node] = Some(Vec::new());
    }
    for (at, node) in document.nodes.iter().enumerate().skip(1) {
        tick(8);
        if let Some(list) = below[node.parent].as_mut().filter(|_| node.kind == kind && named(at)) {
            list.push(at);
        }
    }
    let lists = from.iter().filter_map(|item| below[item.node].as_ref());
    lists
        .flat_map(|list| list.iter().enumerate().map(|(place, at)| Item::new(*at, place)))
        .collect()
}

/// Nodes reached from one node, in document order.
fn forward<'a>(
    document: &'a Document<'_>,
    from: usize,
    axis: Axis,
) -> impl Iterator<Item = usize> + 'a {
    let level = document.nodes[from].level;
    let own = matches!(axis, Axis::Itself | Axis::DescendantOrSelf);
    let within = (from + 1..document.nodes.len())
        .inspect(|_| tick(8))
        .take_while(move |at| document.nodes[*at].level > level && axis != Axis::Itself)
        .filter(move |at| {
            let node = &document.nodes[*at];
            match axis {
                Axis::Child => node.kind == NodeKind::Element && node.parent == from,
                Axis::Attribute => node.kind == NodeKind::Attribute && node.parent == from,
                _ => node.kind == NodeKind::Element,
            }
        });
    own.then_some(from).into_iter().chain(within)
}

fn parents(document: &Document<'_>, from: &[Item], named: impl Fn(usize) -> bool) -> Vec<Item> {
    let mut marked = vec![false; document.nodes.len()];
    for item in from {
        let parent = document.nodes[item.node].parent;
        marked[parent] |= named(parent);
    }
    numbered(&marked)
}

/// The ancestors of nodes; counted from the nearest. The root is no ancestor.
fn ancestors(
    document: &Document<'_>,
    from: &[Item],
    own: bool,
    named: impl Fn(usize) -> bool,
) -> Vec<Item> {
    let mut marked = vec![false; document.nodes.len()];
    for item in from {
        marked[item.node] |= own && named(item.node);
        let mut at = document.nodes[item.node].parent;
        while at != 0 {
            tick(8);
            marked[at] |= named(at);
            at = document.nodes[at].parent;
        }
    }
    let mut items = numbered(&marked);
    let count = items.len();
    items.iter_mut().for_each(|item| item.place = count - 1 - item.place);
    items
}

/// Marked nodes, in document order.
pub(super) fn numbered(marked: &[bool]) -> Vec<Item> {
    let nodes = (0..marked.len()).filter(|at| marked[*at]);
    nodes.enumerate().map(|(place, node)| Item::new(node, place)).collect()
}
