"""What a page of Markdown says about its blocks of code, and how its commands are run.

    <!-- run by: tests/documents/commands_test.py -->   before sh: the block is run. The blocks of a
                                                        page run in its order, in one shell.
                                                        Before cpp: the first line names an example,
                                                        and all other lines are in it, in this order.
    <!-- file: NAME -->                                 the block is written to that file
    <!-- output -->                                     the block is in the output of the commands
                                                        before it

In a block of output, a number stands for any number and ... for any text; lines may be left out."""

import re
import subprocess

MARK = "<!-- run by: tests/documents/commands_test.py -->"
BLOCK = re.compile(r"(?:^(<!-- [^\n]* -->)\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "@@ end of block"
SECONDS = 100


def commands(text):
    return [body for mark, language, body in BLOCK.findall(text)
            if mark == MARK and language == "sh"]


def run(text, folder, environment):
    """Runs the commands of a page in `folder`; -> complaints."""
    script, shown = [], []  # shown: (number of the commands before it, text) of each output
    for mark, _, body in BLOCK.findall(text):
        named = re.fullmatch(r"<!-- file: (\S+) -->", mark)
        if named:
            (folder / named.group(1)).write_text(body)
        elif mark == "<!-- output -->":
            shown.append((len(script) - 1, body))
        elif mark == MARK and not body.startswith("//"):
            script.append(f"{body}\necho; echo '{END}'\n")
    process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", "".join(script)], cwd=folder,
                               text=True, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output = process.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        output = process.communicate()[0] + f"\nnot done after {SECONDS} s"
    print(output)
    if process.returncode != 0:
        return [f"exit code {process.returncode} in these commands:\n"
                + script[min(output.count(END), len(script) - 1)]]
    parts = output.split(END)
    return [complaint for number, body in shown for complaint in _missing(body, parts[number])]


def _missing(shown, output):
    """Complains about the first line of `shown` that is not in `output`, in this order."""
    lines = iter(output.splitlines())
    for line in shown.splitlines():
        if line.strip() not in ("", "...") and not any(_pattern(line).match(had) for had in lines):
            yield f"the commands before it did not print: {line}"
            return


def _pattern(line):
    words = []
    for word in line.split():
        word = re.sub(r"\d[\d.,]*(?:e[+-]?\d+)?[kMG]?", "0", word)
        words.append(re.escape(word).replace(r"\.\.\.", ".*").replace(
            "0", r"\d[\d.,]*(?:e[+-]?\d+)?[kMG]?"))
    return re.compile(r"\s*" + r"\s+".join(words) + r"\s*$")


def quotations_are_exact(text, root):
    """Complaints about blocks of cpp that do not quote the example that they name."""
    found = []
    for mark, language, body in BLOCK.findall(text):
        named = re.match(r"// (\S+)", body)
        if mark != MARK or language != "cpp" or not named:
            continue
        lines = iter((root / named.group(1)).read_text().splitlines())
        for line in body.splitlines()[1:]:
            code = line.split("//")[0].strip()
            if code and not any(had.split("//")[0].strip() == code for had in lines):
                found.append(f"{named.group(1)} has no such line here: {line}")
                break
    return found
