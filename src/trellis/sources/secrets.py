"""Secrets of sources: from the environment, or from the keyring of the user."""

from __future__ import annotations

import os
from importlib import import_module

from trellis.errors import UsageError

SERVICE = "trellis"


class Secret(str):
    """A text that prints as stars."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Secret('***')"


def secret(name: str) -> Secret:
    """The environment variable of that name, else what the keyring has for `trellis` under it.

    A keyring needs the package `keyring`; `keyring set trellis NAME` puts a secret there. Raises UsageError.
    """
    value = os.environ.get(name) or _from_keyring(name)
    if not value:
        raise UsageError(
            f"secret {name}: neither an environment variable nor a keyring has it; set the variable, or run "
            f"keyring set {SERVICE} {name}"
        )
    return Secret(value)


def _from_keyring(name: str) -> str | None:
    try:
        keyring = import_module("keyring")
    except ImportError:
        return None
    password: str | None = keyring.get_password(SERVICE, name)
    return password
