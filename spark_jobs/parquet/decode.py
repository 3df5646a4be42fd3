"""Values decoded by a schema: the table ``[decode]`` and the column that it adds.

A value that does not match the schema becomes null and is counted, or ends the job,
as the config says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from spark_jobs.common.config import ConfigError
from spark_jobs.common.sink import has_class

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["DECODED", "Decode", "check_decode", "decoded_value"]

DECODED = "decoded"
"""Name of the added column."""

# A field added to the schema that shows whether a value was decoded; dropped from the result.
_TELLTALE = "_kafkalog_decoded"


@dataclass(frozen=True)
class Decode:
    """How values are decoded: the table ``[decode]``.

    Attributes
    ----------
    format : str
        ``none``, ``json`` or ``avro``.
    schema : str
        For JSON: columns as in ``CREATE TABLE``, or Spark's JSON form of a schema. For Avro: an Avro schema.
    schema_registry_header : bool
        Whether each value begins with five bytes: a zero and the id of its schema in a registry.
    on_error : str
        What to do with a value that cannot be decoded: ``null`` or ``fail``.
    keep_value : bool
        Whether to keep the column ``value``.
    """

    format: Literal["none", "json", "avro"] = "none"
    schema: str = ""
    schema_registry_header: bool = False
    on_error: Literal["null", "fail"] = "null"
    keep_value: bool = True


def check_decode(decode: Decode) -> None:
    """Check what can be checked without Spark.

    Raises
    ------
    ConfigError
        If a schema is missing, not needed, or not an Avro record schema.
    """
    if decode.format == "none":
        if decode != Decode():
            raise ConfigError('decode.format is "none", so the other keys of [decode] must not be set')
        return
    if not decode.schema.strip():
        raise ConfigError(f'decode.format = "{decode.format}" needs decode.schema')
    if decode.format == "avro":
        _avro_record(decode.schema)


def _avro_record(text: str) -> dict[str, Any]:
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"decode.schema is not an Avro schema: {error}") from error
    if not isinstance(schema, dict) or schema.get("type") != "record" or not isinstance(schema.get("fields"), list):
        raise ConfigError("decode.schema must be an Avro record schema")
    return schema


def decoded_value(spark: SparkSession, decode: Decode) -> Column:
    """Make the column of decoded values of the columns ``value``, ``topic``, ``partition`` and ``offset``.

    Parameters
    ----------
    spark : SparkSession
        Which may lack what Avro needs.
    decode : Decode
        With a format other than ``none``.

    Returns
    -------
    Column
        Null where the value is null, or cannot be decoded and `decode` says so.

    Raises
    ------
    ConfigError
        If the schema is none, or the package for Avro is not there.
    """
    from pyspark.sql import functions as F

    decoded = _of_json(decode, _payload(decode)) if decode.format == "json" else _of_avro(spark, decode)
    if decode.on_error == "null":
        return decoded
    # The message names the record and shows nothing of it.
    place = F.concat_ws(" ", F.lit("topic"), "topic", F.lit("partition"), "partition", F.lit("offset"), "offset")
    failure = F.raise_error(F.concat(F.lit(f"a value is not {decode.format} of decode.schema: "), place))
    return F.when(F.col("value").isNotNull() & decoded.isNull(), failure).otherwise(decoded)


def _payload(decode: Decode) -> Column:
    """Give the value without the header of a schema registry; null if it should have one and has not."""
    from pyspark.sql import functions as F

    if not decode.schema_registry_header:
        return F.col("value")
    has_header = (F.length("value") >= 5) & (F.substring("value", 1, 1) == F.expr("X'00'"))
    return F.when(has_header, F.expr("substring(value, 6)"))


def _of_json(decode: Decode, payload: Column) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([*_json_fields(decode.schema), StructField(_TELLTALE, StringType())])
    text = payload.cast("string")
    parsed = F.from_json(text, schema, {"columnNameOfCorruptRecord": _TELLTALE})
    # Of a JSON array, Spark would parse the first element and drop the others.
    is_object = F.ltrim(text).startswith("{")
    return F.when(is_object & parsed[_TELLTALE].isNull(), parsed.dropFields(_TELLTALE))


def _json_fields(text: str) -> StructType:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import DataType, StructType

    try:
        is_json = text.lstrip().startswith("{")
        schema = StructType.fromJson(json.loads(text)) if is_json else DataType.fromDDL(text)
    except (PySparkException, ValueError, KeyError) as error:
        reason = next((line for line in str(error).splitlines() if line), type(error).__name__)
        raise ConfigError(f"decode.schema is not a valid Spark schema: {reason}") from error
    if not isinstance(schema, StructType):
        raise ConfigError("decode.schema must list columns: id bigint, name string")
    return schema


def _of_avro(spark: SparkSession, decode: Decode) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.avro.functions import from_avro

    if not has_class(spark, "org.apache.spark.sql.avro.AvroDataToCatalyst"):
        raise ConfigError(
            "decode.format avro needs a package that is missing; add it with"
            f" spark-submit --packages org.apache.spark:spark-avro_2.13:{spark.version}"
        )
    record = _avro_record(decode.schema)
    # Spark returns a record of nulls for a value that it cannot decode. Only where decoding succeeds
    # does a field that only the reader schema has get its default.
    telltale = {"name": _TELLTALE, "type": ["boolean", "null"], "default": True}
    reading = json.dumps({**record, "fields": [*record["fields"], telltale]})
    parsed = from_avro(_payload(decode), json.dumps(record), {"mode": "PERMISSIVE", "avroSchema": reading})
    return F.when(parsed[_TELLTALE].isNotNull(), parsed.dropFields(_TELLTALE))
