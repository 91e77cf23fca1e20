"""`python -m kubesched`."""

from kubesched.cli import main

main(prog_name="kubesched")
