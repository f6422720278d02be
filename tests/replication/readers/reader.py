"""Prints the changes of a server's binary log, one line each, as python-mysql-replication reads them.

usage: reader.py FILE PORT GTIDS ...     without GTIDS ("-"): from the start of the first file

Each PORT and GTIDS is read until a row is inserted into a table the_end; FILE.0, FILE.1, ... get the lines.
"""
import sys

from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import MariadbAnnotateRowsEvent, MariadbGtidEvent, QueryEvent, XidEvent
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

EVENTS = [WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent, QueryEvent, XidEvent, MariadbGtidEvent, MariadbAnnotateRowsEvent]


def lines(event):
    if isinstance(event, MariadbAnnotateRowsEvent):
        yield f"annotation {event.sql_statement!r}"
    elif isinstance(event, QueryEvent):
        yield f"query {event.schema} {event.query!r}"
    elif isinstance(event, XidEvent):
        yield "commit"
    elif isinstance(event, MariadbGtidEvent):
        yield f"gtid {event.gtid} {event.flags}"
    else:
        for row in event.rows:
            yield f"{type(event).__name__} {event.schema}.{event.table} {row}"


def read(port, gtids):
    place = {"log_file": "binlog.000001", "log_pos": 4, "resume_stream": True} if gtids == "-" else {"auto_position": gtids}
    stream = BinLogStreamReader(connection_settings={"host": "127.0.0.1", "port": port, "user": "root", "passwd": ""}, server_id=99,
                                is_mariadb=True, annotate_rows_event=True, verify_checksum=True, ignore_decode_errors=True,
                                only_events=EVENTS, **place)
    try:
        for event in stream:
            if event._is_event_valid is False:
                yield "error: the checksum differs"
            if event._is_event_valid is False or getattr(event, "table", "") == "the_end":
                return
            yield from lines(event)
    # Whatever the module finds wrong is a line of the result.
    except Exception as error:  # noqa: BLE001
        yield f"error {type(error).__name__}: {error}"
    finally:
        stream.close()


def main():
    name, *places = sys.argv[1:]
    for at in range(0, len(places), 2):
        with open(f"{name}.{at // 2}", "w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in read(int(places[at]), places[at + 1]))


if __name__ == "__main__":
    main()
