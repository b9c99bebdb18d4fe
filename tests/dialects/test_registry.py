"""Which dialects there are: folders of the package, and entry points of other distributions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trellis import dialects
from trellis.dialects import get_dialect, names, registrations
from trellis.dialects.registration import Registration
from trellis.errors import UsageError

FOLDER = Path(dialects.__file__).parent
ACME = """
from dataclasses import dataclass
from trellis.dialects import registration

@dataclass
class Acme:
    name: str = "acme"

registration = registration.Registration(dialect=Acme)
"""


def test_every_folder_is_a_dialect() -> None:
    folders = sorted(path.parent.name for path in FOLDER.glob("*/registration.py"))
    assert [*registrations()] == folders
    assert names() == tuple(name for name in folders if registrations()[name].dialect)
    assert [get_dialect(name).name for name in names()] == [*names()]


def test_a_name_that_is_none() -> None:
    with pytest.raises(UsageError) as error:
        get_dialect("acme")
    assert str(error.value) == f"there is no dialect 'acme': it may be one of {', '.join(names())}"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed distributions: one dialect that works, and how entry points go wrong."""
    metadata = tmp_path / "acme_trellis-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-trellis\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[trellis.dialects]\n"
        "acme = acme:registration\n"
        "removed = acme_removed.dialect:registration\n"
        "broken = acme_broken:registration\n"
        "other = acme:Acme\n"
        f"{names()[0]} = acme:registration\n"
    )
    (tmp_path / "acme.py").write_text(ACME)
    (tmp_path / "acme_broken.py").write_text("import no_such_library\n")
    return tmp_path


def run(site: Path, code: str) -> str:
    """What a new interpreter prints that has the distributions."""
    path = f"import sys; sys.path.insert(0, {str(site)!r}); sys.path.insert(0, {str(FOLDER.parents[1])!r})\n"
    completed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", path + code], capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    return completed.stdout.strip()


def test_dialects_of_other_distributions_come_after_those_of_the_package(site: Path) -> None:
    code = "from trellis.dialects import get_dialect, names; print(*names()); print(get_dialect('acme'))"
    assert run(site, code).splitlines() == [" ".join((*names(), "acme")), "Acme(name='acme')"]


def test_the_package_goes_before_an_entry_point_of_the_same_name(site: Path) -> None:
    code = f"from trellis.dialects import get_dialect; print(type(get_dialect({names()[0]!r})).__module__)"
    assert run(site, code) == f"trellis.dialects.{names()[0]}.dialect"


NO_MODULE = "cannot be imported (No module named {!r}); repair its distribution or uninstall it"
REASONS = {
    "removed": f"acme_removed.dialect:registration {NO_MODULE.format('acme_removed')}",
    "broken": f"acme_broken:registration {NO_MODULE.format('no_such_library')}",
    "other": f"acme:Acme is a type, not a Registration of {Registration.__module__}; correct its entry point",
}


@pytest.mark.parametrize("name", REASONS)
def test_an_entry_point_that_leads_nowhere_is_one_sentence(site: Path, name: str) -> None:
    code = (
        "from trellis.dialects import get_dialect; from trellis.errors import UsageError\n"
        f"try: get_dialect({name!r})\nexcept UsageError as error: print(error)"
    )
    assert run(site, code) == f"dialect {name!r} of acme-trellis: {REASONS[name]}"


def test_listing_leaves_out_what_was_removed_and_warns_of_what_is_broken(site: Path) -> None:
    code = (
        "import warnings; from trellis.dialects import names\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always'); names(); names()\n"
        "print(*(str(each.message).partition(' of ')[0] for each in caught))"
    )
    assert run(site, code) == "dialect 'broken' dialect 'other'"
