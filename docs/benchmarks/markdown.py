"""Numbers and tables as Markdown."""


def number(value, digits=3):
    """`value` to some significant digits, without an exponent; a dash for nothing."""
    if value is None:
        return "-"
    text = f"{float(value):.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text else text if "e" not in text else f"{float(text):.9f}".rstrip("0")


def count(value):
    return "-" if value is None else f"{value:,.0f}"


def percent(value):
    return "-" if value is None else f"{100 * value:.0f} %"


def ratio(slower, faster):
    """How many times as fast, from two times."""
    return f"{slower / faster:.2f}" if slower and faster else "-"


def milliseconds(seconds):
    return number(None if seconds is None else 1e3 * seconds)


def size(n):
    """A number of bytes in a decimal unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{number(n)} {unit}"
        n /= 1e3
    return f"{number(n)} TB"


def table(heads, rows, words=()):
    """A Markdown table, its first column text and the others figures but those of `words`; nothing without rows."""
    if not rows:
        return ""
    rule = ["---" if i == 0 or head in words else "---:" for i, head in enumerate(heads)]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [heads, rule, *rows])
