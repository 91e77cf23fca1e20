"""`python -m benchmarks.living.bare`: etcd and kube-apiserver on loopback, without controllers, until it is ended.

    python -m benchmarks.living --targets cluster --kubeconfig /tmp/admin --scheduler-kubeconfig /tmp/scheduler \\
        --control-plane 'python -m benchmarks.living.bare --etcd etcd --kube-apiserver kube-apiserver --port 7800
            --kubeconfig {kubeconfig} --scheduler-kubeconfig {scheduler_kubeconfig}' --subject ...

The scheduler's kubeconfig allows what the role of a scheduler allows. etcd does not wait for disks.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

TOKENS = 'living-admin,admin,1,"system:masters"\nliving-scheduler,system:kube-scheduler,2\n'


def etcd_words(program: str, port: int, folder: Path) -> list[str]:
    """Return the command of etcd."""
    clients, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"
    return [
        program,
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def api_server_words(program: str, port: int, etcd: str, folder: Path) -> list[str]:
    """Return the command of kube-apiserver."""
    key = folder / "account.key"
    return [
        program,
        f"--etcd-servers={etcd}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--cert-dir={folder / 'certificates'}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        "--enable-priority-and-fairness=false",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
    ]


def kubeconfig(port: int, token: str) -> bytes:
    """Return a kubeconfig; kube-apiserver makes a certificate of its own."""
    cluster = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "bare", "cluster": cluster}],
            "users": [{"name": "user", "user": {"token": token}}],
            "contexts": [{"name": "bare", "context": {"cluster": "bare", "user": "user"}}],
            "current-context": "bare",
        }
    )


def main() -> None:
    """Run both until a signal, or until one of them ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--etcd", default="etcd", help="the program")
    parser.add_argument("--kube-apiserver", default="kube-apiserver", help="the program")
    parser.add_argument("--port", type=int, default=7800, help="of kube-apiserver; etcd gets the two that follow")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--scheduler-kubeconfig", type=Path)
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="bare-") as name:
        folder = Path(name)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        (folder / "account.key").write_bytes(pem)
        (folder / "tokens.csv").write_text(TOKENS)
        etcd = f"http://127.0.0.1:{asked.port + 1}"
        commands = [
            etcd_words(asked.etcd, asked.port + 1, folder),
            api_server_words(asked.kube_apiserver, asked.port, etcd, folder),
        ]
        running = [subprocess.Popen(words) for words in commands]
        try:
            asked.kubeconfig.write_bytes(kubeconfig(asked.port, "living-admin"))
            if asked.scheduler_kubeconfig and asked.scheduler_kubeconfig != asked.kubeconfig:
                asked.scheduler_kubeconfig.write_bytes(kubeconfig(asked.port, "living-scheduler"))
            while all(process.poll() is None for process in running):
                time.sleep(0.2)
        finally:
            for process in reversed(running):
                process.kill()
                process.wait()
    sys.exit("etcd or kube-apiserver has ended")


if __name__ == "__main__":
    main()
