"""What pods and their parts are for."""

TEXTS = """
Pod: A Pod is one or more containers that run together on one node and share its network and volumes.
PodSpec: What a pod consists of and where it may run.
PodStatus: How a pod and its containers are doing.
PodTemplateSpec: The pod that a controller makes copies of.
PodSpec.volumes: Volumes that containers of the pod can mount.
PodSpec.initContainers: Containers that run one after the other, each to its end, before the others start. One with
    restartPolicy Always goes on as a sidecar.
PodSpec.containers: The containers of the pod. There must be at least one, and they cannot be added or removed.
PodSpec.ephemeralContainers: Containers that are added to a running pod to look into it.
PodSpec.restartPolicy: When containers are restarted that end: Always, OnFailure or Never. Always by default.
PodSpec.terminationGracePeriodSeconds: How many seconds containers have to end by themselves when the pod is deleted;
    30 by default.
PodSpec.activeDeadlineSeconds: How many seconds the pod may be active before it is made to fail.
PodSpec.dnsPolicy: How names are resolved: ClusterFirst (the default), ClusterFirstWithHostNet, Default or None.
PodSpec.nodeSelector: Labels that a node must have for the pod to run there.
PodSpec.serviceAccountName: The name of the service account under which the pod runs.
PodSpec.nodeName: The node that the pod runs on; empty until it is scheduled. Whoever sets it skips the scheduler.
PodSpec.hostNetwork: Use the network of the node; ports of containers must then be free there.
PodSpec.hostPID: Use the process namespace of the node.
PodSpec.hostIPC: Use the IPC namespace of the node.
PodSpec.shareProcessNamespace: Let the containers of the pod see each other's processes.
PodSpec.securityContext: Users, groups and other security settings for the pod as a whole.
PodSpec.imagePullSecrets: Secrets with which images are pulled.
PodSpec.hostname: The host name of the pod, if it is not to be its name.
PodSpec.subdomain: The subdomain in which the pod's host name is.
PodSpec.affinity: Where the pod must or should run, by the labels of nodes and by the pods that run there.
PodSpec.schedulerName: The scheduler that places the pod; default-scheduler by default.
PodSpec.tolerations: Taints of nodes that the pod bears.
PodSpec.hostAliases: Entries in the pod's hosts file.
PodSpec.priorityClassName: The class that says how important the pod is. A pod that finds no place may have less
    important ones removed.
PodSpec.priority: How important the pod is; it follows from the priority class.
PodSpec.preemptionPolicy: Whether the pod may have less important ones removed: PreemptLowerPriority (the default) or
    Never.
PodSpec.readinessGates: Conditions besides readiness of its containers that must be true for the pod to be ready.
PodSpec.runtimeClassName: The runtime class with which the pod is run.
PodSpec.overhead: What running the pod takes besides what its containers take; it follows from the runtime class.
PodSpec.topologySpreadConstraints: How pods like this one are to be spread over zones, nodes or other domains. All of
    them must be met.
PodSpec.schedulingGates: As long as there is one, the pod is not scheduled. They can be set when the pod is created
    only, and be removed later.
PodSpec.resourceClaims: Claims to devices that containers of the pod can use.
PodSpec.resources: What the pod as a whole requests and is limited to.
PodSpec.schedulingGroup: The group of pods together with which this one is scheduled.
PodSpec.os: The operating system that the containers need.
PodSpec.enableServiceLinks: Put the addresses of services into environment variables; true by default.
PodSpec.automountServiceAccountToken: Mount the token of the service account.
PodStatus.phase: Where the pod is in its life: Pending, Running, Succeeded, Failed or Unknown.
PodStatus.nominatedNodeName: The node on which room is being made for the pod.
PodStatus.hostIP: The address of the pod's node.
PodStatus.podIP: The pod's address; empty until it has one.
PodStatus.podIPs: The pod's addresses, one for each IP family at most.
PodStatus.startTime: When the node took the pod in.
PodStatus.qosClass: Guaranteed, Burstable or BestEffort, by what its containers request.
PodStatus.containerStatuses: How each container is doing.
PodStatus.initContainerStatuses: How each init container is doing.

Container: A container of a pod.
Container.name: The name of the container, unique in its pod. It cannot be changed.
Container.image: The image that the container runs.
Container.command: What is run instead of the image's entrypoint.
Container.args: Arguments instead of those in the image.
Container.workingDir: Where the command is run.
Container.ports: Ports that the container listens on. Those that are not listed can be reached, too.
Container.env: Environment variables. They cannot be changed.
Container.envFrom: Config maps and secrets whose entries become environment variables.
Container.resources: What the container requests and is limited to.
Container.volumeMounts: Where volumes of the pod are mounted.
Container.volumeDevices: Block devices that the container uses.
Container.livenessProbe: The container is restarted when this probe fails.
Container.readinessProbe: The container gets no traffic from services while this probe fails.
Container.startupProbe: No other probe runs before this one has succeeded.
Container.lifecycle: What is done after the container has started, and before it is ended.
Container.imagePullPolicy: When the image is pulled: Always, IfNotPresent or Never.
Container.securityContext: Security settings of the container; they go before those of the pod.
Container.restartPolicy: For init containers only: Always makes it a sidecar, which goes on while the pod runs.
Container.terminationMessagePath: The file from which the container's last words are read.
Container.stdin: Keep an input open for the container.
Container.tty: Give the container a terminal.
ContainerPort.containerPort: The port on the pod's address.
ContainerPort.hostPort: The port on the node. The pod is then placed only where it is free.
ContainerPort.protocol: TCP (the default), UDP or SCTP.
ContainerPort.name: A name for the port, by which services can refer to it.
EnvVar.value: The value; $(NAME) stands for variables before this one.
EnvVar.valueFrom: Where the value comes from.
ResourceRequirements: What something requests and is limited to.
ResourceRequirements.requests: The least it needs. The scheduler places pods by the sum of their requests.
ResourceRequirements.limits: The most it may use.
ResourceRequirements.claims: Claims of the pod, by name, that the container uses.
VolumeMount.mountPath: Where in the container the volume is mounted.
VolumeMount.name: The name of the volume.
VolumeMount.readOnly: Mount it so that it cannot be written to.
VolumeMount.subPath: The path in the volume that is mounted; its root by default.
Probe: How it is found out whether a container is well.
Probe.initialDelaySeconds: How many seconds after the start of the container the first probe comes.
Probe.periodSeconds: How many seconds lie between probes; 10 by default.
Probe.timeoutSeconds: After how many seconds a probe has failed; 1 by default.
Probe.failureThreshold: How many probes must fail in a row; 3 by default.
Probe.successThreshold: How many probes must succeed in a row; 1 by default.
SecurityContext.privileged: Run the container with the rights of the node's root.
SecurityContext.runAsUser: The user ID that the container runs under.
SecurityContext.runAsNonRoot: Refuse to start the container as root.
SecurityContext.readOnlyRootFilesystem: Let nothing be written outside volumes.
SecurityContext.capabilities: Capabilities that are added or dropped.

Volume: A volume of a pod: a name, and where it comes from.
Volume.name: The name of the volume, by which containers mount it.
VolumeSource.emptyDir: An empty folder that lives as long as the pod.
VolumeSource.hostPath: A file or folder of the node.
VolumeSource.configMap: The entries of a config map as files.
VolumeSource.secret: The entries of a secret as files.
VolumeSource.persistentVolumeClaim: The volume that a claim is bound to.
VolumeSource.projected: Several sources in one folder.
VolumeSource.csi: A volume that a CSI driver makes for the pod.
VolumeSource.ephemeral: A claim that is made for the pod and goes with it.

Affinity: Rules for where a pod is placed.
Affinity.nodeAffinity: By the labels and fields of nodes.
Affinity.podAffinity: Near pods that match.
Affinity.podAntiAffinity: Away from pods that match.
NodeAffinity.requiredDuringSchedulingIgnoredDuringExecution: The pod is placed only on nodes that match one of the
    terms.
NodeAffinity.preferredDuringSchedulingIgnoredDuringExecution: Nodes that match are preferred, each by its weight.
PodAffinity.requiredDuringSchedulingIgnoredDuringExecution: All of these must hold where the pod is placed.
PodAffinity.preferredDuringSchedulingIgnoredDuringExecution: Nodes where these hold are preferred, each by its weight.
PodAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution: None of these may hold where the pod is placed.
PodAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution: Nodes where these do not hold are preferred, each by
    its weight.
PodAffinityTerm: Pods, and the domain in which they count as near.
PodAffinityTerm.labelSelector: Which pods are meant.
PodAffinityTerm.namespaces: The namespaces of those pods; the pod's own by default.
PodAffinityTerm.namespaceSelector: The namespaces of those pods, by labels.
PodAffinityTerm.topologyKey: The label of nodes whose value tells domains apart, for example
    topology.kubernetes.io/zone.
NodeSelectorRequirement.operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
Toleration: Lets a pod onto nodes with a taint, or lets it stay there.
Toleration.key: The key of the taint; empty, with operator Exists, means all.
Toleration.operator: Equal (the default), Exists, Lt or Gt.
Toleration.effect: The effect that is borne: NoSchedule, PreferNoSchedule or NoExecute; empty means all.
Toleration.tolerationSeconds: How long a NoExecute taint is borne; for ever by default.
TopologySpreadConstraint: How evenly pods are spread over domains.
TopologySpreadConstraint.maxSkew: By how many pods domains may differ.
TopologySpreadConstraint.topologyKey: The label of nodes whose value tells domains apart.
TopologySpreadConstraint.whenUnsatisfiable: DoNotSchedule, or ScheduleAnyway to prefer only.
TopologySpreadConstraint.labelSelector: Which pods are counted.
TopologySpreadConstraint.minDomains: How many domains there must be before pods may be spread unevenly.
TopologySpreadConstraint.matchLabelKeys: Labels of the pod that the pods that are counted must have, too.
PodSchedulingGate.name: The name of the gate.
Binding: A Binding ties a pod to a node.
"""
