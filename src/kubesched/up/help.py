"""What `kubesched up --help` says."""

from kubesched.up.options import delay_lines
from kubesched.up.session import HOST, UNSCHEDULABLE_CODE

# the kinds that scheduling depends on; clusters before v1.34 lack the last four. In one line, since help is indented
EXPORT = (
    "kubectl get -A -o yaml > cluster.yaml "
    "ns,nodes,pods,deploy,rs,sts,ds,rc,jobs,cronjobs,controllerrevisions,"
    "svc,pdb,limits,quota,pc,runtimeclasses,pv,pvc,sc,csinodes,csidrivers,csistoragecapacities,volumeattachments,"
    "deviceclasses,resourceclaims,resourceclaimtemplates,resourceslices"
)
NO_NODES = (
    "there are no nodes, so no pod can be placed: add some with --nodes 3, or Node objects "
    "(examples/quickstart/nodes.yaml has some), or take those of a cluster: kubectl get nodes -o yaml > nodes.yaml"
)
HELP = f"""Run a cluster on this machine, in one process: API server, simulated nodes and the scheduler.

FILES are manifests in YAML or JSON: files, folders, - for standard input: nodes, pods, Deployments, Jobs, whatever they
need. Pods are scheduled as on a real cluster; nodes are simulated and "run" what is bound to them.

\b
Example: where does everything go, and why not?
  kubesched up --once examples/quickstart/

\b
Example: would it fit on twenty nodes?
  kubesched up --once --nodes 20 --cpu 16 --memory 64Gi my-app.yaml && echo it fits

\b
Example: a cluster to play with
  kubesched up examples/quickstart/
  export KUBECONFIG=...            # the line that it prints, in another terminal
  kubectl describe pod giant       # why it is pending
  kubectl run hello --image=hello  # scheduled at once

\b
Example: a cluster for as long as a command takes, such as tests
  kubesched up --nodes 3 crds/ -- pytest tests/

\b
Example: several at once, in the background, and one that is there again tomorrow
  kubesched up --detach --name dev --nodes 100 --zones 3 --gpu 1:20 --data ~/dev-cluster
  kubesched up status
  kubesched up down dev

\b
Example: a cluster as it is, with a scheduler as it might be
  {EXPORT}
  kubesched up --once --config my-scheduler.yaml cluster.yaml pods-to-come.yaml
  kubesched up --once --nodes 3 --like worker-7 cluster.yaml pods-to-come.yaml

\b
Example: what a cluster went through on Monday, ten times as fast, with kubectl at hand
  kubesched record monday.jsonl.gz --for 24h
  kubesched up --replay monday.jsonl.gz --speed 10

With --once it waits until every pod is bound or found to be unschedulable and controllers have nothing left to do,
prints where each pod is, with the reasons for those that are nowhere, and ends. This is also what happens when standard
output is no terminal, unless --stay is given. Otherwise it serves the API on {HOST}, shows how things stand, and ends
with Ctrl-C or `kubesched up down`. With --detach it returns as soon as the nodes are ready and the scheduler schedules;
with -- COMMAND it runs the command then, with KUBECONFIG set, and ends with it.

Objects that come from a cluster (they have a UID) are taken as they are: with status, age and UID; namespaces and
classes that were left behind are no error, kinds that are not served here are left out with a count, and controllers
leave pods alone until somebody changes a template. Clusters before v1.34 do not have the last four kinds above. Kinds
of your plugins come with their CustomResourceDefinitions; the scheduler may read what its plugins look up.

Nodes without manifests: --nodes makes a pool of nodes that are alike but for their zones. --gpu 1:20 puts one GPU on 20
of them, as a real cluster shows them: the resource nvidia.com/gpu, with the label nvidia.com/gpu.present=true and no
taint, so a pod needs no more than its request. --like NODE copies labels, room, taints and volume drivers of a node in
FILES. Beside nodes in FILES no zones are made up: --like, --zones or a label says where they are. --pool adds others,
with fields name, nodes, zones, cpu, memory, pods, gpu, like, label and taint (the last two as often as you like); the
label kubesched.io/pool has the pool's name.

\b
Example: eight large nodes, and two with GPUs for those who tolerate the taint
  kubesched up --nodes 8 --cpu 32 --memory 128Gi \\
    --pool name=gpu,nodes=2,gpu=8,label=example.com/disk=fast,taint=nvidia.com/gpu=present:NoSchedule

There is a default StorageClass, `standard`, whose volumes are made up as they are wanted, unless FILES have a default
one or come from a cluster. Pods that nobody controls and that may end (restartPolicy Never or OnFailure) end after a
while, as those of Jobs do: the annotations kubesched.io/run-seconds and kubesched.io/exit-code say when and how.

\b
Delays of simulated nodes (--delay NAME=DURATION,...), without and with --speed:
{delay_lines()}
With --speed N all of them, run-seconds and grace periods are N times as short.

With --replay the nodes and pods of a trace come, change and go at their times, divided by --speed: a recording, or any
file that `kubesched simulate` reads. What is in it at time 0 is there at the beginning. Pods run as long as it says.
Controllers of workloads rest, since what they did is in the trace. With --once it ends when the replay is over and
things have settled, so --timeout has to be longer than the trace.

With --data DIR everything is kept, and the next start with DIR goes on where the last one ended, however it did:
kill -9 loses nothing. Objects and nodes that are there already stay as they are; others are added.

Exit code: 0; 1 if a manifest or the configuration is wrong, things have not settled in time, it is ended before they
have, or a cluster of that name is up already; 2 if an option is wrong; {UNSCHEDULABLE_CODE} if things have settled and
pods are left that found no node; that of COMMAND, if there is one.
"""
