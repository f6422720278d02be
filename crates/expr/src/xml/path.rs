//! An XPath expression as a tree.

use selkie_types::SqlResult;

use super::parse::Parser;

/// How a step goes on from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Child,
    Attribute,
    Itself,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Descendant,
    DescendantOrSelf,
}

impl Axis {
    /// Compat: the axes MariaDB reads but does not know go to the children.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"ancestor" => Self::Ancestor,
            b"ancestor-or-self" => Self::AncestorOrSelf,
            b"attribute" => Self::Attribute,
            b"descendant" => Self::Descendant,
            b"descendant-or-self" => Self::DescendantOrSelf,
            b"parent" => Self::Parent,
            b"self" => Self::Itself,
            b"child" | b"following" | b"following-sibling" | b"namespace" | b"preceding"
            | b"preceding-sibling" => Self::Child,
            _ => return None,
        })
    }
}

/// Operators between scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The same with the operands exchanged.
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

/// Functions of scalars and nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Last,
    Not,
    Number,
    Position,
    Round,
    StringLength,
    Substring,
    Sum,
    True,
}

/// What an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Nodes,
    Truth,
    Scalar,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// The root of the document.
    Root,
    /// The node a predicate is asked about.
    Context,
    /// Nodes reached from others; any name without one.
    Step {
        from: Box<Tree>,
        axis: Axis,
        name: Option<Box<[u8]>>,
    },
    /// Nodes for which a condition holds.
    Filter {
        from: Box<Tree>,
        condition: Box<Tree>,
    },
    /// Nodes at a place.
    Index {
        from: Box<Tree>,
        index: Box<Tree>,
    },
    /// Nodes of both.
    Union(Box<Tree>, Box<Tree>),
    String(Box<[u8]>),
    Integer(i64),
    Double(f64),
    /// `$@name`, in lower case.
    UserVariable(Box<str>),
    /// `$name`: the argument that stands for it.
    Local(usize),
    Negate(Box<Tree>),
    Arithmetic(Operator, Box<Tree>, Box<Tree>),
    /// Whether it holds for a text of one of the nodes.
    CompareNodes(Comparison, Box<Tree>, Box<Tree>),
    Compare(Comparison, Box<Tree>, Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    /// Whether there are nodes, or a scalar is not zero.
    Truth(Box<Tree>),
    Call(Function, Vec<Tree>),
}

impl Tree {
    /// What it gives.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Root
            | Self::Context
            | Self::Step { .. }
            | Self::Filter { .. }
            | Self::Index { .. }
            | Self::Union(..) => Kind::Nodes,
            Self::CompareNodes(..)
            | Self::Compare(..)
            | Self::And(..)
            | Self::Or(..)
            | Self::Truth(_)
            | Self::Call(
                Function::True | Function::False | Function::Not | Function::Contains,
                _,
            ) => Kind::Truth,
            _ => Kind::Scalar,
        }
    }

    /// As the condition it is.
    pub(crate) fn truth(self) -> Self {
        if self.kind() == Kind::Truth { self } else { Self::Truth(self.into()) }
    }
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) tree: Tree,
}

impl Path {
    /// Parses an expression; `locals` are the names that `$name` may stand for.
    pub(crate) fn parse(text: &[u8], locals: &[&str]) -> SqlResult<Self> {
        Parser::new(text, locals).whole().map(|tree| Self { tree })
    }
}
