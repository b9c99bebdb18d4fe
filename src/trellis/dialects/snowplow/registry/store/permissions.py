"""What a key may do. Keys are UUIDs; only their hashes are stored."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal
from uuid import UUID, uuid4

from trellis.dialects.snowplow.identity.errors import IgluError
from trellis.dialects.snowplow.identity.keys import SchemaKey

SchemaAction = Literal["READ", "BUMP", "CREATE", "CREATE_VENDOR"]
"""Read schemas; publish versions of those that exist; also new names; also for vendors that have none."""
KeyAction = Literal["CREATE", "DELETE"]
SCHEMA_ACTIONS: Final[tuple[SchemaAction, ...]] = ("READ", "BUMP", "CREATE", "CREATE_VENDOR")


@dataclass(frozen=True)
class Permission:
    """`vendor` is a prefix of vendors, which ends at a dot; empty for all of them."""

    vendor: str = ""
    schema_action: SchemaAction | None = None
    key_actions: frozenset[KeyAction] = frozenset()
    key_name: str = ""
    """The beginning of the hash of the key: it tells keys apart and opens nothing."""

    def covers(self, vendor: str) -> bool:
        """
        >>> permission = Permission("org.harbor", "READ")
        >>> [permission.covers(vendor) for vendor in ("org.harbor", "org.harbor.x", "org.harborx")]
        [True, True, False]
        """
        return self.vendor in ("", "*", vendor) or vendor.startswith(f"{self.vendor}.")

    def allows(self, action: SchemaAction, vendor: str) -> bool:
        return (
            self.schema_action is not None
            and SCHEMA_ACTIONS.index(self.schema_action) >= SCHEMA_ACTIONS.index(action)
            and self.covers(vendor)
        )

    def may_change_keys(self, action: KeyAction, vendor: str) -> bool:
        return action in self.key_actions and self.covers(vendor)

    @property
    def is_known(self) -> bool:
        """Whether it is that of a key."""
        return bool(self.schema_action or self.key_actions)

    @property
    def writes(self) -> bool:
        return self.schema_action not in (None, "READ")

    @property
    def is_super(self) -> bool:
        return self.vendor in ("", "*") and self == super_permission(self.vendor, self.key_name)


ANONYMOUS: Final = Permission()


def super_permission(vendor: str = "", key_name: str = "") -> Permission:
    """The permission to do everything."""
    return Permission(vendor, "CREATE_VENDOR", frozenset(("CREATE", "DELETE")), key_name)


def new_key() -> UUID:
    return uuid4()


def hash_key(key: UUID) -> str:
    return sha256(str(key).encode()).hexdigest()


def is_vendor_prefix(text: str) -> bool:
    """Whether a key can be for vendors with this prefix; `*` is all, which an empty text does not say.

    >>> is_vendor_prefix("com.acme"), is_vendor_prefix("")
    (True, False)
    """
    try:
        SchemaKey.parse(f"iglu:{text}/name/jsonschema/1-0-0")
    except IgluError:
        return text == "*"
    return True
