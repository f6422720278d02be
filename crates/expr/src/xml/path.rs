//! An XPath expression as a tree.
//! Parsed once per call and evaluated for every row; it must not depend on a document.

use selkie_types::SqlResult;

use super::parse::Parser;

/// Direction of a step from a node.
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
    /// Compat: axes that MariaDB reads but does not implement lead to the children.
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

/// Comparison operators.
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
    /// The operator for exchanged operands.
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

/// Functions over scalars and nodes.
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

/// Kind of an expression's result.
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
    /// The node that a predicate is applied to.
    Context,
    /// Nodes reached from others; without a name, nodes of any name.
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
    /// The nodes at a position.
    Index {
        from: Box<Tree>,
        index: Box<Tree>,
    },
    /// Nodes of both operands.
    Union(Box<Tree>, Box<Tree>),
    String(Box<[u8]>),
    Integer(i64),
    Double(f64),
    /// `$@name`, in lower case.
    UserVariable(Box<str>),
    /// `$name`: number of the argument with its value.
    Local(usize),
    Negate(Box<Tree>),
    Arithmetic(Operator, Box<Tree>, Box<Tree>),
    /// Whether the comparison holds for the text of one of the nodes.
    CompareNodes(Comparison, Box<Tree>, Box<Tree>),
    Compare(Comparison, Box<Tree>, Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    /// Whether there are nodes, or a scalar is not zero.
    Truth(Box<Tree>),
    Call(Function, Vec<Tree>),
}

impl Tree {
    /// Kind of its result.
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

    /// The expression as a condition.
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
    /// Parses an expression; `locals` are the names that `$name` may use.
    pub(crate) fn parse(text: &[u8], locals: &[&str]) -> SqlResult<Self> {
        Parser::new(text, locals).whole().map(|tree| Self { tree })
    }
}
