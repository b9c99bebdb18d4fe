"""Raw items held to a pydantic model."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from trellis.evolution.contract import Contract, ContractViolation, Entity, Mode, expand
from trellis.sources.hints.hints import Hints, model_contract
from trellis.sources.hints.models import base_model, is_model

EXTRA: Mapping[str, str] = {"evolve": "allow", "discard_value": "ignore"}


@dataclass(frozen=True)
class Dropped:
    """An item that a contract turned away: which one, and why."""

    position: int
    item: Any
    reason: str
    entity: Entity = "data_type"
    key: str = ""
    """The key whose value this is, where not the whole item was turned away."""


class Checker:
    """Validates the items of one resource, which it counts."""

    def __init__(self, source: str, resource: str, model: Any, contract: Contract) -> None:
        self.source = source
        self.resource = resource
        self.contract = contract
        self.model = _with_extra(model, EXTRA.get(contract.columns, "forbid"), {})
        self.names = {
            name
            for key, field_ in model.model_fields.items()
            for name in (key, field_.alias)
            if name is not None
        }
        self.position = 0
        self.removed: list[Dropped] = []

    def __call__(self, item: Any) -> Any:
        """The item as the model gives it back, by aliases, or Dropped. Raises ContractViolation."""
        position, self.position = self.position, self.position + 1
        raw = item.model_dump(by_alias=True) if isinstance(item, base_model()) else item
        if self.contract.columns == "discard_value" and isinstance(raw, Mapping):
            self.removed += [
                Dropped(position, value, "the model has no such field", "columns", str(key))
                for key, value in raw.items()
                if key not in self.names
            ]
        if self.contract.data_type == "evolve":
            return self._known_keys(raw, position)
        from pydantic import ValidationError

        try:
            validated = self.model.model_validate(raw)
        except ValidationError as why:
            return self._refused(raw, position, why.errors())
        return validated.model_dump(by_alias=True)

    def _known_keys(self, item: Any, position: int) -> Any:
        """Any values, but no keys that the contract refuses."""
        extra = [] if self.contract.columns == "evolve" else [key for key in item if key not in self.names]
        if extra and self.contract.columns != "discard_value":
            errors = [
                {"loc": (key,), "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}
                for key in extra
            ]
            return self._refused(item, position, errors)
        return {key: value for key, value in item.items() if key not in extra}

    def _refused(self, item: Any, position: int, errors: list[Any]) -> Dropped:
        for error in errors:
            entity: Entity = "columns" if error["type"] == "extra_forbidden" else "data_type"
            mode: Mode = self.contract.mode(entity)
            if mode == "freeze" or error["type"] == "model_type":
                field = ".".join(map(str, error["loc"]))
                raise ContractViolation(
                    self.source,
                    self.resource,
                    field or None,
                    entity,
                    "freeze",
                    contract=self.contract,
                    item=item if isinstance(item, Mapping) else None,
                    reason=f"item {position} of resource {self.resource}, field {field!r}: {error['msg']}",
                )
        first = errors[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        self.removed = [removed for removed in self.removed if removed.position != position]
        return Dropped(
            position, item, reason, "columns" if first["type"] == "extra_forbidden" else "data_type"
        )

    def take_removed(self) -> list[Dropped]:
        """The values that the model has no field for, since this was asked last."""
        removed, self.removed = self.removed, []
        return removed


def checker_of(source: str, resource: str, hints: Hints) -> Checker | None:
    """What checks the items of a resource whose columns are a model."""
    if hints.model is None:
        return None
    contract = None if callable(hints.schema_contract) else hints.schema_contract
    return Checker(source, resource, hints.model, expand(model_contract(hints.model, contract)))


def _with_extra(model: Any, extra: str, known: dict[Any, Any]) -> Any:
    """The model, and the models inside it, treating unknown keys so."""
    if getattr(model, "__pydantic_root_model__", False) or extra == (
        model.model_config.get("extra") or "ignore"
    ):
        return model
    if model in known:
        return known[model]
    from pydantic import create_model

    known[model] = model  # a model that holds itself stays as it is inside
    fields: Any = {
        key: (_mapped(field_.annotation, extra, known), field_) for key, field_ in model.model_fields.items()
    }
    changed: Any = create_model(model.__name__, __base__=model, **fields)
    changed.model_config = {**model.model_config, "extra": extra}
    changed.model_rebuild(force=True)
    known[model] = changed
    return changed


def _mapped(annotation: Any, extra: str, known: dict[Any, Any]) -> Any:
    if is_model(annotation):
        return _with_extra(annotation, extra, known)
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is None or not inside:
        return annotation
    mapped = tuple(_mapped(argument, extra, known) for argument in inside)
    if mapped == inside:
        return annotation
    if origin is Annotated:
        return annotation.copy_with(mapped[:1])
    if hasattr(annotation, "copy_with"):
        return annotation.copy_with(mapped)
    if origin is types.UnionType:
        union = mapped[0]
        for argument in mapped[1:]:
            union = union | argument
        return union
    return origin[mapped]
