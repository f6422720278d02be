"""Shortens a schedule that two servers answer differently, as far as possible."""

import re
import threading


def both(servers, lines):
    """Returns the notes of both servers, played at the same time."""
    notes = [None, None]

    def play(at):
        notes[at] = servers[at].play(lines)

    threads = [threading.Thread(target=play, args=(at,)) for at in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if None in notes:
        raise RuntimeError(f"server {notes.index(None)} did not play to the end")
    return notes


def differs(servers, lines, times=1):
    """Returns whether the first server repeats its answers and the second server's answers differ."""
    first, second = both(servers, lines)
    if first == second:
        return False
    return all(both(servers, lines) == [first, second] for _ in range(times))


def shorter(lines):
    """Returns schedules with one part less: halves, single lines, parts of a table, conditions, hints."""
    size = len(lines) // 2
    while size >= 1:
        for at in range(0, len(lines), size):
            rest = lines[:at] + lines[at + size:]
            if rest:
                yield rest
        size //= 2
    for at, line in enumerate(lines):
        for simpler in simpler_lines(line):
            yield lines[:at] + [simpler] + lines[at + 1:]


def simpler_lines(line):
    if "CREATE TABLE" in line:
        for part in re.findall(r", (?:UNIQUE KEY|KEY|PRIMARY KEY|FOREIGN KEY) .*?\)(?= ENGINE|, |\) ENGINE| REF)", line):
            if not part.startswith(", FOREIGN"):
                yield line.replace(part, "", 1)
        yield re.sub(r", FOREIGN KEY.*(?=\) ENGINE)", "", line)
        yield re.sub(r" ON DELETE.*(?=\) ENGINE)", "", line)
        yield line.replace("a INT NOT NULL", "a INT")
    patterns = [r" AND v = [01]$", r" AND v = [01](?= )", r" ORDER BY \w+( DESC)?", r" DESC",
                r" LIMIT 1", r" NOWAIT| SKIP LOCKED", r", \([^)]*\)(?= |$)", r" WITH CONSISTENT SNAPSHOT", r" IGNORE"]
    for pattern in patterns:
        yield re.sub(pattern, "", line)
    yield re.sub(r"(?<=LEVEL )(READ UNCOMMITTED|SERIALIZABLE|READ COMMITTED)", "REPEATABLE READ", line)
    yield re.sub(r" \w+ = .*(?= WHERE)", " v = v + 1", line) if "UPDATE" in line else line


def reduced(servers, lines, deadline):
    """Returns the shortest schedule found; the search ends when `deadline()` is true."""
    found = True
    while found and not deadline():
        found = False
        for candidate in shorter(lines):
            if deadline():
                break
            if candidate != lines and differs(servers, candidate):
                lines, found = candidate, True
                break
    return lines
