"""The language server: what an editor asks about a text, answered by the frontend and the pipeline `verify`.

This module imports nothing. Only `server` and `protocol` know the Language Server Protocol; everything else works on
texts and offsets, and can be used and tested without a client.

| module | what it does |
|---|---|
| `server` | the protocol: which request gets which answer |
| `protocol` | offsets and diagnostics as the protocol has them |
| `analysis` | a text to its diagnostics, its syntax tree and the types of its values |
| `names` | every name of a text, what it names and where that comes from |
| `symbols` | the outline |
| `hover` | what to say about the name under the cursor |
| `context`, `completion` | what could be typed at the cursor |
| `formatting` | the canonical text, with the comments kept |
"""
