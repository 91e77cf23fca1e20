"""`kubesched doctor`: checks a cluster for obstacles before you switch its scheduler to kubesched.

From a live cluster, which is only read, and from files to findings, each with a fix.
"""
