"""trellis.yaml: what would otherwise be said on the command line, and what the command line wins over."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from trellis.errors import UsageError, nearest
from trellis.schema.documents.yaml_text import Lines, read

FILE = "trellis.yaml"
PROFILE = "TRELLIS_PROFILE"
chosen_profile: ContextVar[str | None] = ContextVar("chosen_profile", default=None)
"""The profile that the command line names."""
_VARIABLE = re.compile(r"\$\$|\$\{(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^}]*))?\}")
_MERGED = ("options", "read_options")


class _Setting(NamedTuple):
    """A value, and where it stands."""

    at: str
    value: Any


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
    rules: Mapping[str, Any] = field(default_factory=dict)

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
    """The settings of that file, or of ./trellis.yaml if there is one, with those of the profile over them.

    The profile is `chosen_profile`, else what TRELLIS_PROFILE names. Raises UsageError, SchemaError.
    """
    file, profile = Path(path or FILE), chosen_profile.get() or os.environ.get(PROFILE) or None
    if file.is_file():
        return parse_config(read_text(file), str(file), profile)
    if path is not None:
        raise UsageError(f"{path}: no such file; --config takes the path of a trellis.yaml")
    if profile is not None:
        raise UsageError(f"profile {profile}: there is no {FILE} here that has it; name one with --config")
    return Config()


def parse_config(
    text: str, where: str = FILE, profile: str | None = None, variables: Mapping[str, str] = os.environ
) -> Config:
    """The settings of a document. `${NAME}` in a value is a variable, `${NAME:-text}` has a default.

    >>> parse_config("to: duckdb:${FILE:-shop}.duckdb\\nkeys: id", variables={}).to
    'duckdb:shop.duckdb'
    """
    document, lines = read(text, where)
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise UsageError(f"{where}: a configuration is a mapping of keys such as to, table and mode")
    profiles = document.pop("profiles", None) or {}
    if not isinstance(profiles, dict):
        line = lines.get(("profiles",), 1)
        raise UsageError(f"{where}, line {line}: profiles takes a mapping of names to settings")
    base = _settings(document, lines, where, ())
    by_profile = {name: _settings(profiles[name], lines, where, ("profiles", name)) for name in profiles}
    if profile is None:
        return _config(base, variables)
    if profile not in by_profile:
        raise UsageError(f"{where}: there is no profile {profile!r}{nearest(profile, by_profile)}")
    chosen = by_profile[profile]
    below = {key: setting for key, setting in base.items() if key not in chosen or key in _MERGED}
    return _config(chosen, variables).over(_config(below, variables))


def _settings(document: Any, lines: Lines, where: str, path: tuple[str, ...]) -> dict[str, _Setting]:
    """The settings of a document or of a profile, each checked, with its place."""
    if not isinstance(document, dict):
        raise UsageError(
            f"{where}, line {lines.get(path, 1)}: profile {path[-1]} takes a mapping of keys such as to"
        )
    settings: dict[str, _Setting] = {}
    for key, value in document.items():
        at = f"{where}, line {lines.get((*path, key), 1)}"
        if key not in KEYS:
            raise UsageError(f"{at}: unknown key {key!r}{nearest(key, (*KEYS, 'profiles'))}")
        if value is not None:
            settings[key] = _Setting(f"{at}: {key}", _CHECKS[key](f"{at}: {key}", value))
    if "master" in settings and "remote" in settings:
        raise UsageError(f"{where}: master and remote name two different Sparks; keep one")
    return settings


def _config(settings: Mapping[str, _Setting], variables: Mapping[str, str]) -> Config:
    expanded = {key: _expand(at, value, variables) for key, (at, value) in settings.items()}
    return Config(**expanded)


def _expand(at: str, value: Any, variables: Mapping[str, str]) -> Any:
    """The value with its variables replaced. Raises UsageError for one that is not set."""
    if isinstance(value, dict):
        return {key: _expand(at, item, variables) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_expand(at, item, variables) for item in value)
    if not isinstance(value, str):
        return value

    def replacement(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name, default = match["name"], match["default"]
        if name not in variables and default is None:
            raise UsageError(
                f"{at}: the environment variable {name} is not set; set it, or give a default: "
                f"${{{name}:-value}}"
            )
        return variables.get(name) or default or ""

    return _VARIABLE.sub(replacement, value)


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


def _rules(where: str, value: Any) -> Mapping[str, Any]:
    return _options(where, value, "{qty: {minimum: 0}}")


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(KEYS, _text),
    "keys": _names,
    "merge_keys": _names,
    "kafka_columns": _names,
    "contract": _contract,
    "options": _options,
    "rules": _rules,
    "read_options": _read_options,
    "max_rejected": lambda _, value: str(value),
}
