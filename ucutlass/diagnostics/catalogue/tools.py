"""Codes UC00xx: how the tools are called and what they are given."""

from ucutlass.diagnostics.catalogue.info import CodeInfo
from ucutlass.diagnostics.core import Severity

CODES = (
    CodeInfo(
        "UC0001",
        "internal-error",
        Severity.ERROR,
        "the compiler broke one of its own rules",
        "This is a defect of the compiler, not of the program. `ucutlass-opt --crash-reproducer=FILE` with the same"
        " pipeline writes a file that holds the input and the call: report it. A program without setters, or with"
        " `materialize` around the operation that is named, may get past it meanwhile.",
    ),
    CodeInfo(
        "UC0002",
        "unknown-option",
        Severity.ERROR,
        "a tool has no such option",
        "Options are never ignored: one that is not known would silently do nothing. The message names the nearest"
        " option; `--help` lists all of them.",
        "ucutlass-opt --passe infer linear.ucu",
        "ucutlass-opt --passes infer linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0003",
        "option-value",
        Severity.ERROR,
        "an option does not take this value",
        "The message lists what the option takes. Lists are separated by commas without spaces, and a number is"
        " written without a unit, since the option's name says it.",
        "ucutlass-opt --color=sometimes linear.ucu",
        "ucutlass-opt --color=never linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0004",
        "input-not-readable",
        Severity.ERROR,
        "an input cannot be read",
        "The file does not exist, is a folder, or may not be read by this user; the message says which. Give `-` to"
        " read from standard input.",
        "ucutlass-opt no/such/file.ucu",
        "ucutlass-opt - < linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0005",
        "unknown-language",
        Severity.ERROR,
        "it is not clear whether the input is .ucu or MLIR",
        "The language is taken from the end of the file's name, `.ucu` or `.mlir`. Standard input counts as `.ucu`"
        " when its first word is `target` or `kernel`. Say it with `-f ucu` or `-f mlir`.",
        "ucutlass-opt program.txt",
        "ucutlass-opt -f ucu program.txt",
        "sh",
    ),
    CodeInfo(
        "UC0006",
        "unknown-pass",
        Severity.ERROR,
        "a pipeline names a pass that does not exist",
        "Pass names are words joined by hyphens. `--list-passes` prints every pass and every named pipeline with a"
        " line of help.",
        "ucutlass-opt -p infr linear.ucu",
        "ucutlass-opt -p infer linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0007",
        "pass-option",
        Severity.ERROR,
        "a pass does not have this option, or the option does not take this value",
        "Options stand in braces after the pass, `name=value`, separated by spaces. A yes-or-no option needs `=true`."
        " `--list-passes` shows the options of each pass with their types.",
        "ucutlass-opt -p 'fuse{allow-reasociation=true}' linear.ucu",
        "ucutlass-opt -p 'fuse{allow-reassociation=true}' linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0008",
        "pipeline-syntax",
        Severity.ERROR,
        "a pass pipeline cannot be read",
        "A pipeline is pass names separated by commas, each with its options in braces: `infer,fuse{key=value}`."
        " Quote it for the shell, which would take the braces for itself.",
        "ucutlass-opt -p 'infer,,fuse' linear.ucu",
        "ucutlass-opt -p 'infer,fuse' linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0009",
        "dimension-not-given",
        Severity.ERROR,
        "a dynamic dimension has no size",
        "The program leaves this size open, and what was asked for (running, timing, a bound) needs a number. Give"
        " `--dim NAME=SIZE`, several sizes as `--dim M=1024,4096` for one result each. A dimension that a `where`"
        " condition binds to others need not be given.",
        "ucutlass-sol --gpu h200 dynamic.ucu",
        "ucutlass-sol --gpu h200 --dim M=4096 dynamic.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0010",
        "too-many-errors",
        Severity.NOTE,
        "not every error is shown",
        "Many errors often come from one cause, so only the first ones are listed. `--max-errors=N` shows N of them,"
        " 0 shows all.",
    ),
    CodeInfo(
        "UC0011",
        "output-not-writable",
        Severity.ERROR,
        "the result cannot be written",
        "The folder does not exist, may not be written by this user, or the disk is full; the message says which."
        " Nothing was written: an output file is either complete or absent.",
        "ucutlass-translate --to=cuda linear.ucu -o /no/such/folder/linear.cu",
        "ucutlass-translate --to=cuda linear.ucu -o linear.cu",
        "sh",
    ),
    CodeInfo(
        "UC0012",
        "package-missing",
        Severity.ERROR,
        "a Python package that this command needs is not installed",
        "The compiler itself needs few packages; PyTorch, the agent's clients and others are extras. The message"
        " names the extra that brings the package, to be installed as `pip install 'ucutlass[extra]'`.",
    ),
    CodeInfo(
        "UC0013",
        "expected-not-produced",
        Severity.ERROR,
        "an expected diagnostic was not produced",
        "With `--verify-diagnostics` every `expected-error`, `expected-warning`, `expected-remark` and"
        " `expected-note` comment must be met by a diagnostic of that severity on that line whose text holds the"
        " comment's text. Correct the line with `@+N`, `@-N`, `@above` or `@below`, or the text.",
    ),
    CodeInfo(
        "UC0014",
        "unexpected-diagnostic",
        Severity.ERROR,
        "a diagnostic was produced that no comment expects",
        "With `--verify-diagnostics` each diagnostic needs a comment of its own. Add `# expected-error {{text}}` on"
        " the line of the diagnostic, or mend the program.",
    ),
    CodeInfo(
        "UC0015",
        "expectation-malformed",
        Severity.ERROR,
        "a comment looks like an expectation but cannot be read",
        "The form is `expected-error@+1 {{text}}` with `error`, `warning`, `remark` or `note`; the place is optional"
        " and stands before the braces. In the `-re` form, what stands in inner double braces must be a regular"
        " expression.",
    ),
    CodeInfo(
        "UC0016",
        "unknown-output-form",
        Severity.ERROR,
        "there is no such form to translate to",
        "`--to` takes `mlir`, `ucu`, `cuda`, `python`, `kernelbench`, `dot`, `grammar-lark`, `grammar-gbnf`,"
        " `grammar-ebnf` and `language-card`. The message names the nearest.",
        "ucutlass-translate --to=cubin linear.ucu",
        "ucutlass-translate --to=cuda linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0017",
        "unknown-diagnostic-code",
        Severity.ERROR,
        "there is no diagnostic with this code",
        "Codes are `UC` and four digits. `--explain` also takes the digits alone or the name in words.",
        "ucutlass-opt --explain UC9999",
        "ucutlass-opt --explain UC0301",
        "sh",
    ),
    CodeInfo(
        "UC0020",
        "unknown-kernel",
        Severity.ERROR,
        "the file has no kernel of this name",
        "A file may hold several kernels, and the option picks one of them by its name. The message lists the names.",
    ),
    CodeInfo(
        "UC0021",
        "invalid-ir",
        Severity.ERROR,
        "an operation in MLIR text breaks a rule of its definition",
        "Operands, results, attributes or regions are not what the operation's definition asks for; the message is that"
        " of the checker. `--list-ops` shows each operation's form. If the text came out of a pass, the pass is at"
        " fault.",
    ),
    CodeInfo(
        "UC0022",
        "pass-failed",
        Severity.ERROR,
        "a pass of another package stopped",
        "The pass gave a reason but no code or place of its own. Its documentation says what IR it accepts; leaving it"
        " out of the pipeline shows whether the rest goes through.",
    ),
    CodeInfo(
        "UC0023",
        "wrong-call",
        Severity.ERROR,
        "a tool was called in a way that makes no sense",
        "The options contradict each other, or something that the command needs was left out. The message says what;"
        " `--help` shows the whole call.",
        "ucutlass-opt --emit=ucu -t mlir linear.ucu",
        "ucutlass-opt --emit=ucu linear.ucu",
        "sh",
    ),
    CodeInfo(
        "UC0024",
        "machine-lacks",
        Severity.ERROR,
        "the machine lacks something that the command needs",
        "The program and the call are fine; memory, disk space or a piece of software is missing. The message says what"
        " and how to get it.",
    ),
    CodeInfo(
        "UC0025",
        "target-given-twice",
        Severity.WARNING,
        "the program names another target than the command",
        "The `target` line of a program wins over `--target`, which is for programs that have none. Remove the line to"
        " let the command decide.",
    ),
)
