"""One Kafka broker on the loopback, from the jars of Maven Central."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("KAFKALOG_BROKER_CACHE", HERE.parents[1] / "build" / "broker"))
CLUSTER_ID = "kafkalog-tests-0000000"
START_SECONDS = 90
NO_LOG = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"
"""For programs of which only what they print is wanted."""
_LOG = "-Dorg.slf4j.simpleLogger.defaultLogLevel=info"


class UnavailableError(Exception):
    """There is no broker to be had here; the message says why."""


def class_path() -> str:
    """The jars of a broker, which are looked up once and kept in the build folder.

    Raises
    ------
    UnavailableError
        A tool is missing, or the jars cannot be had.
    """
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing:
        raise UnavailableError(f"not installed: {', '.join(missing)}")
    kept = CACHE / "class-path"
    pom = HERE / "pom.xml"
    if kept.exists() and kept.stat().st_mtime >= pom.stat().st_mtime:
        found = kept.read_text()
        if all(os.path.exists(jar) for jar in found.split(os.pathsep)):
            return found
    CACHE.mkdir(parents=True, exist_ok=True)
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:build-classpath", "-Dmdep.includeScope=runtime"]
    done = subprocess.run([*command, f"-Dmdep.outputFile={kept}"], capture_output=True, text=True, check=False)
    if done.returncode:
        reasons = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
        raise UnavailableError(f"the jars of a broker cannot be had: {(reasons or ['mvn failed'])[0][:300]}")
    return kept.read_text()


class Broker:
    """A running broker.

    Attributes
    ----------
    log_dir : Path
        Where its partitions are.
    bootstrap : str
        Host and port for clients.
    log : Path
        What it says about itself.
    """

    def __init__(self, home: Path, log_dir: Path, port: int, process: subprocess.Popen[bytes]) -> None:
        self.log_dir = log_dir
        self.log = home / "broker.log"
        self.bootstrap = f"127.0.0.1:{port}"
        self._process = process

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End it as an operator would, or by force if it does not listen."""
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it as a loss of power would, but for what the system has in its cache."""
        self._process.kill()
        self._process.wait()


@contextmanager
def running(home: Path, settings: Mapping[str, object], log_dir: Path | None = None) -> Iterator[Broker]:
    """A broker with its files below `home`, which is ended at the end; a new one unless it is given a log dir.

    Raises
    ------
    UnavailableError
        It cannot be had or does not start.
    """
    jars = class_path()
    port, controller_port = _free_ports(2)
    config = home / "server.properties"
    data = log_dir or home / "data"
    lines = _settings(data, port, controller_port) | settings
    config.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    java = ["java", "-Xmx700m", f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}", "-cp", jars]
    if log_dir is None:
        _format([*java[:-2], NO_LOG, *java[-2:]], config)
    with (home / "broker.log").open("wb") as log, ExitStack() as stack:
        command = [*java[:-2], _LOG, *java[-2:], "kafka.Kafka", str(config)]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        broker = Broker(home, data, port, process)
        stack.callback(lambda: broker.is_running and broker.stop())
        _await(broker, port, home / "broker.log")
        yield broker


def _format(java: list[str], config: Path) -> None:
    command = [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(config)]
    formatted = subprocess.run(command, capture_output=True, text=True, check=False)
    if formatted.returncode:
        raise UnavailableError(f"the broker's storage cannot be formatted: {formatted.stderr[-500:]}")


def _settings(log_dir: Path, port: int, controller_port: int) -> dict[str, object]:
    return {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": log_dir,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 2,
    }


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _await(broker: Broker, port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and broker.is_running:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise UnavailableError(f"the broker does not start: {log.read_text(errors='replace')[-500:]}")
