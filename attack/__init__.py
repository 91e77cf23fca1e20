"""Attacks on running processes: `python -m attack --help`.

    a target is started ──▶ an attack, for a bounded time ──▶ is the target well? ──▶ held, or fell
                 ▲                                                                    │
                 └──────────────────────── started anew ◀─────────────────────────────┘

An attack is a function whose docstring is a sentence about what an attacker does. Its target runs on loopback: the
page, `kubesched up`, `kubesched run` on the embedded control plane, or commands. The attack raises `FellError` if the
target fell. A target is well if it lives, serves its owner in time, wrote no traceback and has little more memory.
"""
