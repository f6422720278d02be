"""The SQL statements of MariaDB's own tests, read like its test client does, without running them.

Not exact: blocks of `if` and `while` are read once; `eval` knows only variables that `let` set to plain
text; a statement with an unknown variable is left out. Files are read where Debian installs them;
nothing of them is stored.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance"))
from suite import ROOT, Case, read  # noqa: E402

# Commands of the test language. A line that begins with another word is a statement.
COMMANDS = set("""
append_file assert cat_file change_user character_set chmod connect connection copy_file copy_files_wildcard dec
delimiter die diff_files dirty_close disable_abort_on_error disable_async_client disable_column_names
disable_connect_log disable_cursor_protocol disable_info disable_metadata disable_non_blocking_api
disable_parsing disable_prepare_warnings disable_ps2_protocol disable_ps_protocol disable_query_log disable_reconnect disable_result_log
disable_rpl_parse disable_service_connection disable_session_track_info disable_testcase disable_view_protocol
disable_warnings disconnect echo enable_abort_on_error enable_async_client enable_column_names
enable_connect_log enable_cursor_protocol enable_info enable_metadata enable_non_blocking_api enable_parsing
enable_prepare_warnings enable_ps2_protocol enable_ps_protocol enable_query_log enable_reconnect
enable_result_log enable_rpl_parse enable_service_connection enable_session_track_info enable_testcase
enable_view_protocol enable_warnings end end_timer error eval evalp exec execw exit file_exists force_cpdir
force_rmdir horizontal_results if inc let list_files list_files_append_file list_files_write_file lowercase_result
mkdir move_file optimizer_trace output perl ping ps_execute query query_attributes query_get_value query_horizontal query_log
query_vertical real_sleep reap remove_file remove_files_wildcard replace_column replace_numeric_round
replace_regex replace_result require reset_connection result result_format rmdir rpl_parse save_master_pos
send send_eval send_quit send_shutdown shutdown_server skip sleep sorted_result partially_sorted_result source start_timer
sync_slave_with_master sync_with_master system timer vertical_results wait_for_slave_to_stop while write_file
""".split())
OF_STATEMENT = {"eval", "evalp", "query", "query_vertical", "query_horizontal", "send", "send_eval", "ps_execute"}
TO_A_MARK = {"append_file", "write_file", "perl"}
EVALUATED = {"eval", "evalp", "send_eval"}
VARIABLE = re.compile(r"\$\{?(\w+)\}?")
WORD = re.compile(r"[A-Za-z_]\w*")
BLOCK = re.compile(r"(if|while)\b")


class Reader:
    """Cuts the text of one file into commands and statements."""

    def __init__(self, text):
        self.text, self.at, self.delimiter = text, 0, ";"

    def __iter__(self):
        while (unit := self.unit()) is not None:
            if unit:
                yield unit

    def line(self):
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line, self.at = self.text[self.at:end], end + 1
        return line

    def unit(self):
        """Returns (text, whether it has a line of its own) of the next unit; None at the end."""
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1
        if self.at >= len(self.text):
            return None
        if self.text[self.at] == "#":
            self.line()
            return ()
        if self.text.startswith("--", self.at):
            line = self.line()[2:].strip()
            return (line, True) if line else ()
        if self.text[self.at] == "}":
            self.at += 1
            return ()
        return (self.upto_delimiter(), False)

    def upto_delimiter(self):
        start = self.at
        block = BLOCK.match(self.text, start)
        special = re.compile("['\"`#/{-]|" + re.escape(self.delimiter))
        while found := special.search(self.text, self.at):
            self.at = found.start()
            c = self.text[self.at]
            if self.text.startswith(self.delimiter, self.at):
                self.at += len(self.delimiter)
                return self.text[start:self.at - len(self.delimiter)].rstrip()
            if block and c == "{":
                self.at += 1
                return self.text[start:self.at - 1]
            if c in "'\"`":
                self.skip_quoted(c)
            elif c == "#" or self.text.startswith("-- ", self.at):
                self.line()
            elif self.text.startswith("/*", self.at):
                end = self.text.find("*/", self.at)
                self.at = len(self.text) if end < 0 else end + 2
            else:
                self.at += 1
        self.at = len(self.text)
        return self.text[start:].rstrip()

    def skip_quoted(self, quote):
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != quote:
            self.at += 2 if self.text[self.at] == "\\" and quote != "`" else 1
        self.at += 1

    def skip_to_mark(self, mark):
        while self.at < len(self.text) and self.line().strip() != mark:
            pass


class Extractor:
    """Statements of one test, with those of included files in their place."""

    def __init__(self, name):
        self.case = Case(name)
        self.variables = {"engine_type": "InnoDB", "ENGINE_TYPE": "InnoDB"}
        self.found = {}
        self.parsing = True
        self.depth = 0
        self.done = {}

    def run(self):
        self.file(self.case.path)
        return list(self.found)

    def file(self, path):
        """Reads a file once for each state of the variables: a second time gives nothing new."""
        before = (path, frozenset(self.variables.items()))
        if before not in self.done:
            self.done[before] = self.variables
            self.read(path)
            self.done[before] = dict(self.variables)
        self.variables = dict(self.done[before])

    def read(self, path):
        self.depth += 1
        reader = Reader(read(path))
        for text, own_line in reader:
            self.unit(text, own_line, reader, path)
        self.depth -= 1

    def unit(self, text, own_line, reader, path):
        word = (WORD.match(text) or [""])[0].lower()
        argument = text[len(word):].strip()
        if not self.parsing:
            self.parsing = word == "enable_parsing"
        elif word in OF_STATEMENT:
            self.statement(argument, word in EVALUATED)
        elif word in COMMANDS:
            self.command(word, argument, own_line, reader, path)
        elif not own_line:
            self.statement(text, False)

    def command(self, word, argument, own_line, reader, path):
        if own_line:
            argument = argument.removesuffix(reader.delimiter).rstrip()
        if word == "delimiter":
            reader.delimiter = argument or reader.delimiter
        elif word == "disable_parsing":
            self.parsing = False
        elif word in TO_A_MARK:
            reader.skip_to_mark(argument.split()[-1] if len(argument.split()) > (word != "perl") else "EOF")
        elif word == "let":
            self.let(argument)
        elif word == "source":
            self.include(self.evaluated(argument), path)

    def let(self, argument):
        name, _, value = argument.partition("=")
        name, value = name.strip().lstrip("$"), self.evaluated(value.strip())
        self.variables.pop(name, None)
        if value is None:
            return
        if value.startswith("`"):
            self.statement(value.strip("`"), False)
        elif not value.startswith(("query_get_value", "convert_error")):
            self.variables[name] = value

    def include(self, name, path):
        for base in (os.path.dirname(path), self.case.include, self.case.directory, ROOT):
            file = os.path.normpath(f"{base}/{name}")
            if name and self.depth < 12 and os.path.isfile(file):
                self.file(file)
                return

    def statement(self, text, evaluate):
        text = self.evaluated(text) if evaluate else text
        if text:
            self.found[text.encode("latin-1")] = None

    def evaluated(self, text):
        """Returns the text with its variables replaced, or None if one of them is unknown."""
        if "$" not in text:
            return text
        names = VARIABLE.findall(text)
        if any(name not in self.variables for name in names):
            return None
        return VARIABLE.sub(lambda found: self.variables[found.group(1)], text)


def statements(test):
    """Returns the statements of a test in order, each once."""
    return Extractor(test).run()
