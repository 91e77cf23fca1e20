"""The help of `kubesched up`, `try` and `with-cluster`: the text of `--help`, and the rest, for `--help-all`."""

from kubesched_controlplane.up.options import delay_lines
from kubesched_controlplane.up.session import HOST, UNSCHEDULABLE_CODE

# the kinds that scheduling depends on; clusters before v1.34 lack the last four. In one line, since help is indented
EXPORT = (
    "kubectl get -A -o yaml > cluster.yaml "
    "ns,nodes,pods,deploy,rs,sts,ds,rc,jobs,cronjobs,controllerrevisions,"
    "svc,pdb,limits,quota,pc,runtimeclasses,pv,pvc,sc,csinodes,csidrivers,csistoragecapacities,volumeattachments,"
    "deviceclasses,resourceclaims,resourceclaimtemplates,resourceslices"
)
NO_NODES = (
    "there are no nodes, so no pod can be placed: add some with --nodes 3, or Node objects "
    "(examples/quickstart/nodes.yaml has some), or export those of a cluster: kubectl get nodes -o yaml > nodes.yaml"
)
FILES = """FILES are manifests in YAML or JSON, such as nodes, pods, Deployments and Jobs: files, folders, - for
standard input. The scheduler places pods as on a real cluster. Nodes are simulated and "run" the pods that are bound to
them.
"""
UP = f"""Run a cluster on this machine, in one process: API server, simulated nodes and the scheduler.

{FILES}
\b
Example: a cluster for kubectl
  kubesched up examples/quickstart/
  export KUBECONFIG=...            # the line that it prints, in another terminal
  kubectl describe pod giant       # why it is pending
  kubectl run hello --image=hello  # scheduled at once

\b
Example: run a cluster in the background, and keep its objects for the next start
  kubesched up --detach --name dev --nodes 100 --zones 3 --gpu 1:20 --data ~/dev-cluster
  kubesched up status
  kubesched up down dev

\b
Example: replay a recorded day of a cluster ten times as fast, and watch it with kubectl
  kubesched record monday.jsonl.gz --for 24h
  kubesched up --replay monday.jsonl.gz --speed 10

The command serves the API on {HOST} and prints the progress, until Ctrl-C, SIGTERM or `kubesched up down`. With
--detach it returns as soon as the nodes are ready and the scheduler schedules. The name of the cluster is `default`,
unless you give --name. To print the node of each pod and exit, use `kubesched try`. To run tests with a cluster, use
`kubesched with-cluster`.

With --data DIR all objects are kept in DIR, and the next start with DIR continues from there, even after kill -9.
Objects and nodes that exist already stay unchanged; new ones are added.

Exit code: 0; 1 if a manifest or the configuration is invalid, a signal ends the command while it loads objects, the
cluster is not ready in time (--detach), or a cluster of that name is already up; 2 if an option is invalid.
"""
TRY = f"""Place pods on simulated nodes, print the node of each pod, and exit.

{FILES}
\b
Example: where does each pod go, and why is one pending?
  kubesched try examples/quickstart/

\b
Example: would an app fit on twenty nodes?
  kubesched try --nodes 20 --cpu 16 --memory 64Gi my-app.yaml && echo it fits

\b
Example: an existing cluster with another configuration of the scheduler
  {EXPORT}
  kubesched try --config my-scheduler.yaml cluster.yaml pods-to-come.yaml
  kubesched try --nodes 3 --like worker-7 cluster.yaml pods-to-come.yaml

The command waits until every pod is bound or found to be unschedulable and the controllers have settled. It prints the
node of each pod, or the reason why it has none. Nothing is served, unless you give --serve. To keep a cluster running,
use `kubesched up`.

Exit code: 0; 1 if a manifest or the configuration is invalid, the cluster has not settled in time, or a signal ends the
command before; 2 if an option is invalid; {UNSCHEDULABLE_CODE} if the cluster has settled and a pod has no node.
"""
WITH_CLUSTER = f"""Run a command, such as tests, with a cluster on this machine, and end the cluster with it.

The command starts as soon as the nodes are ready and the scheduler schedules. KUBECONFIG names the kubeconfig of the
cluster. Several clusters can run at the same time, each with its own port.

{FILES}
\b
Example: tests
  kubesched with-cluster --nodes 3 crds/ -- pytest tests/

\b
Example: a shell in which kubectl talks to the cluster
  kubesched with-cluster examples/quickstart/ -- bash

Exit code: that of COMMAND; 1 if a manifest or the configuration is invalid; 2 if an option is invalid.
"""
MORE = f"""Objects that were exported from a cluster (they have a UID) keep their status, age and UID. Missing
namespaces and classes are no error, and kinds that are not served here are left out with a count. Controllers leave
such pods alone until you change a template. Clusters before v1.34 have no deviceclasses, resourceclaims,
resourceclaimtemplates and resourceslices. For the kinds of your plugins, add the CustomResourceDefinitions; the
scheduler may read all kinds that its plugins look up.

Nodes without manifests: --nodes makes a pool of nodes that differ only in their zones. --gpu 1:20 puts one GPU on 20 of
them, in the form of a real cluster: the resource nvidia.com/gpu, the label nvidia.com/gpu.present=true and no taint, so
a pod needs only a request. --like NODE copies the labels, capacity, taints and volume drivers of a node in FILES. If
FILES contain nodes, new nodes get no zone unless you give --like, --zones or a zone label. --pool adds another pool,
with the fields name, nodes, zones, cpu, memory, pods, gpu, like, label and taint. You can repeat label and taint. The
label kubesched.io/pool has the name of the pool.

\b
Example: eight large nodes, and two with GPUs for pods that tolerate the taint
  kubesched up --nodes 8 --cpu 32 --memory 128Gi \\
    --pool name=gpu,nodes=2,gpu=8,label=example.com/disk=fast,taint=nvidia.com/gpu=present:NoSchedule

The cluster has a default StorageClass, `standard`, whose volumes are created on demand, unless FILES contain a default
class or come from a cluster. Bare pods with restartPolicy Never or OnFailure end after a while, as the pods of Jobs do:
the annotations kubesched.io/run-seconds and kubesched.io/exit-code set when and how.

\b
Delays of simulated nodes (--delay NAME=DURATION,...), without and with --speed:
{delay_lines()}
With --speed N all of these delays, run-seconds and grace periods are divided by N.

With --replay the nodes and pods of a trace appear, change and end at their times, divided by --speed. The trace is a
recording, or any file that `kubesched simulate` reads. Its objects at time 0 exist from the start, and its pods run as
long as it says. The workload controllers do not run, since their actions are in the trace. `kubesched try` ends when
the replay is over and the cluster has settled, so its --timeout must be longer than the trace.
"""
