"""Chapters of sessions: each module has functions of a `Pen` that return statements which build on each other.

`CHAPTERS` lists them all. A chapter creates the objects it needs beside the related tables and names them after itself.
It must not depend on another chapter, nor on the order in which rows are read.
"""

from chapters import changing, definitions, loading, preparing, programs, reports, values

CHAPTERS = [chapter for module in (changing, definitions, loading, preparing, programs, reports, values)
            for chapter in module.CHAPTERS]
