"""The rules for pages about what programs write. docs/metrics.md has exactly the fields of
metrics.jsonl and the events, with their fields, that the sources write; docs/file_formats.md those
of a checkpoint's meta and manifest. The sources are read as text: a record is a list in braces,
{{"event", "name"}, {"field", value}}, whose names are literals."""

import re

PAGE = "docs/metrics.md"
REPORTER = "trireme/train/report/reporter.cpp"
SCORES = "trireme/train/evaluate/scores.cpp"
SERVER = ("trireme/net/session.cpp", "trireme/net/server.cpp", "trireme/net/auth/doorkeeper.cpp")
# Every event has one of these, and the page says so once for all of them.
COMMON = {"event", "step", "time", "from", "level"}
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
FIELD = re.compile(r'\{"([a-z_0-9]+)",')
ADDED = re.compile(r'\.add\(\{"([a-z_0-9]+)",')
OPEN, CLOSED = "{([", "})]"


class Event:
    def __init__(self, place, fields, optional):
        self.place = place
        self.fields = set(fields) - COMMON
        self.optional = set(optional) - COMMON  # added under a condition


def records_are_documented(tree, _program):
    page = tree.files.get(PAGE)
    if page is None:
        return
    written = {}
    for name, place, fields, optional in _all_events(tree):
        event = written.setdefault(name, Event(place, [], []))
        event.fields |= set(fields) - COMMON
        event.optional |= set(optional) - COMMON
    yield from _compare_events(page, written)
    yield from _compare_metrics(tree, page)


def _compare_events(page, written):
    documented = {}
    for number, names, fields in _rows(page, "| event |"):
        documented.update((name, (number, fields)) for name in names)
    for name in sorted(written.keys() - documented.keys()):
        yield *written[name].place, f"{PAGE} does not list the event \"{name}\""
    for name, (number, fields) in sorted(documented.items()):
        if name not in written:
            yield PAGE, number, f"the sources have no event \"{name}\""
            continue
        event = written[name]
        for field in sorted(event.fields - fields):
            yield PAGE, number, f"the event \"{name}\" also has the field {field}"
        for field in sorted(fields - event.fields - event.optional - COMMON):
            if not field.endswith("_per_second"):
                yield PAGE, number, f"the event \"{name}\" has no field {field}"


def _rows(page, header):
    """(line number, names of the first column, words of the second) of the tables with a header."""
    is_inside = False
    for number, line in enumerate(page, 1):
        if line.startswith(header):
            is_inside = True
        elif not line.startswith("|"):
            is_inside = False
        elif is_inside and not line.startswith("|-"):
            cells = line.split("|")
            names = re.findall(r"`([^`]+)`", cells[1])
            yield number, names, set(re.findall(r"`([a-z_0-9]+)`", cells[2]))


def _all_events(tree):
    """(name, (file, line), fields, fields under a condition) of every event in the sources."""
    starts = [_Source(name, lines) for name, lines in tree.code("trireme")
              if any("on_started(" in line for line in lines)]
    started = {field for source in starts for at in source.calls("on_started")
               for field in FIELD.findall(source.argument_text(at))}
    for name, lines in tree.code("trireme"):
        if not name.endswith(".cpp"):
            continue
        text = "\n".join(lines)
        if '{"event",' not in text and "publish(" not in text and name not in SERVER:
            continue
        source = _Source(name, lines)
        for begin in source.find(r'\{"event",'):
            record = source.enclosing(begin - 1)
            names = TEXT.findall(source.balanced(begin)[len('{"event"'):])
            for event in names:
                yield event, source.place(begin), FIELD.findall(record), source.added(begin)
        for begin in source.calls("publish"):
            arguments = source.argument_text(begin)
            first = _first_argument(arguments)
            fields = FIELD.findall(arguments)
            if re.search(r"\brecord\b", arguments):
                fields += FIELD.findall(source.function(begin))
            for event in TEXT.findall(first):
                added = source.added(begin)
                if event.startswith(" "):  # after the noun: rank or worker
                    for noun in ("rank", "worker"):
                        yield noun + event, source.place(begin), [], [*added, *started, "rank", "worker"]
                else:
                    yield event, source.place(begin), set(fields) - set(added), added
        if name in SERVER:
            for begin in source.find(r'\blog_?(?:\(\))?\.(?:warn|error)\("'):
                begin = text.index("(", begin)
                arguments = source.balanced(begin)[1:-1]
                event = TEXT.match(arguments).group(1)
                yield event, source.place(begin), FIELD.findall(arguments), ["left_out"]


def _first_argument(text):
    depth = 0
    for i, char in enumerate(text):
        depth += (char in OPEN) - (char in CLOSED)
        if char == "," and depth == 0:
            return text[:i]
    return text


class _Source:
    """The text of a file, and what surrounds a place in it."""

    def __init__(self, name, lines):
        self.name = name
        self.text = "\n".join(lines)

    def find(self, pattern):
        return [match.start() for match in re.finditer(pattern, self.text)]

    def calls(self, function):
        """Where the arguments of each call begin, at the parenthesis; not of a declaration."""
        pattern = rf"(?<!void )(?<!::)\b{function}(\()(?!std::string_view|const |int |\))"
        return [match.start(1) for match in re.finditer(pattern, self.text)]

    def place(self, at):
        return self.name, self.text.count("\n", 0, at) + 1

    def balanced(self, begin):
        """From an opening bracket to its closing one."""
        depth = 0
        for i in range(begin, len(self.text)):
            depth += (self.text[i] in OPEN) - (self.text[i] in CLOSED)
            if depth == 0:
                return self.text[begin:i + 1]
        return self.text[begin:]

    def argument_text(self, begin):
        return self.balanced(begin)[1:-1]

    def enclosing(self, at):
        """The brackets around a place."""
        depth = 0
        for i in range(at, -1, -1):
            depth += (self.text[i] in CLOSED) - (self.text[i] in OPEN)
            if depth < 0:
                return self.balanced(i)
        return ""

    def function(self, at):
        """The text of the function around a place. Formatted code closes it in the first column,
        or in the third one if it is defined in a class."""
        begin = self.text.rfind("\n}", 0, at)
        close = "\n}"
        if re.search(r"^(?:class|struct) [^;]*$", self.text[begin + 1:at], re.MULTILINE):
            close = "\n  }"
            begin = self.text.rfind(close, 0, at)
        end = self.text.find(close, at)
        return self.text[begin + 1:end if end >= 0 else len(self.text)]

    def added(self, at):
        return ADDED.findall(self.function(at))


def _compare_metrics(tree, page):
    lines = tree.files.get(REPORTER)
    if lines is None:
        return
    source = _Source(REPORTER, lines)
    tasks = re.findall(r'\badd\("(\w+)"', "\n".join(tree.files.get(SCORES) or []))
    for heading, function, more in (
            ("## Training metrics", "write_metrics",
             {"step", "samples_per_second", "tokens_per_second"}),
            ("## Evaluation metrics", "evaluated", {"step", *(f"eval_TASK_{t}" for t in tasks)})):
        begin = source.text.index(f"Reporter::{function}(")
        body = source.function(begin)
        written = set(FIELD.findall(body)) | more
        at = page.index(heading) if heading in page else len(page)
        section = [line if i >= at else "" for i, line in enumerate(page)]
        end = next((i for i, line in enumerate(page) if i > at and line.startswith("## ")), None)
        documented = {name: number for number, names, _ in _rows(section[:end], "| field |")
                      for name in names}
        for name in sorted(written - documented.keys()):
            yield *source.place(begin), f"{PAGE} does not list the field {name}"
        for name in sorted(documented.keys() - written):
            yield PAGE, documented[name], f"{REPORTER} writes no field {name}"


FORMATS = "docs/file_formats.md"
PROGRESS = "trireme/train/report/progress.cpp"
META = "### The meta of a training job"
MANIFEST = "trireme/checkpoint/format/manifest_text.cpp"
MANIFEST_PAGE = "docs/checkpoints.md"


def job_meta_is_documented(tree, _program):
    if FORMATS not in tree.files or PROGRESS not in tree.files:
        return
    source = _Source(PROGRESS, tree.files[PROGRESS])
    at = source.text.index("Progress::to_json()")
    record = source.balanced(source.text.index("{", source.text.index("json{", at)))
    # Objects within it have fields of their own.
    written = {match.group(1) for match in FIELD.finditer(record)
               if sum((c in OPEN) - (c in CLOSED) for c in record[:match.start()]) == 1}
    written |= set(re.findall(r'json\["(\w+)"\]', source.function(at))) | {"data"}
    page = tree.files[FORMATS]
    begin = page.index(META) if META in page else len(page)
    documented = {name: number for number, names, _ in _rows(page, "| field |") if number > begin
                  for name in names}
    for name in sorted(written - documented.keys()):
        yield *source.place(at), f"{FORMATS} does not list the field {name} of the meta"
    for name in sorted(documented.keys() - written):
        yield FORMATS, documented[name], f"{PROGRESS} writes no field {name}"


def manifest_is_documented(tree, _program):
    """Every field that a reader of a manifest accepts is on the page of checkpoints."""
    page = "\n".join(tree.files.get(MANIFEST_PAGE) or [])
    for number, line in enumerate(tree.files.get(MANIFEST) or [], 1):
        fields = re.search(r"{((?:\"\w+\"(?:, )?)+)}\);", line)
        for field in TEXT.findall(fields.group(1)) if fields else ():
            if f"`{field}`" not in page:
                yield MANIFEST, number, f"{MANIFEST_PAGE} does not list the field {field}"


RULES = [records_are_documented, job_meta_is_documented, manifest_is_documented]
