"""The members of ``cpu-core``, as a union of small products (families).

Each family is a way to run the kernel that is fastest for some kind of matrix, or that is in
common use, with the parameters that matter for it. What a family leaves out has the default
value (the ``taco`` schedule's).
"""

from collections.abc import Mapping

from cognate.schedules.space import Value

Family = Mapping[str, tuple[Value, ...]]

_WIDTHS: tuple[Value, ...] = (16, 32, 64, 128, 256)
_HALVES: tuple[Value, ...] = (16, 32, 64, 128)
_TILES: tuple[Value, ...] = (32, 256, 2048)
_PANELS: tuple[Value, ...] = (1024, 4096, 16384, 65536)
_SHARES: tuple[Value, ...] = (1, "static")
_BLOCKS: tuple[Value, ...] = (2, 4, 8)
_ROW_CHUNKS: tuple[Value, ...] = (8, 64, "static")


def _registers(**choices: tuple[Value, ...]) -> Family:
    return {"inner": ("register",), **choices}


_PLAIN: tuple[Family, ...] = (
    # CSR and DCSR as sparse compilers print them.
    {"chunk": (1, 8, 32, 256, "static")},
    {"format": ("CUUC",), "chunk": (32, "static")},
    # Slices outside the rows of a tile.
    {"order": ("i1j1i0k1k0j0",), "i": (32, 256), "j": _HALVES, "chunk": _SHARES},
    # Column panels inside and outside of row tiles.
    {
        "order": ("i1k1i0k0j1j0", "k1i1i0k0j1j0"),
        "i": (32, 256),
        "k": (1024, 16384),
        "format": ("UCCC",),
        "chunk": (1,),
    },
)

_SPMM: tuple[Family, ...] = (
    # CSR, sums in registers; DCSR.
    _registers(
        order=("i1i0k1j1k0j0",),
        j=_WIDTHS,
        chunk=_ROW_CHUNKS,
        unroll=(1, 2, 4),
        prefetch=(0, 8, 32),
    ),
    _registers(
        order=("i1i0k1j1k0j0",),
        j=(32, 128, 256),
        format=("CUUC",),
        chunk=(64, "static"),
        unroll=(2,),
        prefetch=(0, 8),
    ),
    # CSR whose result does not pass through the caches.
    _registers(
        order=("i1i0k1j1k0j0",),
        j=_WIDTHS,
        chunk=(64, "static"),
        unroll=(2,),
        prefetch=(0, 8),
        store=("stream",),
    ),
    # Slices outside the rows of a tile: a slice of B stays in cache.
    _registers(
        order=("i1j1i0k1k0j0",),
        i=_TILES,
        j=_HALVES,
        chunk=_SHARES,
        unroll=(2,),
        prefetch=(0, 8),
    ),
    # Column panels outside rows, a barrier after each.
    _registers(
        order=("k1i1i0j1k0j0", "k1i1j1i0k0j0"),
        i=(32, 256),
        k=_PANELS,
        j=_WIDTHS,
        format=("UCUC",),
        chunk=_SHARES,
        unroll=(2,),
        prefetch=(0, 8),
    ),
    # Column panels inside row tiles.
    _registers(
        order=("i1k1i0j1k0j0", "i1k1j1i0k0j0"),
        i=_TILES,
        k=_PANELS,
        j=(64, 128, 256),
        format=("UCCC",),
        chunk=(1,),
        unroll=(2,),
        prefetch=(0, 8),
    ),
    # Dense blocks.
    _registers(
        order=("i1j1k1i0k0j0",),
        i=_BLOCKS,
        k=_BLOCKS,
        j=(32, 64),
        format=("UUCU",),
        chunk=(64, "static"),
        store=("cached", "stream"),
    ),
    # Columns inside row tiles: a row of B is held, rows of C are updated.
    _registers(
        order=("i1k1k0j1i0j0",),
        i=_TILES,
        j=(64, 128, 256),
        format=("UCUC",),
        chunk=_SHARES,
    ),
    _registers(
        order=("i1k1j1k0i0j0",),
        i=(32, 256),
        k=(1024, 16384),
        j=(64, 128, 256),
        format=("UCCC",),
        chunk=(1,),
    ),
)

_SDDMM: tuple[Family, ...] = (
    # CSR and DCSR, several dot products at a time.
    _registers(chunk=_ROW_CHUNKS, unroll=(1, 2, 4, 8), prefetch=(0, 8, 32)),
    _registers(format=("CUUC",), chunk=(64, "static"), unroll=(4,), prefetch=(0, 8)),
    # Slices outside the rows of a tile.
    _registers(
        order=("i1j1i0k1k0j0",),
        i=_TILES,
        j=_HALVES,
        chunk=_SHARES,
        unroll=(4,),
        prefetch=(0, 8),
    ),
    # Slices inside a row.
    _registers(
        order=("i1i0k1j1k0j0",),
        j=_HALVES,
        chunk=(64, "static"),
        unroll=(4, 8),
        prefetch=(0, 8),
    ),
    # Column panels outside rows, with a barrier after each, or shared among threads.
    _registers(
        order=("k1i1i0k0j1j0",),
        i=(32, 256),
        k=_PANELS,
        format=("UCUC",),
        chunk=_SHARES,
        unroll=(4, 8),
        prefetch=(0, 8),
    ),
    _registers(
        order=("k1i1i0k0j1j0", "k1i1j1i0k0j0"),
        i=_TILES,
        k=(256, *_PANELS),
        j=("all", *_HALVES),
        format=("CCUC",),
        parallel=("k1",),
        chunk=(1,),
        unroll=(4,),
        prefetch=(0, 8),
    ),
    # Column panels inside row tiles.
    _registers(
        order=("i1k1i0k0j1j0", "i1k1j1i0k0j0"),
        i=_TILES,
        k=_PANELS,
        j=("all", *_HALVES),
        format=("UCCC",),
        chunk=(1,),
        unroll=(4,),
        prefetch=(0, 8),
    ),
    # Dense blocks.
    _registers(
        order=("i1j1k1i0k0j0",),
        i=_BLOCKS,
        k=_BLOCKS,
        j=(64, 256),
        format=("UUCU",),
        chunk=(64, "static"),
    ),
    # Columns inside row tiles, and columns in parallel.
    _registers(
        order=("i1k1k0i0j1j0",),
        i=_TILES,
        format=("UCUC",),
        chunk=_SHARES,
        unroll=(4, 8),
        prefetch=(0, 8),
    ),
    _registers(
        order=("k1i1k0i0j1j0",),
        i=(2048,),
        k=(256, *_PANELS),
        format=("CCUC",),
        parallel=("k1",),
        chunk=(1,),
        unroll=(4,),
        prefetch=(0, 8),
    ),
)

CORE: dict[str, tuple[Family, ...]] = {"spmm": _PLAIN + _SPMM, "sddmm": _PLAIN + _SDDMM}
"""Families of ``cpu-core`` by operation; members that ``cpu-full`` forbids are left out."""
