"""Aliases of time zones, as Java and Joda know them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SHORT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ACT": "Australia/Darwin",
        "AET": "Australia/Sydney",
        "AGT": "America/Argentina/Buenos_Aires",
        "ART": "Africa/Cairo",
        "AST": "America/Anchorage",
        "BET": "America/Sao_Paulo",
        "BST": "Asia/Dhaka",
        "CAT": "Africa/Harare",
        "CNT": "America/St_Johns",
        "CST": "America/Chicago",
        "CTT": "Asia/Shanghai",
        "EAT": "Africa/Addis_Ababa",
        "ECT": "CET",
        "EST": "America/New_York",
        "HST": "Pacific/Honolulu",
        "IET": "America/Indiana/Indianapolis",
        "IST": "Asia/Kolkata",
        "JST": "Asia/Tokyo",
        "MIT": "Pacific/Apia",
        "MST": "America/Denver",
        "NET": "Asia/Yerevan",
        "NST": "Pacific/Auckland",
        "PLT": "Asia/Karachi",
        "PNT": "America/Phoenix",
        "PRT": "America/Puerto_Rico",
        "PST": "America/Los_Angeles",
        "SST": "Pacific/Guadalcanal",
        "VST": "Asia/Ho_Chi_Minh",
    }
)
"""The ids of three letters. EST, MST, HST and ECT are not as in Java: they keep daylight saving time."""

_ALIASES: Final = """
Africa/Asmara = Africa/Asmera
Africa/Bamako = Africa/Timbuktu
Africa/Cairo = Egypt
Africa/Tripoli = Libya
America/Adak = America/Atka US/Aleutian
America/Anchorage = US/Alaska
America/Argentina/Buenos_Aires = America/Buenos_Aires
America/Argentina/Catamarca = America/Argentina/ComodRivadavia America/Catamarca
America/Argentina/Cordoba = America/Cordoba America/Rosario
America/Argentina/Jujuy = America/Jujuy
America/Argentina/Mendoza = America/Mendoza
America/Atikokan = America/Coral_Harbour
America/Chicago = CST6CDT US/Central
America/Denver = America/Shiprock MST7MDT Navajo US/Mountain
America/Detroit = US/Michigan
America/Edmonton = America/Yellowknife Canada/Mountain
America/Halifax = Canada/Atlantic
America/Havana = Cuba
America/Indiana/Indianapolis = America/Fort_Wayne America/Indianapolis US/East-Indiana
America/Indiana/Knox = America/Knox_IN US/Indiana-Starke
America/Iqaluit = America/Pangnirtung
America/Jamaica = Jamaica
America/Kentucky/Louisville = America/Louisville
America/Los_Angeles = PST8PDT US/Pacific
America/Manaus = Brazil/West
America/Mazatlan = Mexico/BajaSur
America/Mexico_City = Mexico/General
America/New_York = EST5EDT US/Eastern
America/Noronha = Brazil/DeNoronha
America/Nuuk = America/Godthab
America/Phoenix = US/Arizona
America/Regina = Canada/Saskatchewan
America/Rio_Branco = America/Porto_Acre Brazil/Acre
America/Santiago = Chile/Continental
America/Sao_Paulo = Brazil/East
America/St_Johns = Canada/Newfoundland
America/St_Thomas = America/Virgin
America/Tijuana = America/Ensenada America/Santa_Isabel Mexico/BajaNorte
America/Toronto = America/Montreal America/Nipigon America/Thunder_Bay Canada/Eastern
America/Vancouver = Canada/Pacific
America/Whitehorse = Canada/Yukon
America/Winnipeg = America/Rainy_River Canada/Central
Antarctica/McMurdo = Antarctica/South_Pole
Asia/Ashgabat = Asia/Ashkhabad
Asia/Dhaka = Asia/Dacca
Asia/Ho_Chi_Minh = Asia/Saigon
Asia/Hong_Kong = Hongkong
Asia/Jerusalem = Asia/Tel_Aviv Israel
Asia/Kathmandu = Asia/Katmandu
Asia/Kolkata = Asia/Calcutta
Asia/Macau = Asia/Macao
Asia/Makassar = Asia/Ujung_Pandang
Asia/Nicosia = Europe/Nicosia
Asia/Seoul = ROK
Asia/Shanghai = Asia/Chongqing Asia/Chungking Asia/Harbin PRC
Asia/Singapore = Singapore
Asia/Taipei = ROC
Asia/Tehran = Iran
Asia/Thimphu = Asia/Thimbu
Asia/Tokyo = Japan
Asia/Ulaanbaatar = Asia/Choibalsan Asia/Ulan_Bator
Asia/Urumqi = Asia/Kashgar
Asia/Yangon = Asia/Rangoon
Atlantic/Faroe = Atlantic/Faeroe
Atlantic/Reykjavik = Iceland
Australia/Adelaide = Australia/South
Australia/Brisbane = Australia/Queensland
Australia/Broken_Hill = Australia/Yancowinna
Australia/Darwin = Australia/North
Australia/Hobart = Australia/Currie Australia/Tasmania
Australia/Lord_Howe = Australia/LHI
Australia/Melbourne = Australia/Victoria
Australia/Perth = Australia/West
Australia/Sydney = Australia/ACT Australia/Canberra Australia/NSW
CET = MET
Etc/GMT = Etc/GMT+0 Etc/GMT-0 Etc/GMT0 Etc/Greenwich GMT+0 GMT-0 GMT0 Greenwich
Etc/UTC = Etc/UCT Etc/Universal Etc/Zulu UCT Universal Zulu
Europe/Chisinau = Europe/Tiraspol
Europe/Dublin = Eire
Europe/Istanbul = Asia/Istanbul Turkey
Europe/Kyiv = Europe/Kiev Europe/Uzhgorod Europe/Zaporozhye
Europe/Lisbon = Portugal
Europe/London = Europe/Belfast GB GB-Eire
Europe/Moscow = W-SU
Europe/Oslo = Atlantic/Jan_Mayen
Europe/Warsaw = Poland
Pacific/Auckland = NZ
Pacific/Chatham = NZ-CHAT
Pacific/Chuuk = Pacific/Truk Pacific/Yap
Pacific/Easter = Chile/EasterIsland
Pacific/Honolulu = Pacific/Johnston US/Hawaii
Pacific/Kanton = Pacific/Enderbury
Pacific/Kwajalein = Kwajalein
Pacific/Pago_Pago = Pacific/Samoa US/Samoa
Pacific/Pohnpei = Pacific/Ponape
UTC = GMT
"""


def _links() -> dict[str, str]:
    links: dict[str, str] = {}
    target = ""
    for word, following in zip((words := _ALIASES.split()), [*words[1:], ""], strict=True):
        if following == "=":
            target = word
        elif word != "=":
            links[word] = target
    return links


LINKS: Final[Mapping[str, str]] = MappingProxyType(_links())
"""Other names of a zone, each with the one that `ZZZ` writes."""
