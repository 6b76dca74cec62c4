"""Writes trireme/data/tokenizer/unicode_ranges.inc: which characters are letters and numbers.

Needs the package `regex`, whose tables are those of a recent Unicode. Usage: unicode_ranges.py >FILE
"""

import regex


def ranges(category):
    fits = regex.compile(r"\p{" + category + "}")
    begin = None
    for code in range(0x110001):
        is_in = code < 0x110000 and not 0xD800 <= code < 0xE000 and bool(fits.match(chr(code)))
        if is_in and begin is None:
            begin = code
        elif not is_in and begin is not None:
            yield begin, code - 1
            begin = None


def table(name, category):
    print(f"constexpr Span {name}[] = {{")
    line = "   "
    for begin, end in ranges(category):
        item = f" {{0x{begin:X}, 0x{end:X}}},"
        if len(line) + len(item) > 100:
            print(line)
            line = "   "
        line += item
    print(line)
    print("};")


print("// Made by scripts/unicode_ranges.py: first and last of each run, in order.")
print()
table("kLetters", "L")
print()
table("kNumbers", "N")
