"""Write the page to standard output."""

import sys

from kubesched_controlplane.compatibility import page

sys.stdout.write(page())
