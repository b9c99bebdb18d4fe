"""What a package brings under a name, and what other distributions add to it by entry points.

A folder of the package that has a module `registration` is one of its own. The metadata of the installed
distribution is not asked for these: it is missing where the code travels without it (a zip file, or a source
tree on the PYTHONPATH of Spark's workers), and in an editable install it may be older than the code.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Generic, TypeVar

from trellis.errors import UsageError

R = TypeVar("R")


@dataclass(frozen=True)
class PluginGroup(Generic[R]):
    """The registrations of one kind: those of a package, and those of entry points.

    The name of the package is that of the group of entry points, too. A folder of the package goes before an
    entry point of the same name.
    """

    kind: str
    package: str
    registration_type: type[R]

    @cached_property
    def registrations(self) -> Mapping[str, R]:
        """All by name, those of the package first.

        An entry point whose module was removed is left out, and a warning tells of any other that fails.
        """
        registrations = {name: self._import_folder(name) for name in self._folders}
        for name in dict.fromkeys(entry_point.name for entry_point in entry_points(group=self.package)):
            if name in registrations:
                continue
            try:
                registrations[name] = self._load(name)
            except UsageError as error:
                if not _is_module_missing(error.__cause__, entry_points(group=self.package, name=name)):
                    warnings.warn(str(error), stacklevel=2)
        return registrations

    def find(self, name: str) -> R | None:
        """The registration of that name, without those of others; None where there is none.

        Raises UsageError for an entry point that cannot be loaded.
        """
        if name in self._folders:
            return self._import_folder(name)
        if entry_points(group=self.package, name=name):
            return self._load(name)
        return None

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        modules = iter_modules(import_module(self.package).__path__)
        packages = (module.name for module in modules if module.ispkg)
        return tuple(name for name in packages if find_spec(f"{self.package}.{name}.registration"))

    def _import_folder(self, name: str) -> R:
        registration: R = import_module(f"{self.package}.{name}.registration").registration
        return registration

    def _load(self, name: str) -> R:
        candidates = list(entry_points(group=self.package, name=name))
        values = {(_distribution_name(candidate), candidate.value) for candidate in candidates}
        if len(values) > 1:
            places = " and ".join(sorted(f"{value} of {distribution}" for distribution, value in values))
            raise UsageError(
                f"{self.kind} {name!r} is registered {len(values)} times, as {places}; "
                "uninstall all but one of them"
            )
        entry_point = candidates[0]
        place = f"{self.kind} {name!r} of {_distribution_name(entry_point)}"
        try:
            registration = entry_point.load()
        except Exception as error:
            raise UsageError(
                f"{place}: {entry_point.value} cannot be imported ({error}); "
                "repair its distribution or uninstall it"
            ) from error
        if not isinstance(registration, self.registration_type):
            raise UsageError(
                f"{place}: {entry_point.value} is a {type(registration).__name__}, not a Registration of "
                f"{self.registration_type.__module__}; correct its entry point"
            )
        return registration


def _distribution_name(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist is not None else "an unknown distribution"


def _is_module_missing(error: BaseException | None, candidates: Sequence[EntryPoint]) -> bool:
    """Whether the module of an entry point itself is missing, rather than one that it imports."""
    absent = error.name if isinstance(error, ModuleNotFoundError) else None
    return absent is not None and any(
        f"{candidate.module}.".startswith(f"{absent}.") for candidate in candidates
    )
