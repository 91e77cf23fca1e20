"""Containers: image, command, resources, mounts, probes and status."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: PullPolicy, Protocol, ResourceResizeRestartPolicy, ContainerRestartPolicy, ContainerRestartRuleAction
string: ContainerRestartRuleOnExitCodesOperator, RecursiveReadOnlyMode, MountPropagationMode, URIScheme, Signal
string: TerminationMessagePolicy, Capability, ProcMountType, SeccompProfileType, AppArmorProfileType

Container: name=1!, image=2, command=3 []string atomic, args=4 []string atomic, workingDir=5
    ports=6 []ContainerPort map(containerPort protocol) merge(containerPort), envFrom=19 []EnvFromSource atomic
    env=7 []EnvVar by(name), resources=8 ResourceRequirements, resizePolicy=23 []ContainerResizePolicy atomic
    restartPolicy=24 *ContainerRestartPolicy, restartPolicyRules=25 []ContainerRestartRule atomic
    volumeMounts=9 []VolumeMount by(mountPath), volumeDevices=21 []VolumeDevice by(devicePath)
    livenessProbe=10 *Probe, readinessProbe=11 *Probe, startupProbe=22 *Probe, lifecycle=12 *Lifecycle
    terminationMessagePath=13, terminationMessagePolicy=20 TerminationMessagePolicy, imagePullPolicy=14 PullPolicy
    securityContext=15 *SecurityContext, stdin=16 bool, stdinOnce=17 bool, tty=18 bool

EphemeralContainer: +EphemeralContainerCommon=1, targetContainerName=2
EphemeralContainerCommon: name=1!, image=2, command=3 []string atomic, args=4 []string atomic, workingDir=5
    ports=6 []ContainerPort map(containerPort protocol) merge(containerPort), envFrom=19 []EnvFromSource atomic
    env=7 []EnvVar by(name), resources=8 ResourceRequirements, resizePolicy=23 []ContainerResizePolicy atomic
    restartPolicy=24 *ContainerRestartPolicy, restartPolicyRules=25 []ContainerRestartRule atomic
    volumeMounts=9 []VolumeMount by(mountPath), volumeDevices=21 []VolumeDevice by(devicePath)
    livenessProbe=10 *Probe, readinessProbe=11 *Probe, startupProbe=22 *Probe, lifecycle=12 *Lifecycle
    terminationMessagePath=13, terminationMessagePolicy=20 TerminationMessagePolicy, imagePullPolicy=14 PullPolicy
    securityContext=15 *SecurityContext, stdin=16 bool, stdinOnce=17 bool, tty=18 bool

ContainerPort: name=1, hostPort=2 int32, containerPort=3! int32, protocol=4 Protocol, hostIP=5
EnvFromSource: prefix=1, configMapRef=2 *ConfigMapEnvSource, secretRef=3 *SecretEnvSource
ConfigMapEnvSource: +LocalObjectReference=1, optional=2 *bool
SecretEnvSource: +LocalObjectReference=1, optional=2 *bool
EnvVar: name=1!, value=2, valueFrom=3 *EnvVarSource
EnvVarSource: fieldRef=1 *ObjectFieldSelector, resourceFieldRef=2 *ResourceFieldSelector
    configMapKeyRef=3 *ConfigMapKeySelector, secretKeyRef=4 *SecretKeySelector, fileKeyRef=5 *FileKeySelector
ObjectFieldSelector atomic: apiVersion=1, fieldPath=2!
ResourceFieldSelector atomic: containerName=1, resource=2!, divisor=3 Quantity
ConfigMapKeySelector atomic: +LocalObjectReference=1, key=2!, optional=3 *bool
SecretKeySelector atomic: +LocalObjectReference=1, key=2!, optional=3 *bool
FileKeySelector atomic: volumeName=1!, path=2!, key=3!, optional=4 *bool

ResourceRequirements: limits=1 ResourceList, requests=2 ResourceList, claims=3 []ResourceClaim map(name)
ResourceClaim: name=1!, request=2
ContainerResizePolicy: resourceName=1! ResourceName, restartPolicy=2! ResourceResizeRestartPolicy
ContainerRestartRule: action=1 ContainerRestartRuleAction required, exitCodes=2 *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator=1 ContainerRestartRuleOnExitCodesOperator required, values=2 []int32 set
VolumeMount: name=1!, readOnly=2 bool, recursiveReadOnly=7 *RecursiveReadOnlyMode, mountPath=3!, subPath=4
    mountPropagation=5 *MountPropagationMode, subPathExpr=6
VolumeDevice: name=1!, devicePath=2!

Probe: +ProbeHandler=1, initialDelaySeconds=2 int32, timeoutSeconds=3 int32, periodSeconds=4 int32
    successThreshold=5 int32, failureThreshold=6 int32, terminationGracePeriodSeconds=7 *int64
ProbeHandler: exec=1 *ExecAction, httpGet=2 *HTTPGetAction, tcpSocket=3 *TCPSocketAction, grpc=4 *GRPCAction
ExecAction: command=1 []string atomic
HTTPGetAction: path=1, port=2! IntOrString, host=3, scheme=4 URIScheme, httpHeaders=5 []HTTPHeader atomic
HTTPHeader: name=1!, value=2!
TCPSocketAction: port=1! IntOrString, host=2
GRPCAction: port=1! int32, service=2! *string optional
Lifecycle: postStart=1 *LifecycleHandler, preStop=2 *LifecycleHandler, stopSignal=3 *Signal
LifecycleHandler: exec=1 *ExecAction, httpGet=2 *HTTPGetAction, tcpSocket=3 *TCPSocketAction, sleep=4 *SleepAction
SleepAction: seconds=1! int64

SecurityContext: capabilities=1 *Capabilities, privileged=2 *bool, seLinuxOptions=3 *SELinuxOptions
    windowsOptions=10 *WindowsSecurityContextOptions, runAsUser=4 *int64, runAsGroup=8 *int64, runAsNonRoot=5 *bool
    readOnlyRootFilesystem=6 *bool, allowPrivilegeEscalation=7 *bool, procMount=9 *ProcMountType
    seccompProfile=11 *SeccompProfile, appArmorProfile=12 *AppArmorProfile
Capabilities: add=1 []Capability atomic, drop=2 []Capability atomic
SELinuxOptions: user=1, role=2, type=3, level=4
WindowsSecurityContextOptions: gmsaCredentialSpecName=1 *string, gmsaCredentialSpec=2 *string, runAsUserName=3 *string
    hostProcess=4 *bool
SeccompProfile: type=1! SeccompProfileType, localhostProfile=2 *string
AppArmorProfile: type=1! AppArmorProfileType, localhostProfile=2 *string

ContainerStatus: name=1!, state=2 ContainerState, lastState=3 ContainerState, ready=4! bool, restartCount=5! int32
    image=6!, imageID=7!, containerID=8, started=9 *bool, allocatedResources=10 ResourceList
    resources=11 *ResourceRequirements, volumeMounts=12 []VolumeMountStatus by(mountPath), user=13 *ContainerUser
    allocatedResourcesStatus=14 []ResourceStatus by(name), stopSignal=15 *Signal
ContainerState: waiting=1 *ContainerStateWaiting, running=2 *ContainerStateRunning
    terminated=3 *ContainerStateTerminated
ContainerStateWaiting: reason=1, message=2
ContainerStateRunning: startedAt=1 Time
ContainerStateTerminated: exitCode=1! int32, signal=2 int32, reason=3, message=4, startedAt=5 Time, finishedAt=6 Time
    containerID=7
VolumeMountStatus: name=1!, mountPath=2!, readOnly=3 bool, recursiveReadOnly=4 *RecursiveReadOnlyMode
    volumeStatus=5 *VolumeStatus
VolumeStatus: image=1 *ImageVolumeStatus
ImageVolumeStatus: imageRef=1 string required
ContainerUser: linux=1 *LinuxContainerUser
LinuxContainerUser: uid=1! int64, gid=2! int64, supplementalGroups=3 []int64 atomic
"""
