"""Rules of convolution kernels: implicit gemms of the sm_90a builders and of the sm_80 family.

Imports only the standard library and the values of `ucutlass.targets`. The gemm that a convolution is obeys the gemm
rules of its family as far as they apply; here is what only convolutions have.
"""

import math

from ucutlass.targets.conv import ConvProblem
from ucutlass.targets.rules.common import INT_LIMIT
from ucutlass.targets.rules.core import Candidate, Finding, Fix, rule
from ucutlass.targets.rules.text import bytes_text
from ucutlass.targets.rules.types import kind_of
from ucutlass.targets.stage_arithmetic import round_up

IM2COL_BITS = 16
"""Bits that a TMA descriptor has for all spatial corners together."""
MAX_PADDING = {1: 65536, 2: 256, 3: 16}
OPTIMIZED_MAX_FILTER = 32


def conv_of(candidate: Candidate) -> ConvProblem:
    assert candidate.conv is not None
    return candidate.conv


@rule(
    "UC0511",
    source="conv/collective/builders/sm90_gmma_builder.inl: TensorNWC, TensorNHWC, TensorNDHWC; 2.x:"
    " layout::TensorNHWC",
)
def tensors_are_channels_last(candidate: Candidate) -> Finding | None:
    """All tensors are stored with channels innermost."""
    if conv_of(candidate).channels_last:
        return None
    return Finding(
        "convolution kernels read and write tensors with the channels innermost (@channels_last); here some are not",
        "operand:0",
    )


@rule(
    "UC0521",
    "schedule",
    source="conv/collective/builders/sm90_gmma_builder.inl: im2col TMA needs 16-byte channel lines",
)
def channels_suit_tma(candidate: Candidate) -> Finding | None:
    """Channel counts of operands are multiples of 16 bytes."""
    conv, bits = conv_of(candidate), candidate.problem.a.element.bits
    needed = 128 // bits
    for which in "ab":
        name, count = conv.channels(which)
        if count % needed:
            return Finding(
                f"{name} = {count} channels of {conv.element} are {bytes_text(count * bits / 8)}, and TMA moves lines"
                " of multiples of"
                f" 16 bytes: {name} must be a multiple of {needed}",
                "setter:schedule:0",
                notes=(
                    f"padding {name} to {round_up(count, needed)} would do, or a kernel without TMA (schedule"
                    " multistage)",
                ),
            )
    return None


@rule("UC0521", source="conv/collective/sm90_implicit_gemm_gmma_ss_warpspecialized.hpp: can_implement")
def groups_are_one(candidate: Candidate) -> Finding | None:
    """There are no groups."""
    groups = conv_of(candidate).groups
    if groups == 1:
        return None
    return Finding(
        f"convolution kernels of {candidate.arch} have no groups, and this one has {groups}: schedule multistage has"
        " some",
        "setter:schedule:0",
    )


@rule(
    "UC0521",
    source="conv/collective/builders/sm90_gmma_builder.inl: only 16-bit wgmma takes operands without k contiguous",
)
def gradients_are_16_bit(candidate: Candidate) -> Finding | None:
    """Gradients read tensors along their channels, which only 16-bit instructions do."""
    conv = conv_of(candidate)
    if conv.kind == "fprop" or conv.element.bits == 16:
        return None
    return Finding(
        f"{conv.kind} kernels of {candidate.arch} take f16 and bf16, not {conv.element}: their reduction is not along"
        " the channels",
        "setter:schedule:0",
    )


@rule("UC0521", source="conv/collective/sm90_implicit_gemm_gmma_ss_warpspecialized.hpp; upstream does not test it")
def data_gradient_has_stride_one(candidate: Candidate) -> Finding | None:
    """The gradient of the input has stride 1."""
    conv = conv_of(candidate)
    if conv.kind != "dgrad" or all(s == 1 for s in conv.stride):
        return None
    return Finding(
        f"the input gradient of a convolution with stride {max(conv.stride)} has no kernel on {candidate.arch}:"
        " schedule multistage"
        " has one",
        "setter:schedule:0",
    )


@rule("UC0521", source="cuTensorMapEncodeIm2col: padding and corner ranges")
def corners_fit_the_descriptor(candidate: Candidate) -> Finding | None:
    """Padding, filter reach and their difference fit into the bits of a TMA descriptor."""
    conv = conv_of(candidate)
    half = 1 << (IM2COL_BITS // conv.dims - 1)
    for axis, (taps, (low, high), dilation) in enumerate(zip(conv.filter, conv.padding, conv.dilation, strict=True)):
        reach = (taps - 1) * dilation
        most = MAX_PADDING[conv.dims]
        if max(low, high) > most:
            return Finding(
                f"padding {max(low, high)} of spatial dimension {axis} is more than the {most} that a"
                f" {conv.dims}-dimensional"
                " convolution takes",
                "param:padding",
            )
        if reach > 2 * half - 2:
            return Finding(
                f"the filter reaches {reach} = ({taps} - 1) * {dilation} elements along spatial dimension {axis}: a"
                f" {conv.dims}-dimensional TMA descriptor holds at most {2 * half - 2}",
                "param:dilation",
            )
        for corner in (-low, high - reach):
            if not -half <= corner <= half - 1:
                return Finding(
                    f"the corner {corner} of spatial dimension {axis} (padding {low}, {high}; filter reach {reach})"
                    " does not fit"
                    f" between {-half} and {half - 1}",
                    "param:padding",
                )
    return None


@rule("UC0516", source="conv/device/conv_universal_adapter.hpp: extents are int")
def pixels_are_ints(candidate: Candidate) -> Finding | None:
    """The number of output pixels is below 2^31."""
    problem = candidate.problem
    for dim in "mnk":
        size = problem.size(dim)
        if size is not None and size >= INT_LIMIT:
            return Finding(f"{problem.dim_name(dim)} = {size} does not fit in 31 bits", "name")
    return None


@rule("UC0516", source="conv/kernel/implicit_gemm_convolution.h: kErrorInvalidProblem for tensors of 2^31 bytes")
def tensors_are_below_2_gib(candidate: Candidate) -> Finding | None:
    """Each tensor of a 2.x convolution is smaller than 2^31 bytes."""
    conv = conv_of(candidate)
    batch = conv.n or 1
    tensors = (
        ("input", batch * math.prod(conv.spatial) * conv.c, conv.element),
        ("filter", conv.k * math.prod(conv.filter) * conv.c // conv.groups, conv.element),
        ("output", batch * math.prod(conv.output) * conv.k, conv.d),
    )
    for name, count, element in tensors:
        size = count * element.bits // 8
        if size >= INT_LIMIT:
            return Finding(
                f"the {name} is {size} bytes: multistage convolutions count offsets in 31 bits, {INT_LIMIT} bytes",
                "name",
            )
    return None


@rule(
    "UC0521", source="conv/kernel/default_conv2d_group_fprop.h; conv/device/implicit_gemm_convolution.h: can_implement"
)
def groups_divide_the_channels(candidate: Candidate) -> Finding | None:
    """Groups divide both channel counts."""
    conv = conv_of(candidate)
    for name, count in (("C", conv.c), ("K", conv.k)):
        if count % conv.groups:
            return Finding(
                f"{name} = {count} channels do not divide into {conv.groups} groups: {count} % {conv.groups} ="
                f" {count % conv.groups}",
                "param:groups",
            )
    return None


@rule("UC0521", source="conv/kernel/default_conv2d_group_fprop.h, default_depthwise_fprop.h")
def grouped_kernels_exist(candidate: Candidate) -> Finding | None:
    """Only the forward 2-D convolution has groups, and only in f16 one for each channel."""
    conv = conv_of(candidate)
    if conv.groups == 1:
        return None
    if conv.dims != 2 or conv.kind != "fprop":
        return Finding(
            f"grouped kernels exist for the forward 2-D convolution, not for {conv.kind} in {conv.dims} dimensions",
            "param:groups",
        )
    if conv.is_depthwise and kind_of(candidate.problem) != "f16":
        return Finding(f"depthwise kernels exist for f16, not for {conv.element}", "operand:0")
    return None


@rule("UC0521", "tile", source="conv/kernel/default_conv2d_group_fprop.h: kSingleGroup, kMultipleGroup")
def group_tiles_match(candidate: Candidate) -> Finding | None:
    """A tile holds whole groups, or a group whole tiles."""
    conv, tile = conv_of(candidate), candidate.tile
    assert tile is not None
    if conv.groups == 1 or conv.is_depthwise:
        return None
    channels = conv.k // conv.groups
    if channels % tile[1] == 0 or tile[1] % channels == 0:
        return None
    return Finding(
        f"tile n = {tile[1]} and the {channels} output channels of a group do not divide each other", "setter:tile:1"
    )


@rule("UC0521", source="conv/kernel/default_conv2d_dgrad.h: StrideSupport::kStrided takes dilation 1")
def strided_gradient_is_not_dilated(candidate: Candidate) -> Finding | None:
    """The gradient of the input with a stride has no dilation; the split of its reduction needs stride 1."""
    conv = conv_of(candidate)
    if conv.kind != "dgrad" or all(s == 1 for s in conv.stride):
        return None
    if any(d != 1 for d in conv.dilation):
        return Finding(
            f"the input gradient of a convolution with stride {max(conv.stride)} takes dilation 1, not"
            f" {max(conv.dilation)}",
            "param:dilation",
        )
    if candidate.pinned.split_k not in (None, 1):
        return Finding(
            f"the reduction of an input gradient with stride {max(conv.stride)} is not split",
            "setter:split_k",
            Fix("setter:split_k", "", "remove .with_split_k"),
            code="UC0513",
        )
    return None


@rule("UC0521", source="2.x: conv2d and conv3d kernels; 1-D runs as 2-D with one row")
def dimensions_have_a_kernel(candidate: Candidate) -> Finding | None:
    """Integer and fp8 convolutions are forward only."""
    conv = conv_of(candidate)
    if kind_of(candidate.problem) in ("int8", "fp8", "int4") and conv.kind != "fprop":
        return Finding(f"{conv.element} convolutions have forward kernels only, not {conv.kind}", "name")
    return None


def is_optimized(conv: ConvProblem) -> bool:
    """Whether the faster of the two iterator algorithms takes the filter."""
    return all(taps <= OPTIMIZED_MAX_FILTER for taps in conv.filter)


SM90_CONV_RULES = (
    tensors_are_channels_last,
    groups_divide_the_channels,
    gradients_are_16_bit,
    groups_are_one,
    data_gradient_has_stride_one,
    corners_fit_the_descriptor,
    pixels_are_ints,
    channels_suit_tma,
)
SM80_CONV_RULES = (
    tensors_are_channels_last,
    tensors_are_below_2_gib,
    groups_divide_the_channels,
    grouped_kernels_exist,
    strided_gradient_is_not_dilated,
    dimensions_have_a_kernel,
    pixels_are_ints,
    group_tiles_match,
)
