"""Speed of Light: the shortest time in which a GPU could do what a program asks for.

Beside the backend in rank: imports the dialects, the targets and the leaves. `docs/sol.md` states the formulas.

| module | what it does |
|---|---|
| `bound` | the roofline as pure functions of FLOPs, bytes and a GPU's rates |
| `modes` | which unit of a GPU forms products of a type, how often, and with what error |
| `counts` | FLOPs and bytes of operations, fused kernels and whole programs |
| `program` | the bounds of all of these, and of faster types |
| `report` | the same as JSON and as a table |
"""
