"""The `cutlass` dialect: a mirror of the C++ that is emitted, one operation a C++ type or launch.

Operations are named as the C++ is, in snake_case. Knows nothing of passes or text.
"""

from xdsl.ir import Dialect

from ucutlass.dialects.cutlass.collectives import COLLECTIVES
from ucutlass.dialects.cutlass.core import CppTemplate, CppType
from ucutlass.dialects.cutlass.memory import MEMORY
from ucutlass.dialects.cutlass.program import PROGRAM
from ucutlass.dialects.cutlass.views import ViewOp
from ucutlass.dialects.cutlass.visitors import VISITORS

Cutlass = Dialect("cutlass", [ViewOp, *VISITORS, *COLLECTIVES, *MEMORY, *PROGRAM], [CppType, CppTemplate])
