import pytest

from cognate.operations import OPERATION_NAMES, get_operation
from cognate.platforms.cpu import describe_schedule
from cognate.platforms.cpu.spaces import space_of

SPMM, SDDMM = (get_operation(name, 256) for name in OPERATION_NAMES)


def shown(text, operation=SPMM):
    lines = describe_schedule(space_of("cpu-full", operation).parse(text), operation).split("\n")
    assert lines[0].startswith("// order=")
    return "\n".join(lines[2:])


def test_default_is_the_plain_csr_loop():
    assert (
        shown("")
        == """\
#pragma parallel for schedule(dynamic, 32)
for (i1 = 0; i1 < rows; i1++)
    for (k0 in stored columns)
        for (j0 = 0; j0 < 256; j0++)
            C[i, j] += A[i, k] * B[k, j];"""
    )


def test_phases_show_their_barrier_and_registers_their_extent():
    text = shown(
        "order=k1i1i0j1k0j0 i=32 k=4096 j=128 format=UCUC chunk=static inner=register "
        "unroll=2 prefetch=8"
    )
    assert (
        text
        == """\
for (k1 = 0; k1 < ceil(cols / 4096); k1++)
    #pragma parallel for schedule(static)  // then a barrier, for each k1
    for (i1 = 0; i1 < ceil(rows / 32); i1++)
        for (i0 in stored rows)
            for (j1 = 0; j1 < 2; j1++)
                register float sum[128] = {0};  // 2 nonzeros a step, dense rows prefetched \
8 nonzeros ahead
                for (k0 in stored columns)
                    for (j0 = 0; j0 < 128; j0++)  // vectors
                        sum[j0] += A[i, k] * B[k, j];
                C[i, slice] += sum;"""
    )


def test_blocks_hold_rows_of_sums():
    text = shown("order=i1j1k1i0k0j0 i=4 k=2 j=64 format=UUCU chunk=static inner=register")
    assert "register float sum[4][64] = {0};" in text
    assert "for (k0 = 0; k0 < 2; k0++)  // absent ones stored as zeros" in text


def test_sddmm_sums_one_entry():
    text = shown("chunk=8 inner=register unroll=4", SDDMM)
    assert text.endswith("""\
        register float sum = 0;  // 4 nonzeros a step
        for (j0 = 0; j0 < 256; j0++)  // vectors
            sum += B[i, j] * D[k, j];
        C[i, k] = A[i, k] * sum;""")


@pytest.mark.parametrize("space", ["cpu-full", "cpu-waco"])
@pytest.mark.parametrize("operation", [SPMM, SDDMM])
def test_every_schedule_can_be_shown(space, operation):
    for schedule in space_of(space, operation).sample(200, seed=0):
        lines = describe_schedule(schedule, operation).split("\n")
        assert str(schedule) in lines[0]
        assert sum("#pragma" in line for line in lines) == 1
        assert sum("A[i, k] *" in line for line in lines) == 1
