{{- define "kubesched.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "kubesched.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" }}
{{- else if contains (include "kubesched.name" .) .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "kubesched.name" .) | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "kubesched.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "kubesched.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name: without serviceAccount.create name the ServiceAccount that there is" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "kubesched.selector" -}}
app.kubernetes.io/name: {{ include "kubesched.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "kubesched.labels" -}}
{{ include "kubesched.selector" . }}
app.kubernetes.io/component: scheduler
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "kubesched.image" -}}
{{- $repository := required "image.repository: name an image that was built from deploy/Dockerfile, such as --set image.repository=registry.example.com/kubesched" .Values.image.repository }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- /* The configuration file: values.config over the defaults of the release. */}}
{{- define "kubesched.config" -}}
{{- $lease := dict "leaderElect" true "resourceName" (include "kubesched.fullname" .) "resourceNamespace" .Release.Namespace }}
{{- $made := dict "apiVersion" "kubescheduler.config.k8s.io/v1" "kind" "KubeSchedulerConfiguration" "leaderElection" $lease "profiles" (list (dict "schedulerName" .Values.schedulerName)) }}
{{- mergeOverwrite $made (deepCopy .Values.config) | toYaml }}
{{- end }}

{{- define "kubesched.lease" -}}
{{- (include "kubesched.config" . | fromYaml).leaderElection.resourceName }}
{{- end }}

{{- define "kubesched.leaseNamespace" -}}
{{- (include "kubesched.config" . | fromYaml).leaderElection.resourceNamespace }}
{{- end }}

{{- /* Refuse values with which two schedulers bind the same pods. */}}
{{- define "kubesched.checks" -}}
{{- $config := include "kubesched.config" . | fromYaml }}
{{- if and (gt (int .Values.replicas) 1) (not $config.leaderElection.leaderElect) }}
{{- fail "replicas: more than one replica needs config.leaderElection.leaderElect, or they bind the same pods" }}
{{- end }}
{{- $second := not .Values.allowDefaultScheduler }}
{{- range $config.profiles | default (list dict) }}
{{- if and (eq (default "default-scheduler" .schedulerName) "default-scheduler") $second }}
{{- fail "schedulerName: default-scheduler is the name of the cluster's own scheduler; two schedulers with one name bind the same pods. Choose another name, or set allowDefaultScheduler=true if the cluster has no other" }}
{{- end }}
{{- end }}
{{- $election := $config.leaderElection }}
{{- if and (eq $election.resourceName "kube-scheduler") (eq $election.resourceNamespace "kube-system") $second }}
{{- fail "config.leaderElection.resourceName: the Lease kube-scheduler is held by the cluster's own scheduler; a second scheduler would wait for it and schedule nothing. Choose another name, or set allowDefaultScheduler=true if this one takes over" }}
{{- end }}
{{- range .Values.extraArgs }}
{{- if regexMatch "^--?(config|leader-elect|secure-port)" . }}
{{- fail (printf "extraArgs: %s: rights, probes and the checks of this chart depend on it. Use the value config. The port is 10259" .) }}
{{- end }}
{{- if regexMatch "^--?bind-address[= ]*(127[.]|::1$|localhost)" . }}
{{- fail (printf "extraArgs: %s: kubelets and Prometheus ask for its pages from outside of the pod, so the probes would fail" .) }}
{{- end }}
{{- end }}
{{- end }}
