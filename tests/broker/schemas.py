"""The table of record schemas as Kafka's own classes have it: ``python -m tests.broker.schemas`` writes it anew."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.broker.broker import HERE, NO_LOG, class_path

SCHEMAS = Path(__file__).parents[2] / "kafkalog_source" / "internal_topics" / "schemas"
ZEROS = {"", "0", "0.0", "false", "[]", "AAAAAAAAAAAAAAAAAAAAAA"}
HEAD = """\
# Record types of {topic}, as the classes of Kafka {version} read and write them.
# A field: path, type, versions; then, where it applies, "nullable VERSIONS", "tag NUMBER", "default VALUE".
# Fields stand in the order of Kafka's JSON. A default is left out where it is the type's zero.
"""
CONFIG_HEAD = """\
# The names of a broker's settings in Kafka {version}: those of type PASSWORD, and all others.
"""


@dataclass
class Field:
    """One field over all versions of its message."""

    kind: str
    tag: str
    default: str
    versions: list[int] = field(default_factory=list)
    nullable: list[int] = field(default_factory=list)


@dataclass
class Message:
    """A key or a value."""

    topic: str
    record: str
    number: int
    part: str
    versions: list[int]
    flexible: set[int] = field(default_factory=set)
    order: list[str] = field(default_factory=list)
    fields: dict[str, Field] = field(default_factory=dict)


def dump() -> str:
    """What the Java program prints."""
    command = ["java", NO_LOG, "-cp", class_path(), str(HERE / "Schemas.java")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def messages(text: str) -> list[Message]:
    """The messages of a dump, with the versions of each field gathered."""
    found: list[Message] = []
    for line in text.splitlines():
        what, *words = line.split("\t")
        if what == "config":
            continue
        if what == "message":
            topic, record, number, part, low, high = words
            found.append(Message(topic, record, int(number), part, list(range(int(low), int(high) + 1))))
        elif what == "order":
            found[-1].order.append(_path(*words))
        elif what == "struct":
            _take_struct(found[-1], *words)
        else:
            _take_field(found[-1], *words)
    return found


def _take_struct(message: Message, path: str, version: str, flexible: str) -> None:
    if path == "." and flexible == "true":
        message.flexible.add(int(version))
    if (flexible == "true") != (int(version) in message.flexible):
        raise ValueError(f"{message.record}: {path} is not as flexible as its message")


def _take_field(message: Message, path: str, version: str, kind: str, nullable: str, tag: str, default: str) -> None:
    plain = kind.replace("COMPACT_", "").replace("NULLABLE_", "").lower().replace("boolean", "bool")
    each = message.fields.setdefault(_path(path), Field(plain, tag, default))
    if (each.kind, each.tag, each.default) != (plain, tag, default):
        raise ValueError(f"{message.record}: {path} changes between versions, which the table cannot say")
    each.versions.append(int(version))
    if nullable == "true":
        each.nullable.append(int(version))


def _path(path: str) -> str:
    return path[1:].replace("/", ".")


def versions_text(versions: Iterable[int], all_versions: list[int]) -> str:
    """``0+``, ``1`` or ``0-2``."""
    these = sorted(versions)
    low, high = these[0], these[-1]
    if these != list(range(low, high + 1)):
        raise ValueError(f"versions with a hole: {these}")
    if high == all_versions[-1]:
        return f"{low}+"
    return str(low) if low == high else f"{low}-{high}"


def field_text(path: str, each: Field, message: Message) -> str:
    """The row of the table."""
    words = [path, each.kind, versions_text(each.versions, message.versions)]
    if each.nullable:
        words += ["nullable", versions_text(each.nullable, message.versions)]
    if each.tag != "-":
        words += ["tag", each.tag]
    is_struct = each.kind == "struct" and each.default != "null"
    if each.default not in ZEROS and not is_struct:
        words += ["default", each.default]
    return " ".join(words)


def message_text(message: Message) -> list[str]:
    """The lines of a key or a value."""
    lines = [f"[{message.record}.{message.part}]"]
    low, high = message.versions[0], message.versions[-1]
    lines.append(f"versions = [{low}, {high}]")
    if message.flexible:
        lines.append(f"flexible = {min(message.flexible)}")
    rows = [field_text(path, message.fields[path], message) for path in message.order if path in message.fields]
    if not rows:
        return [*lines, "fields = []", ""]
    return [*lines, "fields = [", *(f'    "{row}",' for row in rows), "]", ""]


def tables(version: str, found: list[Message]) -> dict[str, str]:
    """The text of each file by its name."""
    texts: dict[str, list[str]] = {}
    seen = set()
    for message in found:
        lines = texts.setdefault(message.topic, [HEAD.format(topic=message.topic, version=version)])
        if (message.topic, message.record) not in seen:
            seen.add((message.topic, message.record))
            lines += [f"[{message.record}]", f"id = {message.number}", ""]
        lines += message_text(message)
    return {f"{topic}.toml": "\n".join(lines) for topic, lines in texts.items()}


def config_names(version: str, text: str) -> str:
    """The file of a broker's settings."""
    configs = [line.split("\t")[1:] for line in text.splitlines() if line.startswith("config\t")]
    lines = [CONFIG_HEAD.format(version=version)]
    for title, wanted in (("passwords", True), ("others", False)):
        names = [f'    "{name}",' for name, kind in configs if (kind == "PASSWORD") is wanted]
        lines += [f"{title} = [", *names, "]"]
    return "\n".join(lines) + "\n"


def kafka_version() -> str:
    """The version of the jars."""
    jar = next(Path(each).name for each in class_path().split(os.pathsep) if "kafka-clients" in each)
    return jar.removeprefix("kafka-clients-").removesuffix(".jar")


def current() -> dict[str, str]:
    """The files as they have to be."""
    version, text = kafka_version(), dump()
    return tables(version, messages(text)) | {"broker_configs.toml": config_names(version, text)}


def main() -> int:
    SCHEMAS.mkdir(parents=True, exist_ok=True)
    for name, text in current().items():
        (SCHEMAS / name).write_text(text, encoding="utf-8")
        print(f"{SCHEMAS / name}: {text.count(chr(10))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
