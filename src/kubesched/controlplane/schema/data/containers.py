"""Containers: what they run, need, mount and probe, and how they are doing."""

# upstream: api/core/v1/types.go (v1.36)

TYPES = """
string: PullPolicy, Protocol, ResourceResizeRestartPolicy, ContainerRestartPolicy, ContainerRestartRuleAction
string: ContainerRestartRuleOnExitCodesOperator, RecursiveReadOnlyMode, MountPropagationMode, URIScheme, Signal
string: TerminationMessagePolicy, Capability, ProcMountType, SeccompProfileType, AppArmorProfileType

Container: name!, image, command []string atomic, args []string atomic, workingDir
    ports []ContainerPort map(containerPort protocol) merge(containerPort), envFrom []EnvFromSource atomic
    env []EnvVar by(name), resources ResourceRequirements, resizePolicy []ContainerResizePolicy atomic
    restartPolicy *ContainerRestartPolicy, restartPolicyRules []ContainerRestartRule atomic
    volumeMounts []VolumeMount by(mountPath), volumeDevices []VolumeDevice by(devicePath)
    livenessProbe *Probe, readinessProbe *Probe, startupProbe *Probe, lifecycle *Lifecycle
    terminationMessagePath, terminationMessagePolicy TerminationMessagePolicy, imagePullPolicy PullPolicy
    securityContext *SecurityContext, stdin bool, stdinOnce bool, tty bool

EphemeralContainer: +EphemeralContainerCommon, targetContainerName
EphemeralContainerCommon: name!, image, command []string atomic, args []string atomic, workingDir
    ports []ContainerPort map(containerPort protocol) merge(containerPort), envFrom []EnvFromSource atomic
    env []EnvVar by(name), resources ResourceRequirements, resizePolicy []ContainerResizePolicy atomic
    restartPolicy *ContainerRestartPolicy, restartPolicyRules []ContainerRestartRule atomic
    volumeMounts []VolumeMount by(mountPath), volumeDevices []VolumeDevice by(devicePath)
    livenessProbe *Probe, readinessProbe *Probe, startupProbe *Probe, lifecycle *Lifecycle
    terminationMessagePath, terminationMessagePolicy TerminationMessagePolicy, imagePullPolicy PullPolicy
    securityContext *SecurityContext, stdin bool, stdinOnce bool, tty bool

ContainerPort: name, hostPort int32, containerPort! int32, protocol Protocol, hostIP
EnvFromSource: prefix, configMapRef *ConfigMapEnvSource, secretRef *SecretEnvSource
ConfigMapEnvSource: +LocalObjectReference, optional *bool
SecretEnvSource: +LocalObjectReference, optional *bool
EnvVar: name!, value, valueFrom *EnvVarSource
EnvVarSource: fieldRef *ObjectFieldSelector, resourceFieldRef *ResourceFieldSelector
    configMapKeyRef *ConfigMapKeySelector, secretKeyRef *SecretKeySelector, fileKeyRef *FileKeySelector
ObjectFieldSelector atomic: apiVersion, fieldPath!
ResourceFieldSelector atomic: containerName, resource!, divisor Quantity
ConfigMapKeySelector atomic: +LocalObjectReference, key!, optional *bool
SecretKeySelector atomic: +LocalObjectReference, key!, optional *bool
FileKeySelector atomic: volumeName!, path!, key!, optional *bool

ResourceRequirements: limits ResourceList, requests ResourceList, claims []ResourceClaim map(name)
ResourceClaim: name!, request
ContainerResizePolicy: resourceName! ResourceName, restartPolicy! ResourceResizeRestartPolicy
ContainerRestartRule: action ContainerRestartRuleAction required, exitCodes *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator ContainerRestartRuleOnExitCodesOperator required, values []int32 set
VolumeMount: name!, readOnly bool, recursiveReadOnly *RecursiveReadOnlyMode, mountPath!, subPath
    mountPropagation *MountPropagationMode, subPathExpr
VolumeDevice: name!, devicePath!

Probe: +ProbeHandler, initialDelaySeconds int32, timeoutSeconds int32, periodSeconds int32, successThreshold int32
    failureThreshold int32, terminationGracePeriodSeconds *int64
ProbeHandler: exec *ExecAction, httpGet *HTTPGetAction, tcpSocket *TCPSocketAction, grpc *GRPCAction
ExecAction: command []string atomic
HTTPGetAction: path, port! IntOrString, host, scheme URIScheme, httpHeaders []HTTPHeader atomic
HTTPHeader: name!, value!
TCPSocketAction: port! IntOrString, host
GRPCAction: port! int32, service! *string optional
Lifecycle: postStart *LifecycleHandler, preStop *LifecycleHandler, stopSignal *Signal
LifecycleHandler: exec *ExecAction, httpGet *HTTPGetAction, tcpSocket *TCPSocketAction, sleep *SleepAction
SleepAction: seconds! int64

SecurityContext: capabilities *Capabilities, privileged *bool, seLinuxOptions *SELinuxOptions
    windowsOptions *WindowsSecurityContextOptions, runAsUser *int64, runAsGroup *int64, runAsNonRoot *bool
    readOnlyRootFilesystem *bool, allowPrivilegeEscalation *bool, procMount *ProcMountType
    seccompProfile *SeccompProfile, appArmorProfile *AppArmorProfile
Capabilities: add []Capability atomic, drop []Capability atomic
SELinuxOptions: user, role, type, level
WindowsSecurityContextOptions: gmsaCredentialSpecName *string, gmsaCredentialSpec *string, runAsUserName *string
    hostProcess *bool
SeccompProfile: type! SeccompProfileType, localhostProfile *string
AppArmorProfile: type! AppArmorProfileType, localhostProfile *string

ContainerStatus: name!, state ContainerState, lastState ContainerState, ready! bool, restartCount! int32, image!
    imageID!, containerID, started *bool, allocatedResources ResourceList, resources *ResourceRequirements
    volumeMounts []VolumeMountStatus by(mountPath), user *ContainerUser
    allocatedResourcesStatus []ResourceStatus by(name), stopSignal *Signal
ContainerState: waiting *ContainerStateWaiting, running *ContainerStateRunning, terminated *ContainerStateTerminated
ContainerStateWaiting: reason, message
ContainerStateRunning: startedAt Time
ContainerStateTerminated: exitCode! int32, signal int32, reason, message, startedAt Time, finishedAt Time, containerID
VolumeMountStatus: name!, mountPath!, readOnly bool, recursiveReadOnly *RecursiveReadOnlyMode
    volumeStatus *VolumeStatus
VolumeStatus: image *ImageVolumeStatus
ImageVolumeStatus: imageRef string required
ContainerUser: linux *LinuxContainerUser
LinuxContainerUser: uid! int64, gid! int64, supplementalGroups []int64 atomic
"""
