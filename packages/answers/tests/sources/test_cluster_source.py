"""Which cluster is asked about: kubectl's rules for kubeconfigs, named clusters, and sources that contradict."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.client.credentials.context_choice import ContextChoice
from kubesched.client.credentials.kubeconfig import kubectl_files, read_merged
from kubesched.client.credentials.rest_config import kubectl_rest_config
from kubesched.errors import KubeconfigError, KubeschedError
from kubesched.sources.cluster_source import ClusterSource
from kubesched_answers.sources.reading import read_cluster
from kubesched_controlplane.named_clusters import locked


def a_kubeconfig(file: Path, *names: str, current: str = "", **cluster: Any) -> Path:
    """Write a kubeconfig in which every name is a context, a cluster and a user."""
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "clusters": [{"name": name, "cluster": {"server": f"https://{file.stem}.{name}", **cluster}} for name in names],
        "users": [{"name": name, "user": {"token": f"{file.stem}-{name}"}} for name in names],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": name, "namespace": f"of-{name}"}} for name in names
        ],
        "current-context": current,
    }
    file.write_text(yaml.safe_dump(content))
    return file


def test_the_first_file_with_a_name_counts(tmp_path: Path) -> None:
    files = [
        a_kubeconfig(tmp_path / "one", "a", "b"),
        a_kubeconfig(tmp_path / "two", "b", "c", current="b"),
        a_kubeconfig(tmp_path / "three", "c", current="c"),
    ]
    found = read_merged(files, ContextChoice())
    assert (found.context, found.cluster.server, found.namespace) == ("b", "https://one.b", "of-b")
    assert found.path == files[0]


@pytest.mark.parametrize(
    ("sentence", "choice", "server", "token"),
    [
        ("the current context", {}, "https://one.a", "one-a"),
        ("another context", {"context": "b"}, "https://two.b", "two-b"),
        ("another cluster with the context's user", {"cluster": "b"}, "https://two.b", "one-a"),
        ("another user with the context's cluster", {"user": "b"}, "https://one.a", "two-b"),
    ],
)
def test_parts_of_the_context_can_be_chosen(
    sentence: str, choice: dict[str, Any], server: str, token: str, tmp_path: Path
) -> None:
    files = [a_kubeconfig(tmp_path / "one", "a", current="a"), a_kubeconfig(tmp_path / "two", "b")]
    found = read_merged(files, ContextChoice(**choice))
    assert (found.cluster.server, found.user.token) == (server, token), sentence


OWN_AUTHORITY = {"certificate-authority-data": "Y2E=", "tls-server-name": "own"}
REPLACED: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "a server": ({"server": "https://there"}, "cluster", {"server": "https://there", "tls_server_name": ""}),
    "a server and its name": (
        {"server": "https://there", "tls_server_name": "name"},
        "cluster",
        {"server": "https://there", "tls_server_name": "name"},
    ),
    "an authority, in the place of that in the kubeconfig": (
        {"certificate_authority": "/ca.crt"},
        "cluster",
        {"certificate_authority": "/ca.crt", "certificate_authority_data": "", "tls_server_name": "own"},
    ),
    "no authority": (
        {"insecure_skip_tls_verify": True},
        "cluster",
        {"insecure_skip_tls_verify": True, "certificate_authority_data": ""},
    ),
    "a token": ({"token": "t"}, "user", {"token": "t"}),
    "a certificate": (
        {"client_certificate": "/c", "client_key": "/k"},
        "user",
        {"client_certificate": "/c", "client_key": "/k"},
    ),
    "somebody else": (
        {"impersonate": "anna", "impersonate_uid": "1", "impersonate_groups": ("a", "b")},
        "user",
        {"impersonate": "anna", "impersonate_uid": "1", "impersonate_groups": ("a", "b")},
    ),
}


@pytest.mark.parametrize("case", REPLACED)
def test_fields_of_the_context_can_be_replaced(case: str, tmp_path: Path) -> None:
    choice, part, fields = REPLACED[case]
    found = read_merged([a_kubeconfig(tmp_path / "one", "a", current="a", **OWN_AUTHORITY)], ContextChoice(**choice))
    assert {name: getattr(getattr(found, part), name) for name in fields} == fields


def test_a_path_of_the_command_line_starts_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = a_kubeconfig(tmp_path / "configs" / "one", "a", current="a")
    monkeypatch.chdir(tmp_path)
    found = read_merged([config], ContextChoice(certificate_authority="ca.crt"))
    assert found.pem("certificate-authority", lambda line: None).path == tmp_path / "ca.crt"


def test_a_server_needs_no_kubeconfig(tmp_path: Path) -> None:
    target = kubectl_rest_config(
        "", ContextChoice(server="https://there", token="t"), environment={"KUBECONFIG": str(tmp_path / "none")}
    )
    assert (target.server, target.namespace) == ("https://there", "default")


def test_files_that_a_kubeconfig_names_are_beside_it(tmp_path: Path) -> None:
    one = a_kubeconfig(tmp_path / "1" / "one", "a", current="a")
    two = a_kubeconfig(tmp_path / "2" / "two", "b", **{"certificate-authority": "ca.crt"})
    found = read_merged([one, two], ContextChoice(cluster="b"))
    pem = found.pem("certificate-authority", lambda line: None)
    assert pem.path == tmp_path / "2" / "ca.crt"
    assert found.where("server") == f'kubeconfig {two}: cluster "b": server'
    assert found.where("token") == f'kubeconfig {one}: user "a": token'


def test_a_context_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    file = a_kubeconfig(tmp_path / "one", "a", "b")
    with pytest.raises(KubeconfigError) as error:
        read_merged([file], ContextChoice(context="c"))
    assert str(error.value) == f'kubeconfig {file}: --context "c" does not exist; there are: "a", "b"'


def test_kubeconfig_is_a_list_of_files_of_which_some_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    one = a_kubeconfig(tmp_path / "one", "a")
    home = a_kubeconfig(tmp_path / ".kube" / "config", "h")
    assert kubectl_files("", {"KUBECONFIG": f"{tmp_path / 'none'}:{one}:"}) == [one]
    assert kubectl_files("", {}) == [home]
    assert kubectl_files("named", {"KUBECONFIG": str(one)}) == [Path("named")]


@pytest.mark.parametrize(
    ("sentence", "source", "message"),
    [
        (
            "files and a context",
            ClusterSource(paths=("f",), choice=ContextChoice(context="c")),
            "--from and --context name different clusters: give only one of them",
        ),
        (
            "files and a user to ask as",
            ClusterSource(paths=("f",), choice=ContextChoice(impersonate="anna")),
            "--as is for requests to a live cluster: leave out this option or --from",
        ),
        (
            "files and a server",
            ClusterSource(paths=("f",), choice=ContextChoice(server="https://there")),
            "--from and --server name different clusters: give only one of them",
        ),
        (
            "three at once",
            ClusterSource(paths=("f",), cluster="c", kubeconfig="k"),
            "--from and --cluster and --kubeconfig name different clusters: give only one of them",
        ),
        (
            "nothing, and no kubeconfig",
            ClusterSource(),
            "there is no kubeconfig (~/.kube/config does not exist); name one with --kubeconfig; or use --from for "
            "files, or --cluster for a cluster of kubesched up",
        ),
        (
            "a kubeconfig that does not exist",
            ClusterSource(kubeconfig="nowhere"),
            "kubeconfig nowhere: there is no such file; check --kubeconfig, or clientConnection.kubeconfig",
        ),
        (
            "a cluster that is not up",
            ClusterSource(cluster="dev"),
            "no cluster 'dev' is up, nor is any other; start one with: kubesched up --name dev --detach FILES",
        ),
    ],
)
def test_what_cannot_be_asked_gets_one_line(
    sentence: str, source: ClusterSource, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(KubeschedError) as error:
        read_cluster(source)
    assert str(error.value) == message, sentence


def test_a_wrong_name_tells_which_clusters_are_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with locked("one") as lock, locked("two"):
        with pytest.raises(KubeschedError, match=r"^no cluster 'three' is up; running clusters: one, two$"):
            read_cluster(ClusterSource(cluster="three"))
        with pytest.raises(KubeschedError, match=r"^cluster 'one' is starting; try again in a moment$"):
            read_cluster(ClusterSource(cluster="one"))
        lock.serves("https://127.0.0.1:1", a_kubeconfig(tmp_path / "k", "a", current="a", server="https://127.0.0.1:1"))
        with pytest.raises(
            KubeschedError, match=r"^the cluster cannot be read: cannot connect to https://127.0.0.1:1: "
        ):
            read_cluster(ClusterSource(cluster="one"))
