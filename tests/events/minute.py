"""Events under kill -9, restarts and a scheduler that is switched off and on, beside a MariaDB.

An event of every second, one of every three seconds and one-time events write what they did. Both
servers go through the same seconds: kill -9 and restart, OFF and ON, ALTER, DROP. Then, on each:

* no due time has run twice, and none of a time when the scheduler was off or the server down,
  except one-time events, which run late;
* recurring events kept their phase;
* what is in `mysql.event` at the end is the same on both.

In the end, events are created while the scheduler starts, and none may run twice at once.

usage: minute.py BINARY [--seconds N] [--alone]
"""

import argparse
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from beside_mariadb import MariaDb  # noqa: E402
from selkie import Server  # noqa: E402

SETUP = """
CREATE DATABASE ev; USE ev;
CREATE TABLE runs (n INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), due INT, at TIMESTAMP(6) DEFAULT NOW(6)) ENGINE=InnoDB;
CREATE EVENT second ON SCHEDULE EVERY 1 SECOND DO INSERT INTO ev.runs (name) VALUES ('second');
CREATE EVENT third ON SCHEDULE EVERY 3 SECOND STARTS '2020-01-01 00:00:01' DO INSERT INTO ev.runs (name) VALUES ('third');
CREATE EVENT slow ON SCHEDULE EVERY 2 SECOND DO BEGIN INSERT INTO ev.runs (name) VALUES ('slow'); DO SLEEP(3); END;
CREATE EVENT fails ON SCHEDULE EVERY 1 SECOND DO SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'it fails';
CREATE EVENT off ON SCHEDULE EVERY 1 SECOND DISABLE DO INSERT INTO ev.runs (name) VALUES ('off');
"""


def run(server, text):
    connection = server.connect()
    try:
        cursor = connection.cursor()
        for statement in text.split(";\n"):
            if statement.strip():
                cursor.execute(statement)
        return cursor.fetchall()
    finally:
        connection.close()


def rows(server, text):
    return run(server, text)


class Drill:
    """What happens to a server, second by second; the times at which nothing may run."""

    def __init__(self, server):
        self.server, self.pauses, self.once = server, [], 0

    def begin(self):
        self.server.start()
        setup = SETUP.replace("; USE ev;", ";\nUSE ev;")
        run(self.server, setup)

    def later(self, seconds, keep):
        self.once += 1
        kept = "ON COMPLETION PRESERVE" if keep else ""
        run(self.server, f"CREATE EVENT ev.once{self.once} ON SCHEDULE AT NOW() + INTERVAL {seconds} SECOND {kept} "
                         f"DO INSERT INTO ev.runs (name) VALUES ('once{self.once}')")

    def crash(self, down):
        self.server.kill()
        begun = time.time()
        time.sleep(down)
        ended = time.time()
        self.server.start()
        self.pauses.append((begun, ended))

    def switch_off(self, seconds):
        run(self.server, "SET GLOBAL event_scheduler = OFF")
        begun = time.time()
        time.sleep(seconds)
        self.pauses.append((begun, time.time()))
        run(self.server, "SET GLOBAL event_scheduler = ON")

    def alter(self):
        run(self.server, "ALTER EVENT ev.second COMMENT 'changed';\nALTER EVENT ev.off RENAME TO ev.off2;\nALTER EVENT ev.off2 RENAME TO ev.off")

    def end(self):
        run(self.server, "SET GLOBAL event_scheduler = OFF")
        time.sleep(3.5)


def go_through(drills, seconds, seed):
    rng = random.Random(seed)
    for drill in drills:
        drill.begin()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(rng.uniform(0.8, 2.5))
        what, length, keep = rng.choice(["crash", "off", "once", "once", "alter"]), rng.uniform(0.3, 3), rng.random() < 0.5
        for drill in drills:
            match what:
                case "crash":
                    drill.later(1, keep)
                    drill.crash(length)
                case "off":
                    drill.later(1, keep)
                    drill.switch_off(length)
                case "once":
                    drill.later(rng.choice([1, 2]), keep)
                case _:
                    drill.alter()
    time.sleep(3)
    for drill in drills:
        drill.end()


def check(name, drill):
    """The faults of what ran."""
    faults, seen = [], {}
    for event, at in rows(drill.server, "SELECT name, UNIX_TIMESTAMP(at) FROM ev.runs ORDER BY n"):
        seen.setdefault(event, []).append(float(at))
    if seen.get("off"):
        faults.append(f"{name}: a disabled event ran")
    for number in range(1, drill.once + 1):
        times = seen.get(f"once{number}", [])
        if len(times) > 1:
            faults.append(f"{name}: once{number} ran {len(times)} times")
        elif not times and name == "MariaDB":
            # It loses runs of threads that a crash ends.
            pass
    for event, interval in (("second", 1), ("third", 3), ("slow", 2)):
        times = seen.get(event, [])
        if len(times) < 3:
            faults.append(f"{name}: {event} ran {len(times)} times")
        for before, after in zip(times, times[1:]):
            # A run begins up to some tenths of a second after its due time.
            if int(after) == int(before) and interval > 1:
                faults.append(f"{name}: {event} ran twice in the second {int(after)}")
        for at in times:
            if any(begun + 0.5 < at < ended for begun, ended in drill.pauses):
                faults.append(f"{name}: {event} ran at {at}, when nothing should run")
    per_second = {}
    for at in seen.get("second", []):
        per_second[int(at)] = per_second.get(int(at), 0) + 1
    faults += [f"{name}: second ran {count} times in {at}" for at, count in per_second.items() if count > 2]
    third = {int(at) % 3 for at in seen.get("third", [])}
    if len(third) > 2:
        faults.append(f"{name}: third lost its phase: {third}")
    print(f"{name}: " + ", ".join(f"{event} {len(times)}" for event, times in sorted(seen.items()) if event[:4] != "once")
          + f", {sum(event.startswith('once') for event in seen)} of {drill.once} once")
    return faults


def created_while_it_starts(server):
    """The scheduler that starts loads an event, whose CREATE announces it too: it runs once all the same."""
    for number in range(150):
        run(server, "SET GLOBAL event_scheduler = OFF;\nSET GLOBAL event_scheduler = ON;\n"
                    f"CREATE EVENT ev.new{number} ON SCHEDULE EVERY 10 HOUR DO INSERT INTO ev.runs (name) VALUES ('new{number}')")
    time.sleep(1.5)
    ran = rows(server, "SELECT name, COUNT(*) FROM ev.runs WHERE name LIKE 'new%' GROUP BY name")
    if len(ran) < 30:
        return [f"only {len(ran)} of 150 new events ran"]
    return [f"{name} ran {count} times" for name, count in ran if count > 1]


STATE = ("SELECT name, status, on_completion, interval_value, execute_at IS NULL, last_executed IS NULL, comment FROM mysql.event "
         "WHERE db = 'ev' ORDER BY name")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--alone", action="store_true", help="without MariaDB")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    drills = {"Selkie": Drill(Server(arguments.binary, options=["--event-scheduler=ON"]))}
    if not arguments.alone:
        drills["MariaDB"] = Drill(MariaDb(options=["--event-scheduler=ON"]))
    try:
        go_through(drills.values(), arguments.seconds, arguments.seed)
        faults = [fault for name, drill in drills.items() for fault in check(name, drill) if name == "Selkie"]
        if "MariaDB" in drills:
            states = {name: rows(drill.server, STATE) for name, drill in drills.items()}
            if states["Selkie"] != states["MariaDB"]:
                faults.append("mysql.event differs:\n" + "\n".join(f"{name}: {state}" for name, state in states.items()))
        log = drills["Selkie"].server.log()
        if "[Note] Event Scheduler: [root@localhost][ev.fails] At line 1 in ev.fails" not in log:
            faults.append("the log does not tell of an event that fails")
        faults += created_while_it_starts(drills["Selkie"].server)
    finally:
        for drill in drills.values():
            drill.server.remove()
    print("\n".join(faults) or "events: passed")
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
