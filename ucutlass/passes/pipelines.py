"""From the text of a pipeline to passes, with the named pipelines of the registry written out.

Imports xDSL, the registry and the leaves. The grammar is xDSL's, `infer,fuse{option=1}`; the name of a pipeline stands
wherever that of a pass may, without options.
"""

from collections.abc import Callable, Iterable, Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ucutlass.errors import UsageError
from ucutlass.registry import PIPELINES, all_passes, find


def expand(specs: Iterable[ArgSpec]) -> Iterator[ArgSpec]:
    """The passes meant, named pipelines written out. Raises UsageError on a pipeline with options."""
    for spec in specs:
        pipeline = PIPELINES.get(spec.name)
        if pipeline is None:
            yield spec
            continue
        if spec.parameters:
            raise UsageError(
                f"pipeline '{spec.name}' takes no options: write its passes out, {','.join(pipeline.passes)}"
            )
        yield from (ArgSpec(name, {}) for name in pipeline.passes)


def passes_of(text: str) -> tuple[ModulePass, ...]:
    """The passes of a pipeline's text. Raises UsageError on text that is none, an unknown pass or a wrong option."""
    try:
        specs = list(expand(parse_pipeline(text)))
    except ArgSpecParseError as error:
        raise UsageError(f"'{text}' is not a pipeline: {error}") from error
    table = all_passes()
    passes: list[ModulePass] = []
    for spec in specs:
        loaded = find(table, "pass", spec.name).load()
        try:
            passes.append(loaded.from_spec(spec))
        except ValueError as error:
            raise UsageError(f"pass '{spec.name}': {error}") from error
    return tuple(passes)


def run_passes(
    ctx: Context,
    module: ModuleOp,
    passes: Iterable[ModulePass],
    after: Callable[[ModulePass, ModuleOp], None] | None = None,
) -> None:
    """Applies passes in order; the module is verified after each, then `after` sees it."""
    for pass_ in passes:
        pass_.apply(ctx, module)
        module.verify()
        if after is not None:
            after(pass_, module)
