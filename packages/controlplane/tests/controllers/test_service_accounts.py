"""Service accounts: one in every namespace, what pods get of them, their tokens, and who shows those."""

import asyncio
from base64 import b64decode, urlsafe_b64decode
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from tests.support.api import Asking
from tests.support.good_objects import an_api
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response, User
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.registry.token_issuer import ISSUER
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

Document = dict[str, Any]
SPACE = "/api/v1/namespaces/default"
PLACE = "/var/run/secrets/kubernetes.io/serviceaccount"

# -- in every namespace


def test_every_namespace_has_an_account_and_certificates() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
        await asyncio.sleep(1)
        for namespace in ("default", "kube-system", "a"):
            assert cluster.get("ServiceAccount", "default", namespace) is not None
            found = cluster.get("ConfigMap", "kube-root-ca.crt", namespace)
            assert found is not None
            assert found["data"].keys() == {"ca.crt"}
            assert found["metadata"]["annotations"]["kubernetes.io/description"].startswith("Contains a CA bundle")
        cluster.delete("ServiceAccount", "default", "a")
        cluster.change("ConfigMap", "kube-root-ca.crt", lambda each: each.update(data={"x": "y"}), namespace="a")
        await asyncio.sleep(1)
        assert cluster.get("ServiceAccount", "default", "a") is not None, "it is made again"
        found = cluster.get("ConfigMap", "kube-root-ca.crt", "a")
        assert found is not None
        assert found["data"].keys() == {"ca.crt"}, "it is put right"
        cluster.delete("Namespace", "a")
        await asyncio.sleep(1)
        assert cluster.get("ServiceAccount", "default", "a") is None

    in_simulated_cluster(story)


# -- what pods get


def a_pod(**spec: Any) -> Document:
    containers = [{"name": "c", "image": "i", **spec.pop("container", {})}]
    return {"metadata": {"name": "p", **spec.pop("meta", {})}, "spec": {"containers": containers, **spec}}


def with_account(**account: Any) -> Asking:
    asking = an_api()
    asking.ok("POST", f"{SPACE}/serviceaccounts", {"metadata": {"name": "default"}, **account})
    return asking


def test_a_pod_gets_a_token_as_the_real_server_gives_it() -> None:
    made = with_account().ok("POST", f"{SPACE}/pods", a_pod(initContainers=[{"name": "i", "image": "i"}]))
    (volume,) = made["spec"]["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert len(volume["name"]) == len("kube-api-access-") + 5
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    assert volume["projected"] == {
        "defaultMode": 420,
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
        ],
    }
    mount = {"name": volume["name"], "readOnly": True, "mountPath": PLACE}
    for container in (*made["spec"]["containers"], *made["spec"]["initContainers"]):
        assert container["volumeMounts"] == [mount]
    assert made["spec"]["serviceAccountName"] == "default"
    fields = msgspec.json.encode(made["metadata"]["managedFields"])
    assert b"kube-api-access" not in fields, "it is nobody's"
    assert b"volumeMounts" not in fields


VOLUME = {"name": "kube-api-access-abcde", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
MIRROR = {"kubernetes.io/config.mirror": "x"}
NOT_MOUNTED: list[tuple[str, Document, Document, list[str]]] = [
    ("the pod does not want it", {}, a_pod(automountServiceAccountToken=False), []),
    ("the account does not", {"automountServiceAccountToken": False}, a_pod(), []),
    (
        "something is there",
        {},
        a_pod(container={"volumeMounts": [{"name": "v", "mountPath": PLACE}]}, volumes=[{"name": "v", "emptyDir": {}}]),
        ["v"],
    ),
    ("the pod brings it along, as in an export", {}, a_pod(volumes=[VOLUME]), ["kube-api-access-abcde"]),
    (
        "it is a mirror of a file",
        {},
        a_pod(nodeName="n", meta={"annotations": MIRROR}),
        [],
    ),
]


@pytest.mark.parametrize(("case", "account", "pod", "names"), NOT_MOUNTED, ids=[row[0] for row in NOT_MOUNTED])
def test_pods_that_get_no_further_volume(case: str, account: Document, pod: Document, names: list[str]) -> None:
    made = with_account(**account).ok("POST", f"{SPACE}/pods", pod)
    assert [volume["name"] for volume in made["spec"].get("volumes") or ()] == names


def test_the_pods_wish_counts_and_secrets_for_images_are_the_accounts() -> None:
    asking = with_account(automountServiceAccountToken=False, imagePullSecrets=[{"name": "registry"}])
    made = asking.ok("POST", f"{SPACE}/pods", a_pod(automountServiceAccountToken=True))
    assert len(made["spec"]["volumes"]) == 1
    assert made["spec"]["imagePullSecrets"] == [{"name": "registry"}]


def test_owners_of_volumes_beside_the_token() -> None:
    pod = a_pod(container={"volumeMounts": [{"name": "v", "mountPath": "/v"}]}, volumes=[{"name": "v", "emptyDir": {}}])
    made = with_account().ok("POST", f"{SPACE}/pods", pod)
    fields = msgspec.json.encode(made["metadata"]["managedFields"])
    assert b"kube-api-access" not in fields
    assert b'k:{\\"name\\":\\"v\\"}' in fields
    assert PLACE.encode() not in fields


# -- tokens

TOKENS = {"admin-token": User("admin", ("system:masters",))}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class ClusterState:
    """A server whose clock is turned by hand, asked as an administrator or with a token."""

    def __init__(self) -> None:
        self.now = NOW
        self.server = ApiServer(
            seed=1, clock=lambda: self.now, access=lambda services: RoleBasedAccess(services, StaticTokens(TOKENS))
        )
        bootstrap(LocalClient(self.server, ADMINISTRATOR))
        self.admin = Asking(self.server)
        self.admin.ok("POST", f"{SPACE}/serviceaccounts", {"metadata": {"name": "a"}})

    def token(self, **spec: Any) -> str:
        """Return a token of the account."""
        found = self.admin.ok("POST", f"{SPACE}/serviceaccounts/a/token", {"spec": spec})
        token: str = found["status"]["token"]
        return token

    def review(self, token: str, *audiences: str) -> Document:
        """Return what a review says of a token."""
        spec = {"token": token, **({"audiences": list(audiences)} if audiences else {})}
        status: Document = self.admin.ok("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": spec})[
            "status"
        ]
        return status

    def is_known(self, token: str) -> bool:
        """Return whether who shows a token is known."""
        try:
            self.server.access.user_of({"authorization": f"Bearer {token}"})
        except ApiError:
            return False
        return True


@pytest.fixture
def cluster() -> ClusterState:
    return ClusterState()


def claims_of(token: str) -> Document:
    payload = token.split(".")[1]
    found: Document = msgspec.json.decode(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return found


def test_a_token_and_who_shows_it(cluster: ClusterState) -> None:
    made = cluster.admin.ok("POST", f"{SPACE}/serviceaccounts/a/token", {"spec": {"expirationSeconds": 600}})
    uid = made["metadata"]["uid"]
    assert (made["kind"], made["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
    assert made["spec"] == {"audiences": [ISSUER], "expirationSeconds": 600, "boundObjectRef": None}
    assert made["status"]["expirationTimestamp"] == "2026-01-01T00:10:00Z"
    claims = claims_of(made["status"]["token"])
    at = int(NOW.timestamp())
    jti = claims.pop("jti")
    assert claims == {
        "aud": [ISSUER],
        "exp": at + 600,
        "iat": at,
        "iss": ISSUER,
        "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "a", "uid": uid}},
        "nbf": at,
        "sub": "system:serviceaccount:default:a",
    }
    user = {
        "username": "system:serviceaccount:default:a",
        "uid": uid,
        "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={jti}"]},
    }
    assert cluster.review(made["status"]["token"]) == {"authenticated": True, "user": user, "audiences": [ISSUER]}
    found = cluster.server.access.user_of({"authorization": f"Bearer {made['status']['token']}"})
    assert (found.name, found.uid) == (user["username"], uid)


def test_tokens_end(cluster: ClusterState) -> None:
    token = cluster.token(expirationSeconds=600)
    cluster.now += timedelta(seconds=599)
    assert cluster.is_known(token)
    cluster.now += timedelta(seconds=2)
    assert not cluster.is_known(token)
    assert cluster.review(token) == {
        "user": {},
        "error": "[invalid bearer token, service account token has expired]",
    }


def test_a_token_for_others_is_not_for_the_server(cluster: ClusterState) -> None:
    token = cluster.token(audiences=["vault"])
    assert not cluster.is_known(token)
    assert cluster.review(token, "vault")["audiences"] == ["vault"]
    assert cluster.review(token)["error"] == (
        f'[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["{ISSUER}"]]'
    )


def test_an_account_that_is_deleted_takes_its_tokens_along(cluster: ClusterState) -> None:
    token = cluster.token()
    assert cluster.is_known(token)
    cluster.admin.ok("DELETE", f"{SPACE}/serviceaccounts/a")
    assert not cluster.is_known(token)
    cluster.admin.ok("POST", f"{SPACE}/serviceaccounts", {"metadata": {"name": "a"}})
    assert not cluster.is_known(token), "another account of the same name is another one"


def test_tokens_that_are_bound(cluster: ClusterState) -> None:
    cluster.admin.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n"}})
    cluster.admin.ok("POST", f"{SPACE}/pods", a_pod(serviceAccountName="a", nodeName="n"))
    bound = {"kind": "Pod", "apiVersion": "v1", "name": "p"}
    token = cluster.token(boundObjectRef=bound, expirationSeconds=3607)
    claims = claims_of(token)
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600, "programs may not read it again"
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607
    extra = cluster.review(token)["user"]["extra"]
    key = "authentication.kubernetes.io/"
    assert (extra[f"{key}node-name"], extra[f"{key}pod-name"]) == (["n"], ["p"])
    cluster.admin.ok("DELETE", f"{SPACE}/pods/p", {"gracePeriodSeconds": 0})
    assert not cluster.is_known(token)


REFUSED: list[tuple[str, Document, int, str]] = [
    (
        "too short a time",
        {"expirationSeconds": 60},
        422,
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: '
        "may not specify a duration less than 10 minutes",
    ),
    (
        "a pod that is not there",
        {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "nope"}},
        404,
        'pods "nope" not found',
    ),
    (
        "a kind that tokens are not bound to",
        {"boundObjectRef": {"kind": "Pot", "apiVersion": "v1", "name": "nope"}},
        400,
        "cannot bind token to object of type /v1, Kind=Pot",
    ),
    (
        "a pod of another account",
        {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}},
        400,
        'cannot bind token for serviceaccount "a" to pod running with different serviceaccount name.',
    ),
]


@pytest.mark.parametrize(("case", "spec", "code", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_requests_that_are_refused(cluster: ClusterState, case: str, spec: Document, code: int, message: str) -> None:
    cluster.admin.ok("POST", f"{SPACE}/pods", a_pod())
    found = cluster.admin.refused("POST", f"{SPACE}/serviceaccounts/a/token", {"spec": spec})
    assert (found[0], found[2]) == (code, message)
    assert cluster.admin.refused("POST", f"{SPACE}/serviceaccounts/b/token", {})[0] == 404


def test_what_was_not_signed_here_is_nobodys(cluster: ClusterState) -> None:
    token, stranger = cluster.token(), ClusterState().token()
    head, body, signature = token.split(".")
    flipped = ("A" if signature[5] != "A" else "B").join((signature[:5], signature[6:]))
    cut, turned = f"{head}.{body}.", f"{body}.{body}.{signature}"
    for strange in (stranger, f"{head}.{body}.{flipped}", cut, turned, "a.b.c", "..", "é.é.é"):
        assert not cluster.is_known(strange)
    assert cluster.is_known(token)


def test_others_read_tokens_by_the_published_keys(cluster: ClusterState) -> None:
    def page(path: str, user: User) -> Response:
        found = cluster.server.handle(Request("GET", path, {}, {"host": "127.0.0.1:6443"}, b"", user))
        assert isinstance(found, Response)
        return found

    anyone = User("system:serviceaccount:default:a", ("system:serviceaccounts", "system:authenticated"))
    about = page("/.well-known/openid-configuration", anyone).document()
    assert (about["issuer"], about["jwks_uri"]) == (ISSUER, "https://127.0.0.1:6443/openid/v1/jwks")
    keys = page("/openid/v1/jwks", anyone)
    assert keys.content_type == "application/jwk-set+json"
    (key,) = keys.document()["keys"]
    x, y = (int.from_bytes(urlsafe_b64decode(key[name] + "="), "big") for name in "xy")
    text, _, signature = cluster.token().rpartition(".")
    raw = urlsafe_b64decode(signature + "==")
    halves = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    public.verify(encode_dss_signature(*halves), text.encode(), ec.ECDSA(hashes.SHA256()))
    assert page("/openid/v1/jwks", User("system:anonymous", ("system:unauthenticated",))).code == 403


def test_secrets_that_hold_tokens() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        await asyncio.sleep(1)
        kind = "kubernetes.io/service-account-token"
        meta = {"name": "t", "annotations": {"kubernetes.io/service-account.name": "default"}}
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": kind})
        await asyncio.sleep(1)
        secret, account = cluster.get("Secret", "t"), cluster.get("ServiceAccount", "default")
        assert secret is not None
        assert account is not None
        uid = account["metadata"]["uid"]
        assert secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == uid
        assert b64decode(secret["data"]["namespace"]) == b"default"
        token = b64decode(secret["data"]["token"]).decode()
        access = RoleBasedAccess(cluster.server.registry, StaticTokens())
        user = access.user_of_token(token)
        assert user is not None
        assert (user.name, user.uid) == ("system:serviceaccount:default:default", uid)
        cluster.delete("ServiceAccount", "default")
        await asyncio.sleep(1)
        assert cluster.get("Secret", "t") is None
        assert access.user_of_token(token) is None

    in_simulated_cluster(story)
