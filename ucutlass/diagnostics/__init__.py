"""Diagnostics: one mechanism for the parser, the verifiers and the passes, and everything that shows or edits with it.

A leaf: imports only the standard library, save `locations`, the adapter to xDSL, which only passes and dialects import.

| module | what it does |
|---|---|
| `source` | texts, spans, lines and columns |
| `core` | diagnostics, notes, fix-its, and the engine that collects them |
| `catalogue` | the table of codes, one file a range |
| `render`, `json_output`, `sarif` | the three output forms |
| `fixits` | applies fix-its to a text |
| `explain` | one code for the terminal, all codes as a page |
| `suggest` | "did you mean" |
| `expected` | compares diagnostics with `expected-error` comments |
| `locations` | how passes report on operations |
"""
