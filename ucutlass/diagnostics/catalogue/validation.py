"""Codes UC10xx: interpreting a program and comparing a kernel with it."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC1001",
        "not-interpretable",
        Severity.ERROR,
        "the interpreter has no meaning for an operation",
        "Every operation of the language and of the lowered form has one; operations of other dialects do not. The"
        " message names it.",
    ),
    CodeInfo(
        "UC1002",
        "input-mismatch",
        Severity.ERROR,
        "an input does not fit the parameter that it is for",
        "Shape and element type of each input, or of each `.npy` file, must be those of the program's parameter. The"
        " message shows both.",
    ),
    CodeInfo(
        "UC1003",
        "wrong-result",
        Severity.ERROR,
        "a kernel's result differs from the reference by more than rounding can explain",
        "The message gives the largest error, the bound that follows from the types and the length of the reduction,"
        " and where the error is. Errors at the edges point to a wrong tail, a factor points to a missing or doubled"
        " term.",
    ),
    CodeInfo(
        "UC1004",
        "not-deterministic",
        Severity.ERROR,
        "a kernel gave two different results for the same input",
        "The compiler emits no kernel whose sum depends on timing, so a race is likely. Run it under"
        " `compute-sanitizer --tool racecheck`.",
    ),
    CodeInfo(
        "UC1005",
        "pass-changed-meaning",
        Severity.ERROR,
        "a program computes something else after a pass",
        "Interpreting before and after the pass gave different values. This is a defect of the pass; the message"
        " names it and the first value that differs.",
    ),
    CodeInfo(
        "UC1006",
        "input-modified",
        Severity.ERROR,
        "a kernel changed one of its inputs",
        "Inputs are hashed before and after a run. A kernel reads its parameters and writes its results and the"
        " workspace, nothing else.",
    ),
    CodeInfo(
        "UC1007",
        "write-outside",
        Severity.ERROR,
        "a kernel wrote outside of its results",
        "The memory around every result is filled with a pattern, and the pattern is damaged. The message gives the"
        " offset from the tensor's end; a wrong tail or stride is the usual cause.",
    ),
    CodeInfo(
        "UC1008",
        "not-written",
        Severity.ERROR,
        "a kernel left part of its result unwritten",
        "Results are filled with NaN before the run, and some are left where the reference has numbers. The message"
        " counts them and gives the first index.",
    ),
)
