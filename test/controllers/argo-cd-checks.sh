# What argo-cd.sh looks at, as kubernetes-checks.sh does.

# commit NAME makes the manifests of its input what a repository holds.
commit() {
  local dir=$work/repositories/$1
  [ -d "$dir" ] || git init -q -b main "$dir"
  cat >"$dir/all.yaml"
  git -C "$dir" add all.yaml
  git -C "$dir" -c user.name=check -c user.email=check@example.com commit -qm "$1"
  ! k get application -n argocd "$1" || k annotate application -n argocd "$1" --overwrite argocd.argoproj.io/refresh=hard
}

application() { # NAME [SYNC POLICY]
  k apply -n argocd -f - <<Y
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: $1, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  source: {repoURL: "file://$work/repositories/$1", path: ., targetRevision: main}
  destination: {server: https://kubernetes.default.svc, namespace: $1}
  syncPolicy: {automated: {prune: true, selfHeal: true}${2:+, $2}}
Y
}

state() { is "$2" "application -n argocd $1" '{.status.sync.status} {.status.health.status}'; }

check_sync() {
  commit sync <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {a: b}}
Y
  application sync
  state sync 'Synced Healthy'
  has "b b" "configmap one two" '{.items[*].data.a}'
  commit sync <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {a: c}}
Y
  is c "configmap two" '{.data.a}'
  until_ok 40 gone configmap one
  k patch configmap two --type merge -p '{"data":{"a":"drifted"}}'
  is c "configmap two" '{.data.a}'
  k delete application -n argocd sync --timeout 60s
  gone configmap two
}

check_definition() { # and what it defines, applied by the server
  commit definition <<Y
---
{apiVersion: argo.example.com/v1, kind: Sail, metadata: {name: main}, spec: {area: 3}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sails.argo.example.com}
spec:
  group: argo.example.com
  scope: Namespaced
  names: {plural: sails, kind: Sail}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {area: {type: integer}, unit: {type: string, default: m2}}}}}}}
Y
  application definition 'syncOptions: [ServerSideApply=true]'
  state definition 'Synced Healthy'
  has "3 m2" "sail main" '{.spec.area} {.spec.unit}'
  is argocd-controller "sail main" '{.metadata.managedFields[?(@.operation=="Apply")].manager}'
  k delete sail main
  until_ok 40 k get sail main
  k delete application -n argocd definition --timeout 90s
  gone sails main
  k delete crd sails.argo.example.com --timeout 60s # applications leave definitions
}

check_health() {
  commit health <<Y
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "i:1"}]}}}}
Y
  application health
  state health 'Synced Progressing'
  k patch deployment web --subresource status --type merge -p '{"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,"conditions":[{"type":"Available","status":"True","reason":"Now","message":"now"}]}}'
  state health 'Synced Healthy'
  k delete application -n argocd health --timeout 60s
  gone deployment web
}

check_waves() { # what comes first is there when what comes next is made
  commit waves <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: before, annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/hook-delete-policy: BeforeHookCreation}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: second, annotations: {argocd.argoproj.io/sync-wave: "2"}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: first, annotations: {argocd.argoproj.io/sync-wave: "1"}}}
Y
  application waves
  state waves 'Synced Healthy'
  [ "$(k get configmap before first second -o json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)["items"], key=lambda o: int(o["metadata"]["resourceVersion"]))[-1]["metadata"]["name"])')" = second ]
  k get configmap before
  k delete application -n argocd waves --timeout 60s
}

check_refusal() {
  commit refusal <<Y
---
{apiVersion: v1, kind: Service, metadata: {name: bad}, spec: {ports: [{port: 0}]}}
Y
  application refusal 'retry: {limit: 0}'
  until_ok 40 says refusal 'spec.ports[0].port'
  k delete application -n argocd refusal --timeout 60s
}
says() {
  k get application -n argocd "$1" -o 'jsonpath={.status.operationState}' >"$work/reply"
  grep -qF -- "$2" "$work/reply"
}
