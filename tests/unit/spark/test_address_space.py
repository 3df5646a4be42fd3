"""Where address space is limited, what one task of a worker took is there for the next."""

from __future__ import annotations

import subprocess
import sys

import pytest

_TAKE_AND_GIVE = """
import ctypes, resource
from kafkalog_source.spark.address_space import address_space_limit, give_large_blocks_back

def taken():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmSize"))

assert address_space_limit() is None
resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))
assert address_space_limit() == 1 << 40
give_large_blocks_back()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
before = taken()
for _ in range(20):
    blocks = [libc.malloc(size << 20) for size in (20, 5, 30, 8)]
    small = libc.malloc(1000)
    for block in blocks:
        libc.free(block)
print(taken() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator is meant, and /proc")
def test_large_blocks_are_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", _TAKE_AND_GIVE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 4096
