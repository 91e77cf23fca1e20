"""Write the page to standard output."""

import sys

from kubesched.controlplane.compatibility import page

sys.stdout.write(page())
