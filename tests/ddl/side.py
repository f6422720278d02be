"""A short history of one table that is temporary or of another engine, in one session; it is dropped at the end.

Such tables have no foreign keys and no triggers, and a failed statement may leave some of its rows, so statements that
would fail are left out.
"""

from changes import AROUND
from model import World

KINDS = [("TEMPORARY ", "ENGINE=InnoDB"), ("", "ENGINE=MyISAM"), ("", "ENGINE=Aria"), ("", "ENGINE=MEMORY"),
         ("TEMPORARY ", "ENGINE=MyISAM")]
# Errors: a key is too long for the engine; the engine cannot make the change in place.
REFUSED = {1071, 1845, 1846, 1910}
STEPS = 8


def run(history):
    """Replaces the history's changes for the time of the side history."""
    word, options = history.rng.choice(KINDS)
    others, sessions = history.world, history.sessions
    history.world, history.sessions = World(), [history.connect() for _ in range(1)] * 3
    history.changes.around = 0
    try:
        steps(history, word, options)
    finally:
        history.sessions[0].close()
        history.world, history.sessions = others, sessions
        history.changes.around = AROUND


def steps(history, word, options):
    change = history.changes.create(history.world, 0)
    (name,) = change.tables
    table = change.world.tables[name]
    if "MEMORY" in options and any(c.ty == "TEXT" for c in table.columns):
        return
    change.sql = f"CREATE {word}TABLE `{name}` {table.sql(options)}"
    change.may |= REFUSED
    history.run(change)
    if name not in history.world.tables:
        return
    for _ in range(STEPS):
        change = history.rows_change(name)
        if history.rng.random() < 0.6:
            change = history.rng.choice([history.changes.alter, history.changes.index_statement])(history.world, name)
        text = any(c.ty == "TEXT" for c in change.world.tables[name].columns)
        if change.fails or text and "MEMORY" in options:
            continue
        change.may |= REFUSED
        history.run(change)
        history.verify(name)
    history.log.append(f"DROP TABLE `{name}`")
    history.query(f"DROP TABLE `{name}`")
