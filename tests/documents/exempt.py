"""Lines of the documents that no test runs as they are, each with the reason. A line is a whole one."""

_LONG = "up to an hour; packages/lab/tests/bench run short workloads, test_bench_docs.py there reads its options"
_IMAGE = "needs a container engine and a registry; tests/deploy/test_image.py runs the steps of the Dockerfile"
_ENGINE = (
    "needs kind or k3s and a container engine; tests/documents/test_in_order.py makes the same static pod, and "
    "tests/deploy/test_helm_release.py installs the chart"
)
_MAKE = "sets up an environment from an index of packages; CI runs it"
_PYPI = "needs an index of packages; tests/project/test_new_user.py installs the wheel"
_RELEASE = "needs a release that is published; tests/deploy/test_helm_release.py installs the chart of this folder"
_PAGES = "needs a scheduler in a container; tests/documents/test_in_order.py reads the pages of a process"
_BUILD = "docker build -f deploy/Dockerfile -t registry.example.com/kubesched:0.1.0 ."

NOT_RUN = {
    # addresses of examples
    "kubesched explain pod shop/web-0 --scheduler https://10.0.0.7:10259 --scheduler-ca scheduler.crt": (
        "an address of an example; packages/answers/tests have a scheduler of their own"
    ),
    "kubectl -n kube-system port-forward pod/POD 10259:10259": _PAGES,
    'curl -sk -H "Authorization: Bearer $(cat token)" https://127.0.0.1:10259/debug/queue': _PAGES,
    "openssl s_client -connect 127.0.0.1:10259 </dev/null | openssl x509 > scheduler.crt": _PAGES,
    "kubesched explain pod shop/web-0 --scheduler https://127.0.0.1:10259 --scheduler-ca scheduler.crt "
    "--scheduler-token-file token": _PAGES,
    # benchmarks
    "kubesched bench SchedulingBasic/5000Nodes_10000Pods TopologySpreading --repeat 3": _LONG,
    "kubesched bench --label performance -o json --file old.json": _LONG,
    "kubesched bench --label performance --compare old.json --fail-below 0.9": _LONG,
    "kubesched bench performance-config.yaml --label performance,-short": _LONG,
    "cd kubernetes/test/integration/scheduler_perf/misc": "a checkout of Kubernetes; the next line finds its file here",
    "kubesched bench SchedulingBasic/500Nodes --on cluster --kubeconfig admin.kubeconfig "
    "--scheduler 'kubesched run --config {config}' --against 'kube-scheduler --config {config}'": (
        "needs kube-scheduler and a bare API server; packages/lab/tests/bench run ours on such a one"
    ),
    # images
    _BUILD: _IMAGE,
    "docker push registry.example.com/kubesched:0.1.0": _IMAGE,
    f"{_BUILD} --build-arg BUILD=python:3.11-slim-bookworm@sha256:... "
    "--build-arg RUNTIME=gcr.io/distroless/python3-debian12:nonroot@sha256:...": _IMAGE,
    "gh attestation verify oci://ghcr.io/kubesched/kubesched:0.1.0 --repo kubesched/kubesched": _RELEASE,
    "helm install kubesched oci://ghcr.io/kubesched/charts/kubesched --version 0.1.0 -n kube-system "
    "--set image.repository=ghcr.io/kubesched/kubesched": _RELEASE,
    "kind load docker-image registry.example.com/kubesched:0.1.0": _ENGINE,
    "docker cp kind-control-plane:/etc/kubernetes/manifests/kube-scheduler.yaml before.yaml": _ENGINE,
    "kubectl kustomize replacement > kube-scheduler.yaml": _ENGINE,
    "docker cp kube-scheduler.yaml kind-control-plane:/etc/kubernetes/manifests/kube-scheduler.yaml": _ENGINE,
    "kubectl -n kube-system get lease kube-scheduler -o jsonpath='{.spec.holderIdentity}'": _ENGINE,
    "docker save registry.example.com/kubesched:0.1.0 | sudo k3s ctr images import -": _ENGINE,
    # installations
    "make run": _MAKE,
    "make test": _MAKE,
    "make quick": _MAKE,
    "make test-slow": _MAKE,
    "make test-random": _MAKE,
    "make bench": _MAKE,
    "make coverage": _MAKE,
    "make attack": _MAKE,
    "python3 -m venv ~/kubesched && ~/kubesched/bin/pip install . ./packages/{scheduler,controlplane,answers,lab}"
    " && export PATH=~/kubesched/bin:$PATH": _PYPI,
    "python3 -m venv venv && . venv/bin/activate": _PYPI,
    "pip install 'kubesched[testing]'": _PYPI,
    "pip install kubesched": _PYPI,
    "git clone https://github.com/kubesched/kubesched && cd kubesched": "needs the network; CI checks it out",
    # files that are not here
    "kubesched try --replay nodes.yaml --replay trace.sktrace --speed 100 --timeout 1h": (
        "a trace of SimKube; packages/lab/tests/simulate/traces/test_foreign.py reads one"
    ),
}
