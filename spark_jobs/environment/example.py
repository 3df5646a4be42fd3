"""Example files for a job of one's own: a config that explains every key, and a schedule for cron and systemd."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from string import Template

from spark_jobs.environment.shipped import shipped_files

__all__ = ["write_example"]

_CRONTAB = Template("""\
# Add this line to a crontab with: crontab -e
# Every night at 01:15; flock starts no second run while one is active. A failure is in the log and in the mail of cron.
15 1 * * *  cd $quoted_directory && flock -n -E 0 $job.lock $quoted_command >>$job.log 2>&1 || echo "$job failed"
""")
_SERVICE = Template("""\
# Copy this file and the timer to ~/.config/systemd/user or /etc/systemd/system.
[Unit]
Description=kafkalog: $job

[Service]
Type=oneshot
WorkingDirectory=$directory
ExecStart=$command
""")
_TIMER = Template("""\
# Start it with: systemctl --user enable --now kafkalog-$job.timer
[Unit]
Description=kafkalog: $job every night

[Timer]
OnCalendar=*-*-* 01:15:00
Persistent=true

[Install]
WantedBy=timers.target
""")
_SCHEDULE = {"kafkalog-{}.crontab": _CRONTAB, "kafkalog-{}.service": _SERVICE, "kafkalog-{}.timer": _TIMER}

# What the shipped configs say about a checkout, and what stands for it in an example.
_PLACES = (
    (r"^(# Config of )spark_jobs/(\w+)\.py", r"\1the job \2"),
    (r"^#   spark-submit (?:.*\\\n)?.*\n", ""),
    (r"python -m spark_jobs\.(\w+)", r"kafkalog job \1"),
    (r"\bconf/(\w+\.toml)", r"\1"),
    (r'^paths = \["spark_jobs/sample.*\]$', 'paths = ["/backup/broker-1/kafka-logs"]'),
    (r'"build/', '"output/'),
)


def write_example(directory: Path, job: str) -> tuple[list[Path], str]:
    """Write the example files of a job.

    Parameters
    ----------
    directory : Path
        Where; it is made if it does not exist.
    job : str
        The name of the job.

    Returns
    -------
    list of Path
        The files, first the config.
    str
        The command that runs the job with this config.

    Raises
    ------
    FileExistsError
        If one of the files exists; then none is written.
    """
    config = directory / f"{job}.toml"
    kafkalog = Path(sys.executable).with_name("kafkalog")
    command = [str(kafkalog) if kafkalog.exists() else "kafkalog", "job", job, "--config", config.name]
    place = str(directory.resolve())
    words = {
        "job": job,
        "directory": place,
        "command": " ".join(command),
        "quoted_directory": shlex.quote(place),
        "quoted_command": shlex.join(command),
    }
    files = {config: _config(job)}
    files |= {directory / name.format(job): text.substitute(words) for name, text in _SCHEDULE.items()}
    for path in files:
        if path.exists():
            raise FileExistsError(17, "file exists", str(path))
    directory.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    return list(files), f"kafkalog job {job} --config {config}"


def _config(job: str) -> str:
    text = (shipped_files() / f"{job}.toml").read_text(encoding="utf-8")
    for found, example in _PLACES:
        text = re.sub(found, example, text, flags=re.MULTILINE)
    return text
