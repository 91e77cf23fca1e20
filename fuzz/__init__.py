"""Fuzzing: `python -m fuzz --help`.

A target is a function of bytes that returns whatever the bytes are; an exception that leaves it is a finding, and so is
an input that takes too long. Seeds are in `corpus/TARGET` and, for verdicts, in the conformance corpus. Two engines
make inputs of them: atheris, guided by coverage, where it is installed, and Hypothesis, which shrinks what it finds.
"""
