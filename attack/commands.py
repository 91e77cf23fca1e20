"""Commands that are given hostile files, folders, names and answers."""

import gzip
import json
import os
import stat
from pathlib import Path

from attack.attacks import attack, expect
from attack.targets import Commands, a_node, a_pod

SECRET = "do-not-tell-anybody"


@attack(Commands)
def secrets_in_snapshots(commands: Commands) -> str:
    """Objects have passwords where users put them: no snapshot has any of them, and only its owner can read it."""
    pod = a_pod("p", meta={"uid": "u1", "annotations": {"note": SECRET}})
    pod["spec"]["containers"][0] |= {"command": [SECRET], "env": [{"name": "P", "value": SECRET}]}
    meta = {"name": "v", "uid": "u2"}
    csi = {"driver": "d", "volumeHandle": "h", "volumeAttributes": {"p": SECRET}}
    objects = [
        pod,
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": meta,
            "spec": {"mountOptions": [SECRET], "csi": csi},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": meta,
            "provisioner": "d",
            "mountOptions": [SECRET],
            "parameters": {"a": SECRET},
        },
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {"a": SECRET}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": SECRET}},
    ]
    source, target = commands.folder / "all.json", commands.folder / "snapshot.gz"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    done = commands.ran("snapshot", "--from", str(source), "-o", str(target))
    expect(target.exists(), done.stderr[-300:])
    expect(SECRET not in gzip.decompress(target.read_bytes()).decode(), "a secret is in the snapshot")
    expect(not stat.S_IMODE(target.stat().st_mode) & 0o077, "others can read the snapshot")
    return f"{target.stat().st_size} bytes"


@attack(Commands)
def folders_with_links_and_pipes(commands: Commands) -> str:
    """A folder of manifests has a pipe, a device, links to themselves and to folders above."""
    folder = commands.folder / "manifests"
    folder.mkdir()
    (folder / "node.json").write_text(json.dumps(a_node("n")))
    os.mkfifo(folder / "pipe.yaml")
    os.symlink("/dev/zero", folder / "zero.yaml")
    os.symlink(folder / "loop.yaml", folder / "loop.yaml")
    os.symlink("..", folder / "above")
    os.symlink("/nowhere", folder / "nowhere.yaml")
    done = commands.ran("explain", "--from", str(folder))
    expect("Traceback" not in done.stderr, done.stderr[-300:])
    return f"exit code {done.returncode}"


@attack(Commands)
def hostile_kubeconfigs(commands: Commands) -> str:
    """Kubeconfigs are deep, endless, binary and made of aliases."""
    aliases = "\n".join(["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)])
    contents = (b"", b"\0\xff" * 1000, b"[" * 100_000, aliases.encode(), b"clusters: 1\nusers: {}\n", b"x" * 20_000_000)
    for number, content in enumerate(contents):
        file = commands.folder / f"kubeconfig-{number}"
        file.write_bytes(content)
        commands.refused("explain", "--kubeconfig", str(file))
    return f"{len(contents)} files"


def _exec_kubeconfig(folder: Path, script: str) -> str:
    program, file = folder / "plugin", folder / "exec-kubeconfig"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    version = "client.authentication.k8s.io/v1"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [
            {
                "name": "u",
                "user": {"exec": {"apiVersion": version, "command": str(program), "interactiveMode": "Never"}},
            }
        ],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    file.write_text(json.dumps(document))
    return str(file)


@attack(Commands)
def hostile_exec_plugins(commands: Commands) -> str:
    """A program for credentials writes without end, lies, fails, and answers with line breaks in the token."""
    credential = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}'
    scripts = (
        "yes " + "x" * 1000,
        "echo '[[[['",
        "exit 3",
        "echo '" + credential % "a\\nX-Evil: 1" + "'",
        "echo '" + credential % ("a" * 500_000) + "'",
    )
    for script in scripts:
        said = commands.refused("explain", "--kubeconfig", _exec_kubeconfig(commands.folder, script))
        expect(len(said) < 5000, f"{len(said)} characters are printed")
    return f"{len(scripts)} programs"


@attack(Commands)
def odd_names_of_clusters(commands: Commands) -> str:
    """Names of clusters lead out of a folder, are options, and have line breaks."""
    names = ("../x", "a/b", "$(id)", "-x", "a\nKUBECONFIG=x", "A" * 300, "", ".", "..", "a b")
    for name in names:
        commands.refused("up", "--detach", f"--name={name}", "--nodes", "1")
    return f"{len(names)} names"


@attack(Commands)
def damaged_snapshots(commands: Commands) -> str:
    """Snapshots are torn, packed twice, too new, and unpack to a gigabyte."""
    header = {"kubesched": "snapshot", "version": 1, "counts": {}}
    contents = (
        gzip.compress(b" " * (1 << 30), 1),
        gzip.compress(gzip.compress(json.dumps(header).encode())),
        gzip.compress(json.dumps({**header, "version": 999}).encode()),
        gzip.compress(json.dumps({**header, "counts": {"Pod": 10**15}}).encode()),
        gzip.compress(json.dumps(header).encode())[:-4],
        b"\x1f\x8b" + b"\0" * 100,
    )
    for number, content in enumerate(contents):
        file = commands.folder / f"{number}.snapshot.gz"
        file.write_bytes(content)
        commands.refused("explain", "--from", str(file))
    return f"{len(contents)} files"
