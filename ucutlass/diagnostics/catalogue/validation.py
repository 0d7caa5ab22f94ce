"""Codes UC10xx: interpreting a program and comparing a kernel with it."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC1001",
        "input-count",
        Severity.ERROR,
        "an interpreted kernel is given the wrong number of tensors",
        "A kernel takes one tensor for each of its parameters, in the order of the program. The message gives both"
        " numbers.",
    ),
    CodeInfo(
        "UC1002",
        "input-shape",
        Severity.ERROR,
        "an input's shape, or a size, does not fit the parameter",
        "Fixed extents are as in the program, and one dynamic dimension has one size everywhere. Sizes are at least"
        " 0. The message shows the parameter's type and what was given.",
    ),
    CodeInfo(
        "UC1003",
        "input-condition",
        Severity.ERROR,
        "the sizes of the inputs break a where condition",
        "The program promises the condition, so it has no meaning for these sizes. The message gives the condition"
        " and the sizes; choose other ones, or correct the condition.",
    ),
    CodeInfo(
        "UC1004",
        "size-not-given",
        Severity.ERROR,
        "the size of a dimension follows from no input",
        "The name stands in no input's type by itself and no `where NAME == expression` defines it. Give its size, or"
        " name it in a parameter's type.",
    ),
    CodeInfo(
        "UC1005",
        "input-type",
        Severity.ERROR,
        "an input has another element type than the parameter",
        "Inputs are not converted silently; the message gives both types. Convert the data, or change the type in the"
        " program.",
    ),
    CodeInfo(
        "UC1006",
        "not-interpretable",
        Severity.ERROR,
        "the interpreter has no meaning for an operation",
        "Every operation of the language and of the lowered form has one; operations of other dialects do not. The"
        " message names it.",
    ),
    CodeInfo(
        "UC1011",
        "wrong-result",
        Severity.ERROR,
        "a kernel's result differs from the reference by more than rounding can explain",
        "The message gives the largest error, the bound that follows from the types and the length of the reduction,"
        " and where the error is. Errors at the edges point to a wrong tail, a factor points to a missing or doubled"
        " term.",
    ),
    CodeInfo(
        "UC1012",
        "not-deterministic",
        Severity.ERROR,
        "a kernel gave two different results for the same input",
        "The compiler emits no kernel whose sum depends on timing, so a race is likely. Run it under"
        " `compute-sanitizer --tool racecheck`.",
    ),
    CodeInfo(
        "UC1013",
        "pass-changed-meaning",
        Severity.ERROR,
        "a program computes something else after a pass",
        "Interpreting before and after the pass gave different values. This is a defect of the pass; the message"
        " names it and the first value that differs.",
    ),
    CodeInfo(
        "UC1014",
        "input-modified",
        Severity.ERROR,
        "a kernel changed one of its inputs",
        "Inputs are hashed before and after a run. A kernel reads its parameters and writes its results and the"
        " workspace, nothing else.",
    ),
    CodeInfo(
        "UC1015",
        "write-outside",
        Severity.ERROR,
        "a kernel wrote outside of its results",
        "The memory around every result is filled with a pattern, and the pattern is damaged. The message gives the"
        " offset from the tensor's end; a wrong tail or stride is the usual cause.",
    ),
    CodeInfo(
        "UC1016",
        "not-written",
        Severity.ERROR,
        "a kernel left part of its result unwritten",
        "Results are filled with NaN before the run, and some are left where the reference has numbers. The message"
        " counts them and gives the first index.",
    ),
)
