"""Configurations in YAML, from profiles in few words."""

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def profile(name: str = "default-scheduler", plugins: str = "", args: str = "") -> str:
    """Return a profile in YAML; `plugins` and `args` are in flow style."""
    lines = [f"- schedulerName: {name}"]
    if plugins:
        lines.append(f"  plugins: {plugins}")
    if args:
        lines.append(f"  pluginConfig: {args}")
    return "\n".join(lines) + "\n"


def config(*profiles: str, head: str = "") -> str:
    """Return a configuration with some profiles; `head` are further fields in YAML."""
    return HEAD + head + "profiles:\n" + "".join(profiles)
