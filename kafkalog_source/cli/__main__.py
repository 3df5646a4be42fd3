"""``python -m kafkalog_source.cli``, the same as the command ``kafkalog``."""

from __future__ import annotations

import sys

from kafkalog_source.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
