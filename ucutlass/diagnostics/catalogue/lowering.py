"""Codes UC07xx: a program is right, but this compiler cannot turn it into a kernel."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0701",
        "not-lowered",
        Severity.ERROR,
        "no backend of this target has a kernel for the operation",
        "The program is correct and can be interpreted, but nothing emits code for this operation on this target yet."
        " The message lists what is supported; another target or an equivalent operation may be.",
    ),
    CodeInfo(
        "UC0702",
        "combination-not-lowered",
        Severity.ERROR,
        "an operation has no kernel for these types, layouts or parameters",
        "The operation is supported, but not with all that is asked of it at once. The message says which part stands"
        " in the way and what it may be instead.",
    ),
    CodeInfo(
        "UC0703",
        "operation-left-over",
        Severity.ERROR,
        "an operation of an earlier level is left after a conversion",
        "A conversion pass ends only when everything was converted; the message names the first operation that was"
        " not. In a pipeline of your own, an earlier pass is missing: compare it with the pipeline `default`.",
    ),
    CodeInfo(
        "UC0704",
        "pass-order",
        Severity.ERROR,
        "a pass was given IR that is not ready for it",
        "Each pass documents what must hold before it, for instance that `infer` has given every value its type. The"
        " message names the pass that establishes it. Run that pass first, or use the pipeline `default`.",
    ),
    CodeInfo(
        "UC0705",
        "location-lost",
        Severity.ERROR,
        "a pass made an operation without saying where it comes from",
        "Diagnostics and profiles point into the program through locations, so every new operation inherits one. This"
        " is a defect of the pass, which the check-locations pass reports.",
    ),
)
