"""Every function that an expression may call, and the names of functions that are not implemented."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from trellis.dialects.pinot.document.types import PinotType
from trellis.dialects.pinot.functions.casts import CASTS, CODECS
from trellis.dialects.pinot.functions.comparisons import COMPARISONS
from trellis.dialects.pinot.functions.date_time import TIMES
from trellis.dialects.pinot.functions.json_values import JSON_DOCUMENTS, UnsupportedPath, read_path
from trellis.dialects.pinot.functions.numbers import NUMBERS
from trellis.dialects.pinot.functions.patterns import PATTERNS
from trellis.dialects.pinot.functions.points import POINTS
from trellis.dialects.pinot.functions.registry import Function, merged
from trellis.dialects.pinot.functions.strings import TEXTS
from trellis.dialects.pinot.grammar.tokens import ExpressionError
from trellis.dialects.pinot.grammar.tree import Call, Expression, Literal, canonical, nodes
from trellis.errors import nearest

FUNCTIONS: Final[Mapping[str, tuple[Function, ...]]] = merged(
    CASTS, CODECS, COMPARISONS, JSON_DOCUMENTS, NUMBERS, PATTERNS, POINTS, TEXTS, TIMES
)
"""By canonical name. `and` and `or` are not here: they need not evaluate all their arguments."""


def _by_canonical_name(names: str) -> Mapping[str, str]:
    return {canonical(name): name for name in names.split()}


PRIMITIVE_ARRAYS: Final = _by_canonical_name(
    """
    agoMV arrayConcatDouble arrayConcatFloat arrayConcatInt arrayConcatLong arrayDistinctInt
    arrayIndexesOfDouble arrayIndexesOfFloat arrayIndexesOfInt arrayIndexesOfLong arrayIndexesOfString
    arrayPushBackDouble arrayPushBackFloat arrayPushBackInt arrayPushBackLong arrayPushFrontDouble
    arrayPushFrontFloat arrayPushFrontInt arrayPushFrontLong arrayRemoveInt arrayReverseInt arraySliceInt
    arraySortInt arrayUnionInt dateAddMV dateDiffMV dateDiffMVReverse dateTruncMV dayMV dayOfMonthMV
    dayOfWeekMV dayOfYearMV decodeGeoHash dowMV doyMV fromDateTimeMV fromEpochDaysBucketMV
    fromEpochDaysMV fromEpochHoursBucketMV fromEpochHoursMV fromEpochMinutesBucketMV fromEpochMinutesMV
    fromEpochSecondsBucketMV fromEpochSecondsMV fromIso8601MV fromTimestampMV generateDoubleArray
    generateFloatArray generateIntArray generateLongArray gridDisk hourMV intersectIndices millisecondMV
    minuteMV monthMV monthOfYearMV quarterMV roundMV secondMV timestampAddMV timestampDiffMV
    timestampDiffMVReverse timezoneHourMV timezoneMinuteMV toEpochDaysBucketMV toEpochDaysMV
    toEpochDaysRoundedMV toEpochHoursBucketMV toEpochHoursMV toEpochHoursRoundedMV toEpochMinutesBucketMV
    toEpochMinutesMV toEpochMinutesRoundedMV toEpochSecondsBucketMV toEpochSecondsMV
    toEpochSecondsRoundedMV weekMV weekOfYearMV yearMV yearOfWeekMV yowMV
    """
)
"""Functions of Pinot that return a primitive array: it can be stored in no column but one of JSON."""

UNSUPPORTED: Final = _by_canonical_name(
    """
    acos adler32 ago array arrayConcatString arrayContainsInt arrayContainsString arrayDistinctString
    arrayElementAtDouble arrayElementAtFloat arrayElementAtInt arrayElementAtLong arrayElementAtString
    arrayIndexOfInt arrayIndexOfString arrayPushBackString arrayPushFrontString arrayRemoveString
    arrayReverseString arraySliceString arraySortString arraysOverlap arraySumInt arraySumLong
    arrayUnionString arrayValueConstructor asin atan atan2 avgReduce base64Decode base64Encode
    bigDecimalToBytes brokerId bytesToBigDecimal byteswapInt byteswapLong chr cid cityHash128 cityHash32
    cityHash64 codepoint concatWS cos cosh cosineDistance cot cpcSketchToString cpcSketchUnion crc32
    crc32c cutFragment cutQueryString cutQueryStringAndFragment cutToFirstSignificantSubdomain
    cutToFirstSignificantSubdomainWithWWW cutURLParameter cutURLParameters cutWWW dateAdd dateBin
    dateDiff dateTimeConvert decodeGeoHashLat decodeGeoHashLatitude decodeGeoHashLon
    decodeGeoHashLongitude decodeUrl degrees dotProduct encodeGeoHash encodeUrl endTime
    euclideanDistance exp extractURLParameter extractURLParameterNames extractURLParameters fromAscii
    fromBytes fromIso8601 fromULL fromUUIDBytes gcd generateUniqueNgrams generateUniqueNgramsMV
    getCpcSketchEstimate getIntTupleSketchEstimate getThetaSketchEstimate gridDistance hammingDistance
    hexDecimalToLong hypot ifNotFinite initcap innerProduct intDiv intDivOrZero
    intMaxTupleSketchIntersect intMaxTupleSketchUnion intMinTupleSketchIntersect intMinTupleSketchUnion
    intSumTupleSketchDiff intSumTupleSketchIntersect intSumTupleSketchUnion ipPrefix ipSubnetMax
    ipSubnetMin isFinite isInfinite isJson isNaN isSubnetOf jsonExtractKey jsonKeyValueArrayToMap
    jsonStringToArray jsonStringToListOrMap jsonStringToMap l1Distance l2Distance lcm left leftSubStr
    levenshteinDistance likeVar ln log log10 log2 longToHexDecimal lpad md2 moduloOrZero murmurHash2
    murmurHash2Bit64 murmurHash2UTF8 murmurHash3Bit128 murmurHash3Bit32 murmurHash3Bit64
    murmurHash3X64Bit128 murmurHash3X64Bit32 murmurHash3X64Bit64 normalize positiveModulo pow power
    prefixes prefixesWithPrefix queryEngine radians rand regexpExtractVar regexpLikeVar regexpReplaceVar
    remove repeat reqId right rightSubStr rpad sha224 sign sin sinh sleep sqrt stageId startTime
    stAsGeoJson stContains stDistance stEquals stGeogFromGeoJson stGeogFromWKB stGeometryType
    stGeomFromGeoJson stGeomFromWKB strpos strrpos stWithin suffixes suffixesWithSuffix tan tanh
    thetaSketchDiff thetaSketchIntersect thetaSketchToString thetaSketchUnion timestampAdd timestampDiff
    timezoneHour timezoneMinute toAscii toBytes toCpcSketch toDateTimeMV toHLL toIntegerSumTupleSketch
    toIso8601 toIso8601MV toThetaSketch toTimestampMV toULL toUUIDBytes truncate uniqueNgrams
    uniqueNgramsMV urlDecode urlDecodeFormComponent urlDomain urlDomainWithoutWWW urlEncode
    urlEncodeFormComponent urlFirstSignificantSubdomain urlFragment urlHierarchy urlNetloc urlPath
    urlPathHierarchy urlPathWithQuery urlPort urlProtocol urlQueryString urlQueryStringAndFragment
    urlTopLevelDomain vectorDims vectorNorm workerId
    """
)
"""The other functions of Pinot that are not implemented."""

_INSTEAD: Final = (
    "let Pinot's own classes do it with --option functions=pinot-jars, or compute its result before the load"
)
_NAMES: Final = (*FUNCTIONS, "and", "or")
_SPELLINGS: Final = {
    canonical(name): name
    for functions in FUNCTIONS.values()
    for function in functions
    for name in function.names
}


class UnsupportedFunction(ExpressionError):
    """A function of Pinot that Trellis does not implement, so its use could not be checked."""


def function_of(name: str, count: int) -> Function:
    """The function of a name that takes so many arguments. Raises ExpressionError.

    >>> function_of("to_date_time", 2).names
    ('toDateTime',)
    >>> function_of("lowr", 1)
    Traceback (most recent call last):
    trellis...ExpressionError: unknown function lowr: did you mean 'lower'?
    """
    key = canonical(name)
    spelling = PRIMITIVE_ARRAYS.get(key) or UNSUPPORTED.get(key)
    if spelling is not None:
        raise UnsupportedFunction(f"Trellis does not carry out Pinot's function {spelling}: {_INSTEAD}")
    functions = FUNCTIONS.get(key)
    if functions is None:
        raise ExpressionError(f"unknown function {name[:60]}{_hint(key)}")
    for function in functions:
        if function.accepts(count):
            if function.package and find_spec(function.package) is None:
                raise UnsupportedFunction(
                    f"{function.names[0]} needs the package {function.package}:"
                    f" pip install 'trellis-spark[{function.package}]'"
                )
            return function
    counts = _accepted_counts(functions)
    noun = "argument" if counts == "1" else "arguments"
    raise ExpressionError(f"{functions[0].names[0]} takes {counts} {noun}, not {count}")


def check_calls(expression: Expression) -> None:
    """Raises ExpressionError for a call that Pinot refuses, else UnsupportedFunction if one is."""
    unsupported: UnsupportedFunction | None = None
    for node, _ in nodes(expression):
        if isinstance(node, Call) and node.name not in ("and", "or"):
            try:
                function_of(node.name, len(node.arguments))
                _check_path(node)
            except UnsupportedFunction as error:
                unsupported = unsupported or error
    if unsupported is not None:
        raise unsupported


def _check_path(call: Call) -> None:
    """Raises UnsupportedFunction for a constant JSON path that Trellis does not follow."""
    if call.name.startswith("jsonpath") and isinstance(call.arguments[1], Literal):
        try:
            read_path(str(call.arguments[1].value))
        except UnsupportedPath as error:
            raise UnsupportedFunction(f"{error}: {_INSTEAD}") from None


def array_sentence(expression: Expression, data_type: PinotType) -> str:
    """Why a column of the type cannot hold the value of the expression; empty where it can."""
    function = PRIMITIVE_ARRAYS.get(expression.name) if isinstance(expression, Call) else None
    if function is None or data_type is PinotType.JSON:
        return ""
    effect = "the row fails, or the value is null with continueOnError"
    if data_type is PinotType.STRING:
        effect = "the text becomes that of a Java object, such as [I@1f2e3d"
    return (
        f"{function} returns a primitive array, which Pinot cannot store in a column of {data_type.value}:"
        f" {effect}. Compute the column before the load"
    )


def _hint(key: str) -> str:
    """The nearest function, in its usual spelling."""
    hint = nearest(key, _NAMES)
    if not hint.startswith(": did"):
        return ""
    close = hint.split("'")[1]
    return f": did you mean {_SPELLINGS.get(close, close)!r}?"


def _accepted_counts(functions: tuple[Function, ...]) -> str:
    counts = {
        str(count)
        for function in functions
        for count in range(function.min_arguments, (function.max_arguments or function.min_arguments) + 1)
    }
    return " or ".join(sorted(counts))
