"""The target of a module: one attribute, set once, read by every pass that needs it."""

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ucutlass.dialects.ucutlass.kernel import TARGET_ATTRIBUTE

DEFAULT_TARGET = "sm_90a"


def target_of(module: ModuleOp) -> str:
    """The name of the module's target; the default where the program names none."""
    found = module.attributes.get(TARGET_ATTRIBUTE)
    return found.data if isinstance(found, StringAttr) else DEFAULT_TARGET
