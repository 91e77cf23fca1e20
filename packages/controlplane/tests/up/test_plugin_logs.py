"""What plugins log under `kubesched up` is written to standard error, in klog's format."""

import re
import subprocess
import sys
from pathlib import Path

PLUGIN = """\
import logging

from kubesched import PostBindPlugin


class Telling(PostBindPlugin):
    name = "Telling"

    async def post_bind(self, cycle, pod, node_name):
        logging.getLogger("telling").info("Pod was bound", extra={"pod": pod, "node": node_name})
"""
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {enabled: [{name: Telling}]}}}]
"""
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: i}]}\n"


def test_a_plugin_logs_to_standard_error(tmp_path: Path) -> None:
    for name, text in {"telling.py": PLUGIN, "config.yaml": CONFIG, "pod.yaml": POD}.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "kubesched", "try", "--nodes", "1"]
    options = ["--plugin", "telling.py", "--config", "config.yaml", "pod.yaml"]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    line = r'I\d{4} [\d:.]{15} +\d+ telling\.py:10] "Pod was bound" logger="telling" pod="default/web" node="node-1"'
    assert re.search(line, ended.stderr), ended.stderr
    assert "telling" not in ended.stdout
