"""Fixed C++ text: `launch.inc` goes into every emitted file, `host_pass.h` in front of one that a plain host
compiler reads.

A leaf: imports nothing. Both are package data, read from beside this file.
"""
