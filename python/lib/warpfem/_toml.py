"""Tables as TOML: the library's own parser reads them, so that words and errors are those of the case file."""

import os
import re

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def table(heading, keys):
    """The text of a table."""
    return "".join([f"{heading}\n", *(f"{_key(key)} = {value(of)}\n" for key, of in keys.items() if of is not None)])


def value(of):
    """The text of a value."""
    if hasattr(of, "tolist"):
        of = of.tolist()
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, (int, float)):
        return repr(of)
    if isinstance(of, (str, os.PathLike)):
        return _string(os.fspath(of))
    if isinstance(of, dict):
        return "{ " + ", ".join(f"{_key(key)} = {value(each)}" for key, each in of.items()) + " }"
    if isinstance(of, (list, tuple, range)):
        return "[" + ", ".join(map(value, of)) + "]"
    raise TypeError(f"a {type(of).__name__} is no value of a case: expected numbers, texts, lists or dictionaries")


def _key(key):
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is no key: expected a text")
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text):
    if not isinstance(text, str):
        raise TypeError("expected a text, not bytes")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{text!r} is no text: {error.reason}") from None

    def escaped(match):
        return f"\\u{ord(match[0]):04x}"

    return '"' + re.sub(r'["\\\x00-\x1f\x7f]', escaped, text) + '"'
