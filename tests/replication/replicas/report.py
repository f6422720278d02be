"""What checks say: one line for each thing that is not as expected."""


class Failed(Exception):
    """A check cannot go on."""


class Report:
    """Lines of the check that runs."""

    def __init__(self):
        self.begin("")

    def begin(self, name):
        # What the check has done, if a number says it.
        self.name, self.lines, self.done = name, 0, ""

    def line(self, text):
        self.lines += 1
        if self.lines <= 20:
            print(f"  {self.name}: {shorten(text, 1500)}", flush=True)


current = Report()


def shorten(value, most=400):
    text = value if isinstance(value, str) else repr(value)
    text = text.replace("\n", "\\n")
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def same(what, got, expected):
    """Says it if two values differ; the check goes on."""
    if got == expected:
        return True
    current.line(f"{what}: expected {shorten(expected)}, got {shorten(got)}")
    return False


def true(what, condition, got=""):
    if not condition:
        current.line(f"expected: {what}" + (f"; got {shorten(got)}" if got != "" else ""))
    return bool(condition)


def holds(what, got, part):
    """A text that has to be part of another."""
    return true(f"{what} with {part!r}", part in (got or ""), got or "nothing")


def require(condition, text):
    """Ends the check if a condition does not hold."""
    if not condition:
        raise Failed(text)
