"""Words of the language to the C++ tags of CUTLASS 3.x on sm_90a (`gemm/dispatch_policy.hpp`,
`epilogue/dispatch_policy.hpp`)."""

from ucutlass.dialects.ucutlass.attributes import FAST_SUFFIX
from ucutlass.records import record


@record
class ScheduleTags:
    """The C++ tags that one word of `.with_schedule` stands for."""

    kernel: str
    tma_epilogue: str | None
    """The epilogue of `.with_epilogue(tma)`, None where the schedule has none."""
    persistent: bool


SCHEDULE_TAGS: dict[str, ScheduleTags] = {
    "cooperative": ScheduleTags("KernelTmaWarpSpecializedCooperative", "TmaWarpSpecializedCooperative", True),
    "pingpong": ScheduleTags("KernelTmaWarpSpecializedPingpong", "TmaWarpSpecialized", True),
    "warpspecialized": ScheduleTags("KernelTmaWarpSpecialized", "TmaWarpSpecialized", False),
    "tma": ScheduleTags("KernelTma", None, False),
    "cpasync": ScheduleTags("KernelCpAsyncWarpSpecialized", None, False),
    "cpasync_cooperative": ScheduleTags("KernelCpAsyncWarpSpecializedCooperative", None, True),
    "cpasync_pingpong": ScheduleTags("KernelCpAsyncWarpSpecializedPingpong", None, True),
}

NOSMEM_EPILOGUE = "NoSmemWarpSpecialized"


def kernel_tag(schedule: str) -> str:
    """The kernel tag of a schedule's word, its `_fp8_fast` suffix included."""
    base = schedule.removesuffix(FAST_SUFFIX)
    return SCHEDULE_TAGS[base].kernel + ("FP8FastAccum" if base != schedule else "")


def epilogue_tag(schedule: str, epilogue: str) -> str:
    """The epilogue tag that goes with a schedule. The configuration was verified, so the pair exists."""
    tag = SCHEDULE_TAGS[schedule.removesuffix(FAST_SUFFIX)].tma_epilogue if epilogue == "tma" else NOSMEM_EPILOGUE
    assert tag is not None
    return tag
