"""The names of the functions of Pinot 1.5.1 that are not implemented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trellis.dialects.pinot.grammar.tree import canonical


def _by_canonical_name(names: str) -> Mapping[str, str]:
    return {canonical(name): name for name in names.split()}


PRIMITIVE_ARRAYS: Final = _by_canonical_name(
    """
    agoMV arrayConcatDouble arrayConcatFloat arrayConcatInt arrayConcatLong arrayDistinctInt
    arrayIndexesOfDouble arrayIndexesOfFloat arrayIndexesOfInt arrayIndexesOfLong arrayIndexesOfString
    arrayPushBackDouble arrayPushBackFloat arrayPushBackInt arrayPushBackLong arrayPushFrontDouble
    arrayPushFrontFloat arrayPushFrontInt arrayPushFrontLong arrayRemoveInt arrayReverseInt arraySliceInt
    arraySortInt arrayUnionInt dateAddMV dateDiffMV dateDiffMVReverse dateTruncMV dayMV dayOfMonthMV
    dayOfWeekMV dayOfYearMV decodeGeoHash dowMV doyMV fromDateTimeMV fromEpochDaysBucketMV fromEpochDaysMV
    fromEpochHoursBucketMV fromEpochHoursMV fromEpochMinutesBucketMV fromEpochMinutesMV
    fromEpochSecondsBucketMV fromEpochSecondsMV fromIso8601MV fromTimestampMV generateDoubleArray
    generateFloatArray generateIntArray generateLongArray gridDisk hourMV intersectIndices millisecondMV
    minuteMV monthMV monthOfYearMV quarterMV roundMV secondMV timestampAddMV timestampDiffMV
    timestampDiffMVReverse timezoneHourMV timezoneMinuteMV toEpochDaysBucketMV toEpochDaysMV
    toEpochDaysRoundedMV toEpochHoursBucketMV toEpochHoursMV toEpochHoursRoundedMV toEpochMinutesBucketMV
    toEpochMinutesMV toEpochMinutesRoundedMV toEpochSecondsBucketMV toEpochSecondsMV
    toEpochSecondsRoundedMV weekMV weekOfYearMV yearMV yearOfWeekMV yowMV
    """
)
"""Those that return a primitive array: it can be stored in no column but one of JSON."""
UNSUPPORTED: Final = _by_canonical_name(
    """
    acos adler32 ago array arrayConcatString arrayContainsInt arrayContainsString arrayDistinctString
    arrayElementAtDouble arrayElementAtFloat arrayElementAtInt arrayElementAtLong arrayElementAtString
    arrayIndexOfInt arrayIndexOfString arrayPushBackString arrayPushFrontString arrayRemoveString
    arrayReverseString arraySliceString arraySortString arraysOverlap arraySumInt arraySumLong
    arrayToString arrayUnionString arrayValueConstructor asin atan atan2 avgReduce base64Decode
    base64Encode bigDecimalToBytes brokerId bytesToBigDecimal byteswapInt byteswapLong chr cid cityHash128
    cityHash32 cityHash64 codepoint concatWS cos cosh cosineDistance cot cpcSketchToString cpcSketchUnion
    crc32 crc32c cutFragment cutQueryString cutQueryStringAndFragment cutToFirstSignificantSubdomain
    cutToFirstSignificantSubdomainWithWWW cutURLParameter cutURLParameters cutWWW dateAdd dateBin dateDiff
    dateTimeConvert decodeGeoHashLat decodeGeoHashLatitude decodeGeoHashLon decodeGeoHashLongitude
    decodeUrl degrees dotProduct encodeGeoHash encodeUrl endTime euclideanDistance exp extractURLParameter
    extractURLParameterNames extractURLParameters fromAscii fromBase64 fromBytes fromIso8601 fromULL
    fromUUIDBytes gcd generateUniqueNgrams generateUniqueNgramsMV getCpcSketchEstimate
    getIntTupleSketchEstimate getThetaSketchEstimate gridDistance Groovy hammingDistance hexDecimalToLong
    hypot ifNotFinite initcap innerProduct intDiv intDivOrZero intMaxTupleSketchIntersect
    intMaxTupleSketchUnion intMinTupleSketchIntersect intMinTupleSketchUnion intSumTupleSketchDiff
    intSumTupleSketchIntersect intSumTupleSketchUnion ipPrefix ipSubnetMax ipSubnetMin isFinite isInfinite
    isJson isNaN isSubnetOf jsonExtractKey jsonKeyValueArrayToMap jsonStringToArray jsonStringToListOrMap
    jsonStringToMap l1Distance l2Distance lcm left leftSubStr levenshteinDistance likeVar ln log log10 log2
    longToHexDecimal lpad md2 moduloOrZero murmurHash2 murmurHash2Bit64 murmurHash2UTF8 murmurHash3Bit128
    murmurHash3Bit32 murmurHash3Bit64 murmurHash3X64Bit128 murmurHash3X64Bit32 murmurHash3X64Bit64
    normalize nullIf positiveModulo pow power prefixes prefixesWithPrefix queryEngine radians rand
    regexpExtract regexpExtractVar regexpLike regexpLikeVar regexpReplace regexpReplaceVar remove repeat
    reqId reverse right rightSubStr roundDecimal rpad sha224 sign sin sinh sleep splitPart sqrt stageId
    startTime stAsBinary stAsGeoJson stAsText stContains stDistance stEquals stGeogFromGeoJson
    stGeogFromText stGeogFromWKB stGeometryType stGeomFromGeoJson stGeomFromText stGeomFromWKB strcmp
    strpos strrpos stWithin suffixes suffixesWithSuffix tan tanh thetaSketchDiff thetaSketchIntersect
    thetaSketchToString thetaSketchUnion timestampAdd timestampDiff timezoneHour timezoneMinute toAscii
    toBase64 toBytes toCpcSketch toDateTimeMV toHLL toIntegerSumTupleSketch toIso8601 toIso8601MV
    toJsonMapStr toThetaSketch toTimestampMV toULL toUUIDBytes truncate uniqueNgrams uniqueNgramsMV
    urlDecode urlDecodeFormComponent urlDomain urlDomainWithoutWWW urlEncode urlEncodeFormComponent
    urlFirstSignificantSubdomain urlFragment urlHierarchy urlNetloc urlPath urlPathHierarchy
    urlPathWithQuery urlPort urlProtocol urlQueryString urlQueryStringAndFragment urlTopLevelDomain
    vectorDims vectorNorm workerId
    """
)
"""The others."""
