"""Statements as trees, so that they can be reduced and stay valid."""


class Node:
    """A piece of SQL: text and nodes in order.

    A node can be replaced by a node below it of the same `sort`. An
    optional node can be removed; a list (with a separator) can lose elements, but not
    its last one, unless its sort is `fixed`. A literal has the name of the `pool` it was chosen from."""

    pool = None

    def __init__(self, sort, parts, optional=False, separator=None):
        self.sort, self.parts, self.optional, self.separator = sort, list(parts), optional, separator

    def __str__(self):
        return (self.separator or "").join(map(str, self.parts))

    def copy(self):
        parts = [part.copy() if isinstance(part, Node) else part for part in self.parts]
        node = Node(self.sort, parts, self.optional, self.separator)
        node.pool = self.pool
        return node

    def below(self):
        """Returns all nodes below this one, nearer ones first."""
        level = [part for part in self.parts if isinstance(part, Node)]
        while level:
            yield from level
            level = [part for node in level for part in node.parts if isinstance(part, Node)]

    def become(self, other):
        self.sort, self.parts, self.optional, self.separator, self.pool = (
            other.sort, other.parts, other.optional, other.separator, other.pool)


def leaf(text, sort="expr"):
    return Node(sort, [text])


def listed(nodes, separator=", ", sort="list"):
    return Node(sort, nodes, separator=separator)


def optional(*parts):
    return Node("optional", parts, optional=True)


def smaller(root):
    """Returns every tree with one part less than this one."""
    for at, node in enumerate([root, *root.below()]):
        for changed in shrunk(node):
            tree = root.copy()
            [tree, *tree.below()][at].become(changed.copy())
            yield tree


def shrunk(node):
    """Returns replacements for this node, smallest first."""
    if node.optional and node.parts:
        yield Node(node.sort, [])
    if node.separator and node.sort != "fixed" and len(node.parts) > 1:
        half = len(node.parts) // 2
        if half > 1:
            yield Node(node.sort, node.parts[:half], node.optional, node.separator)
            yield Node(node.sort, node.parts[half:], node.optional, node.separator)
        for at in range(len(node.parts)):
            yield Node(node.sort, node.parts[:at] + node.parts[at + 1:], node.optional, node.separator)
    if node.sort in ("expr", "query", "join") and any(isinstance(part, Node) for part in node.parts):
        for inner in node.below():
            like = inner.sort == node.sort or node.sort == "join" and inner.sort == "table"
            if like and str(inner) != str(node):
                yield inner
        if node.sort == "expr":
            yield leaf("NULL")
            yield leaf("1")
