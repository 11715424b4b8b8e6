"""Compile C with the system compiler, cache by content, load with ctypes.

Knows nothing of what the C code does. May import :mod:`cognate.errors` and
:mod:`cognate.files`.
"""

from cognate.files import cache_folder
from cognate.native.compiler import Compiler, find_compiler, load_library

__all__ = ["Compiler", "cache_folder", "find_compiler", "load_library"]
