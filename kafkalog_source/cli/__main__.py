"""``python -m kafkalog_source.cli``, the same as the command ``kafkalog``."""

from __future__ import annotations

import sys

try:
    from kafkalog_source.cli.main import main
except ImportError as error:
    if error.name != "kafkalog_source._core":
        raise
    print(f"kafkalog: {error}", file=sys.stderr)
    sys.exit(2)

if __name__ == "__main__":
    sys.exit(main())
