"""Rejects unknown option names, suggesting the nearest one, and options that need a broker."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalog_source.errors import OptionError, did_you_mean, printable

__all__ = ["refuse_broker_option", "refuse_unknown_option"]

_NO_BROKER = "kafkalog reads files and connects to no broker"
_USE_PATH = "Leave it out and give the log directory as the path: load('/path/to/kafka-logs')"
_LEAVE_OUT = "Leave it out"

# Options of Spark's own Kafka source and sink that have no meaning without a broker, in lower case,
# each with its remedy.
_BROKER_OPTIONS = {
    "kafka.bootstrap.servers": _USE_PATH,
    "kafka.group.id": f"{_LEAVE_OUT}; no consumer group is joined and no offset is committed",
    "groupidprefix": f"{_LEAVE_OUT}; no consumer group is joined and no offset is committed",
    "kafka.auto.offset.reset": "Use startingOffsets, which is earliest by default",
    "kafka.key.deserializer": "Keys are binary; cast or decode the column",
    "kafka.value.deserializer": "Values are binary; cast or decode the column",
    "kafka.max.poll.records": "Use maxRecordsPerPartition or maxPartitionBytes",
    "kafka.check.crcs": "Use verifyChecksums",
    "kafkaconsumer.polltimeoutms": f"{_LEAVE_OUT}; nothing is polled",
    "fetchoffset.numretries": f"{_LEAVE_OUT}; offsets are found in the files",
    "fetchoffset.retryintervalms": f"{_LEAVE_OUT}; offsets are found in the files",
    "topic": "Use subscribe, subscribePattern or assign to choose topics",
}
_BROKER_PREFIXES = {
    "kafka.": _USE_PATH,
    "kafkaconsumer.": f"{_LEAVE_OUT}; nothing is polled",
    "fetchoffset.": f"{_LEAVE_OUT}; offsets are found in the files",
}


def refuse_broker_option(name: str) -> None:
    """Raise for an option of Spark's Kafka source that only makes sense with a broker.

    The error does not show the value, because ``kafka.*`` options may carry passwords.
    """
    lower = name.lower()
    remedy = _BROKER_OPTIONS.get(lower)
    if remedy is None:
        remedy = next((text for prefix, text in _BROKER_PREFIXES.items() if lower.startswith(prefix)), None)
    if remedy is not None:
        raise OptionError(f"option {printable(name)} is for a broker, and {_NO_BROKER}", remedy=remedy)


def refuse_unknown_option(name: str, known: Iterable[str]) -> None:
    """Raise for an unknown option, suggesting the nearest one."""
    options = sorted(known, key=str.lower)
    remedy = did_you_mean(name, options) or f"Options are {', '.join(options)}"
    raise OptionError(f"unknown option {printable(name)}", remedy=remedy)
