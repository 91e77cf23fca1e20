"""The release of Kubernetes that kubesched is the scheduler of; `docs/next-release.md` tells the way to the next."""

RELEASE = "1.36.4"

MAJOR, MINOR = (int(number) for number in RELEASE.split(".")[:2])
# as a component of the release reports itself
GIT_VERSION = f"v{RELEASE}"
