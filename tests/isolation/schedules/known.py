"""Intended differences and those not worth more work; docs/compatibility.md lists them for users.

Each is recognised by the end of the shortened schedule: its last line and the notes of both servers.
"""

import re


def known(lines, notes):
    """Returns the reason why a shortened schedule differs, if it is known."""
    at = next(at for at, (theirs, ours) in enumerate(zip(*notes)) if theirs != ours)
    theirs, ours = notes[0][at], notes[1][at]
    reasons = [insert_select, unlocked, victim, parents, newer_duplicate]
    return next((reason.__doc__ for reason in reasons if reason(lines, theirs, ours)), None)


def insert_select(lines, theirs, ours):
    """the source of INSERT ... SELECT is read without locks"""
    return any(re.match(r"\w: (INSERT|INSERT IGNORE|REPLACE) INTO \w SELECT", line) for line in lines)


def unlocked(lines, theirs, ours):
    """rows that are read by a secondary index and not used are unlocked at READ COMMITTED"""
    other = "B" if theirs[0][0] == "A" else "A"
    low = any(line.startswith(f"{other}: SET") and "COMMITTED" in line for line in lines)
    read = any(re.match(rf"{other}: (SELECT|UPDATE|DELETE)", line) for line in lines)
    return low and read and theirs[1] == "waits" and ours[1] != "waits"


def victim(lines, theirs, ours):
    """another victim of a deadlock: some rows are locked before the first one is changed"""
    return all("error 1213" in " ".join(notes) for notes in (theirs, ours))


def parents(lines, theirs, ours):
    """parents are looked for before duplicates, and for all rows of an INSERT"""
    child = any(re.match(r"\w: (INSERT|REPLACE)( IGNORE)? INTO c", line) for line in lines)
    return child and "REFERENCES" in lines[1] and theirs[1] != "waits" and ours[1] == "waits"


def newer_duplicate(lines, theirs, ours):
    """a newer duplicate at SERIALIZABLE with innodb_snapshot_isolation"""
    return "error 1020" in theirs[1] and re.match(r"\w: (INSERT|REPLACE)", theirs[0]) is not None
