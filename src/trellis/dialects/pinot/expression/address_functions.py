"""Functions on addresses of networks: IPv4 and IPv6 (spec pinot.md, section 5)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from trellis.dialects.pinot.expression.registry import Theme
from trellis.dialects.pinot.expression.take import FunctionError, as_int, as_text

ADDRESS: Final = Theme()


def _address(text: str) -> IPv4Address | IPv6Address:
    try:
        return ip_address(text.strip())
    except ValueError:
        raise FunctionError(f"an address is expected as 10.1.2.3 or 2001:db8::1, not {text[:60]!r}") from None


def _shown(address: IPv4Address | IPv6Address) -> str:
    """The address as text; one of IPv4 within IPv6 has no dots, whatever the version of Python."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return f"::ffff:{int(address) >> 16 & 0xFFFF:x}:{int(address) & 0xFFFF:x}"
    return str(address)


def _network(text: str) -> IPv4Network | IPv6Network:
    if "/" in text:
        try:
            return ip_network(text.strip(), strict=False)
        except ValueError:
            pass
    raise FunctionError(f"a network is expected as 10.0.0.0/8 or 2001:db8::/32, not {text[:60]!r}")


@ADDRESS.function("isSubnetOf", as_text, as_text)
def _is_subnet(network: str, address: str) -> bool:
    """Whether an address lies in a network, which comes first."""
    return _address(address) in _network(network)


@ADDRESS.function("ipPrefix", as_text, as_int)
def _prefix(address: str, bits: int) -> str:
    """The network of the first bits of an address."""
    found = _address(address)
    if not 0 <= bits <= found.max_prefixlen:
        raise FunctionError(f"a network of {found} has 0 to {found.max_prefixlen} bits, not {bits}")
    network = ip_network((found, bits), strict=False)
    return f"{_shown(network.network_address)}/{bits}"


@ADDRESS.function("ipSubnetMin", as_text)
def _first(network: str) -> str:
    """The first address of a network."""
    return _shown(_network(network).network_address)


@ADDRESS.function("ipSubnetMax", as_text)
def _last(network: str) -> str:
    """The last address of a network."""
    return _shown(_network(network).broadcast_address)
