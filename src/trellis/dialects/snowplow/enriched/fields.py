"""The 131 fields of an enriched event: what is in which place of its line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from trellis.dialects.snowplow.columns.column_types import (
    BOOLEAN,
    DOUBLE,
    INT,
    TIMESTAMP,
    ColumnType,
    char,
    varchar,
)

Kind = Literal["s", "t", "i", "d", "b", "u", "j"]
"""Text, time, integer, double, boolean, UUID, JSON."""

LINE_EXTENSIONS: Final = (".tsv",)
"""Endings of files of enriched events besides those that all files of lines have."""
_FIELDS: Final = """
    app_id s255, platform s255, etl_tstamp t, collector_tstamp t, dvce_created_tstamp t, event s128,
    event_id u, txn_id i, name_tracker s128, v_tracker s100, v_collector s100, v_etl s100, user_id s255,
    user_ipaddress s128, user_fingerprint s128, domain_userid s128, domain_sessionidx i,
    network_userid s128, geo_country s2, geo_region s3, geo_city s75, geo_zipcode s15, geo_latitude d,
    geo_longitude d, geo_region_name s100, ip_isp s100, ip_organization s128, ip_domain s128,
    ip_netspeed s100, page_url s4096, page_title s2000, page_referrer s4096, page_urlscheme s16,
    page_urlhost s255, page_urlport i, page_urlpath s3000, page_urlquery s6000, page_urlfragment s3000,
    refr_urlscheme s16, refr_urlhost s255, refr_urlport i, refr_urlpath s6000, refr_urlquery s6000,
    refr_urlfragment s3000, refr_medium s25, refr_source s50, refr_term s255, mkt_medium s255,
    mkt_source s255, mkt_term s255, mkt_content s500, mkt_campaign s255, contexts j, se_category s1000,
    se_action s1000, se_label s4096, se_property s1000, se_value d, unstruct_event j, tr_orderid s255,
    tr_affiliation s255, tr_total d, tr_tax d, tr_shipping d, tr_city s255, tr_state s255,
    tr_country s255, ti_orderid s255, ti_sku s255, ti_name s255, ti_category s255, ti_price d,
    ti_quantity i, pp_xoffset_min i, pp_xoffset_max i, pp_yoffset_min i, pp_yoffset_max i,
    useragent s1000, br_name s50, br_family s50, br_version s50, br_type s50, br_renderengine s50,
    br_lang s255, br_features_pdf b, br_features_flash b, br_features_java b, br_features_director b,
    br_features_quicktime b, br_features_realplayer b, br_features_windowsmedia b, br_features_gears b,
    br_features_silverlight b, br_cookies b, br_colordepth s12, br_viewwidth i, br_viewheight i,
    os_name s50, os_family s50, os_manufacturer s50, os_timezone s255, dvce_type s50, dvce_ismobile b,
    dvce_screenwidth i, dvce_screenheight i, doc_charset s128, doc_width i, doc_height i,
    tr_currency s3, tr_total_base d, tr_tax_base d, tr_shipping_base d, ti_currency s3, ti_price_base d,
    base_currency s3, geo_timezone s64, mkt_clickid s128, mkt_network s64, etl_tags s500,
    dvce_sent_tstamp t, refr_domain_userid s128, refr_dvce_tstamp t, derived_contexts j,
    domain_sessionid s128, derived_tstamp t, event_vendor s1000, event_name s1000, event_format s128,
    event_version s128, event_fingerprint s128, true_tstamp t
"""
_MONEY: Final = ("tr_total", "tr_tax", "tr_shipping", "ti_price")
"""What the names of amounts of money begin with."""
_TYPES: Final[dict[Kind, ColumnType]] = {
    "t": TIMESTAMP,
    "i": INT,
    "d": DOUBLE,
    "b": BOOLEAN,
    "u": char(36),
}


@dataclass(frozen=True)
class AtomicField:
    """One field of the line. `width` is that of a text."""

    name: str
    kind: Kind
    width: int = 0

    @property
    def is_required(self) -> bool:
        return self.name in REQUIRED

    @property
    def type(self) -> ColumnType:
        """The type of its column in the table of events; JSON has none there."""
        if self.name.startswith(_MONEY):
            return ColumnType("DECIMAL", 18, 2)
        return varchar(self.width) if self.kind == "s" else _TYPES[self.kind]


REQUIRED: Final = frozenset(("event_id", "collector_tstamp", "v_collector", "v_etl"))


def _parse(text: str) -> AtomicField:
    """
    >>> _parse("app_id s255"), _parse("event_id u")
    (AtomicField(name='app_id', kind='s', width=255), AtomicField(name='event_id', kind='u', width=0))
    """
    name, kind = text.split()
    return AtomicField(name, kind[0], int(kind[1:] or 0))  # type: ignore[arg-type]


FIELDS: Final = tuple(map(_parse, _FIELDS.split(",")))
ENTITY_FIELDS: Final = tuple(field.name for field in FIELDS if field.kind == "j")
"""The fields that hold self-describing JSON, in the order of the line."""
ATOMIC_FIELDS: Final = tuple(field for field in FIELDS if field.kind != "j")
"""The columns of the table of events."""
