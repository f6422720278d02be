"""Random sessions: statements that build on each other, as applications, administrators and reports send them.

A session is a list of statements, so that any of them can be removed. Each result is compared, and so are the tables.
"""

from chapters import CHAPTERS
from chapters.pen import Pen
from tree import listed


def session(relations):
    """Returns one chapter or two."""
    pen = Pen(relations)
    found = []
    for chapter in relations.random.sample(CHAPTERS, relations.random.choice([1, 1, 2])):
        relations.ctes = []
        found += chapter(pen)
    return listed(found, ";\n", "session")
