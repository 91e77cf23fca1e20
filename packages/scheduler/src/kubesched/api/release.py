"""The release of Kubernetes that kubesched implements; `docs/internals/next-release.md` describes the next update."""

RELEASE = "1.36.4"

MAJOR, MINOR = (int(number) for number in RELEASE.split(".")[:2])
# the version that components of the release report
GIT_VERSION = f"v{RELEASE}"
