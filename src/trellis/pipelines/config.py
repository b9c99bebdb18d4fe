"""trellis.yaml: what would otherwise be said on the command line, and what the command line wins over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from trellis.errors import UsageError, nearest
from trellis.schema.documents.yaml_text import read

FILE = "trellis.yaml"


@dataclass(frozen=True)
class Config:
    """The settings of a load or a stream. None and empty mean "not said"."""

    to: str | None = None
    dataset: str | None = None
    dialect: str | None = None
    name: str | None = None
    table: str | None = None
    mode: str | None = None
    strategy: str | None = None
    keys: tuple[str, ...] = ()
    merge_keys: tuple[str, ...] = ()
    schema: str | None = None
    contract: str | Mapping[str, str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    master: str | None = None
    remote: str | None = None
    engine: str | None = None
    staging: str | None = None
    format: str | None = None
    read_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    max_rejected: str | None = None
    payload: str | None = None
    trigger: str | None = None
    checkpoint: str | None = None
    on_violation: str | None = None
    kafka_columns: tuple[str, ...] = ()

    def over(self, other: Config) -> Config:
        """These settings, and the other's where these say nothing. Options are taken one by one."""
        settings = {field_.name: value for field_ in fields(self) if (value := getattr(self, field_.name))}
        if "options" in settings:
            settings["options"] = {**other.options, **self.options}
        if "read_options" in settings:
            settings["read_options"] = {**other.read_options, **self.read_options}
        if self.master or self.remote or self.engine == "inline":
            other = replace(other, master=None, remote=None, engine=None)
        return replace(other, **settings)


KEYS = tuple(field_.name for field_ in fields(Config))


def find_config(path: str | None = None) -> Config:
    """The settings of that file, or of ./trellis.yaml if there is one. Raises UsageError, SchemaError."""
    file = Path(path or FILE)
    if not file.is_file():
        if path is None:
            return Config()
        raise UsageError(f"{path}: no such file; --config takes the path of a trellis.yaml")
    return parse_config(read_text(file), str(file))


def parse_config(text: str, where: str = FILE) -> Config:
    """
    >>> parse_config("to: duckdb:shop.duckdb\\nkeys: id").keys
    ('id',)
    """
    document, lines = read(text, where)
    if document is None:
        return Config()
    if not isinstance(document, dict):
        raise UsageError(f"{where}: a configuration is a mapping of keys such as to, table and mode")
    settings: dict[str, Any] = {}
    for key, value in document.items():
        at = f"{where}, line {lines.get((key,), 1)}"
        if key not in KEYS:
            raise UsageError(f"{at}: unknown key {key!r}{nearest(key, KEYS)}")
        if value is not None:
            settings[key] = _CHECKS[key](f"{at}: {key}", value)
    if settings.get("master") and settings.get("remote"):
        raise UsageError(f"{where}: master and remote name two different Sparks; keep one")
    return Config(**settings)


def read_text(file: Path) -> str:
    """The text of a small file that a person wrote. Raises UsageError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as bad:
        raise UsageError(f"{file}: not UTF-8 text (byte {bad.start + 1}); save it as UTF-8") from None
    except FileNotFoundError:
        raise UsageError(f"{file}: no such file{_close(file)}") from None
    except OSError as bad:
        raise UsageError(f"{file}: cannot be read ({bad.strerror})") from None


def _close(file: Path) -> str:
    from difflib import get_close_matches

    names = [path.name for path in file.parent.iterdir()] if file.parent.is_dir() else []
    close = get_close_matches(file.name, names, n=1)
    return f": did you mean {str(file.parent / close[0])!r}?" if close else ""


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where} takes text, not {value!r}")
    return value


def _names(where: str, value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{where} takes the name of a column or a list of them, not {value!r}")
    return tuple(names)


def _contract(where: str, value: Any) -> str | Mapping[str, str]:
    if isinstance(value, dict) and all(isinstance(mode, str) for mode in value.values()):
        return value
    return _text(where, value)


def _options(where: str, value: Any, example: str = "{max_nesting: 2}") -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} takes a mapping such as {example}, not {value!r}")
    return value


def _read_options(where: str, value: Any) -> Mapping[str, Any]:
    return _options(where, value, "{header: true}")


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(KEYS, _text),
    "keys": _names,
    "merge_keys": _names,
    "kafka_columns": _names,
    "contract": _contract,
    "options": _options,
    "read_options": _read_options,
    "max_rejected": lambda _, value: str(value),
}
