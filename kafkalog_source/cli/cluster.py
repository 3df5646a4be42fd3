"""``kafkalog cluster``: what a cluster looked like, by its metadata log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from kafkalog_source.answers.metadata_log import ClusterState, read_cluster
from kafkalog_source.answers.metadata_start import Point
from kafkalog_source.cli.cells import iso_utc
from kafkalog_source.cli.text import complain, json_line, table
from kafkalog_source.errors import BAD_DATA, DONE, OptionError, counted, printable
from kafkalog_source.options.times import milliseconds

__all__ = ["run"]

_Document = Mapping[str, Any]
_Rows = list[list[object]]
_RIGHT = frozenset({"ID", "PARTITION", "LEADER", "EPOCH", "ITERATIONS"})
_NO_LEADER = -1
_MOST_PROBLEMS = 10
"""That are printed; --json has all of them."""


def run(
    out: TextIO,
    paths: Sequence[str],
    given: Mapping[str, Any],
    *,
    as_json: bool,
    at: str | None,
    at_offset: int | None,
) -> int:
    """Write the state of the cluster, and return the exit status."""
    if at is not None and at_offset is not None:
        raise OptionError("--at and --at-offset are both given", remedy="Leave one of them out")
    point = Point(offset=at_offset, time_ms=None if at is None else milliseconds(at))
    state = read_cluster(paths, given, point)
    document = {"timestamp": _time(state.timestamp_ms), **state.to_json()}
    del document["timestampMs"]
    if as_json:
        out.write(json_line(document) + "\n")
    else:
        out.writelines(f"{line}\n" for line in _lines(document))
    return _print_problems(state)


def _lines(found: _Document) -> Iterator[str]:
    yield from _head(found)
    for title, heads, rows in _sections(found):
        if rows:
            yield ""
            yield title
            yield from table(heads, [[printable(str(cell)) for cell in row] for row in rows], _RIGHT)
    yield ""
    yield _summary(found)


def _head(found: _Document) -> Iterator[str]:
    yield f"cluster {_text(found['clusterId'])}, metadata.version {_text(found['metadataVersion'])}"
    if found["offset"] < 0:
        yield "as it was formatted, before the first record of the metadata log"
    else:
        where = ", the end of the log" if found["isLogEnd"] else ""
        yield f"as of offset {found['offset']}, {_text(found['timestamp'])}{where}"
    if found["isLogEnd"] and found["offset"] > found["committedOffset"]:
        committed = found["committedOffset"]
        which = "its last records" if committed < 0 else f"records after offset {committed}, where the snapshot ends,"
        yield f"the log does not record its high watermark: {which} may not have been committed"
    if found["inTransaction"]:
        yield "inside a metadata transaction, whose records do not count yet"
    voters = ", ".join(str(voter["id"]) for voter in found["voters"])
    yield f"active controller {_text(found['leader'])}, epoch {_text(found['leaderEpoch'])}, voters {voters or '-'}"
    features = {"kraft.version": found["kraftVersion"], **found["features"]}
    others = [f"{name}={level}" for name, level in features.items() if level is not None and name != "metadata.version"]
    if others:
        yield "features " + ", ".join(sorted(others))
    if found["directory"] is not None:
        yield printable(f"from {found['directory']}")


def _sections(found: _Document) -> Iterator[tuple[str, Sequence[str], _Rows]]:
    yield "brokers", ("ID", "EPOCH", "STATE", "RACK", "ENDPOINTS"), [_broker(each) for each in found["brokers"]]
    yield "controllers", ("ID", "ENDPOINTS"), [[each["id"], _endpoints(each)] for each in found["controllers"]]
    topic_heads = ("TOPIC", "PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "ELR", "STATE")
    yield "topics", topic_heads, [_partition(topic, each) for topic in found["topics"] for each in topic["partitions"]]
    configs = [
        [each["resourceType"], each["resourceName"] or "(default)", name, value]
        for each in found["configs"]
        for name, value in each["values"].items()
    ]
    yield "configs", ("RESOURCE", "NAME", "CONFIG", "VALUE"), configs
    acl_heads = ("PRINCIPAL", "HOST", "PERMISSION", "OPERATION", "RESOURCE", "PATTERN", "NAME")
    names = ("principal", "host", "permissionType", "operation", "resourceType", "patternType", "resourceName")
    yield "ACLs", acl_heads, [[each[name] for name in names] for each in found["acls"]]
    quotas = [
        [_entity(each["entity"]), name, value] for each in found["quotas"] for name, value in each["limits"].items()
    ]
    yield "quotas", ("ENTITY", "QUOTA", "VALUE"), quotas
    users = [[each["name"], each["mechanism"], each["iterations"]] for each in found["users"]]
    yield "users", ("USER", "MECHANISM", "ITERATIONS"), users
    tokens = [
        [each["tokenId"], each["owner"], ", ".join(each["renewers"]) or "-", _time(each["expirationTimestamp"])]
        for each in found["delegationTokens"]
    ]
    yield "delegation tokens", ("TOKEN", "OWNER", "RENEWERS", "EXPIRES"), tokens


def _broker(each: _Document) -> list[object]:
    flags = {
        "fenced": each["fenced"],
        "shutting down": each["inControlledShutdown"],
        "cordoned": bool(each["cordonedLogDirs"]),
    }
    state = ", ".join(name for name, holds in flags.items() if holds) or "active"
    return [each["id"], each["epoch"], state, _text(each["rack"]), _endpoints(each)]


def _endpoints(node: _Document) -> str:
    return ", ".join(f"{each['name']}://{each['host']}:{each['port']}" for each in node["endpoints"])


def _partition(topic: _Document, each: _Document) -> list[object]:
    elr = each["eligibleLeaderReplicas"]
    leader = "none" if each["leader"] == _NO_LEADER else each["leader"]
    lists = [_numbers(each["replicas"]), _numbers(each["isr"]), _numbers(elr)]
    return [topic["name"], each["partition"], leader, each["leaderEpoch"], *lists, ", ".join(_flags(each)) or "-"]


def _flags(partition: _Document) -> Iterator[str]:
    """What an operator would look at."""
    if partition["leader"] == _NO_LEADER:
        yield "leaderless"
    if _is_under_replicated(partition):
        yield "under-replicated"
    if partition["addingReplicas"]:
        yield f"adding {_numbers(partition['addingReplicas'])}"
    if partition["removingReplicas"]:
        yield f"removing {_numbers(partition['removingReplicas'])}"
    if partition["leaderRecoveryState"] != "RECOVERED":
        yield "recovering"


def _is_under_replicated(partition: _Document) -> bool:
    """Whether a replica is missing in the ISR; one that is being added is not expected there (``Partition``)."""
    wanted = set(partition["replicas"]) - set(partition["addingReplicas"])
    return not wanted <= set(partition["isr"])


def _entity(entity: Mapping[str, str | None]) -> str:
    return ", ".join(f"{kind}={'(default)' if name is None else name}" for kind, name in entity.items())


def _numbers(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers)) or "-"


def _summary(found: _Document) -> str:
    partitions = [each for topic in found["topics"] for each in topic["partitions"]]
    counts = [
        counted(len(found["brokers"]), "broker"),
        counted(len(found["topics"]), "topic"),
        counted(len(partitions), "partition"),
    ]
    bad: dict[str, Callable[[_Document], bool]] = {
        "leaderless": lambda each: each["leader"] == _NO_LEADER,
        "under-replicated": _is_under_replicated,
    }
    found_bad = {name: sum(map(test, partitions)) for name, test in bad.items()}
    flagged = ", ".join(f"{count} {name}" for name, count in found_bad.items() if count)
    return ", ".join(counts) + (f" ({flagged})" if flagged else "")


def _time(timestamp_ms: int | None) -> str | None:
    return None if timestamp_ms is None else iso_utc(timestamp_ms * 1000)


def _text(value: object) -> str:
    return "-" if value is None else str(value)


def _print_problems(state: ClusterState) -> int:
    problems = state.image.problems
    for problem in problems[:_MOST_PROBLEMS]:
        complain(problem)
    if len(problems) > _MOST_PROBLEMS:
        complain(f"{len(problems) - _MOST_PROBLEMS} more; --json lists them")
    return BAD_DATA if problems else DONE
