# What flux.sh looks at, as kubernetes-checks.sh does.

# source_at NAME REVISION makes the manifests of its input what a repository holds.
source_at() {
  local dir=$work/manifests/$1 file=$1-$2.tar.gz
  mkdir -p "$dir"
  cat >"$dir/all.yaml"
  tar -C "$dir" -czf "$work/artifacts/$file" all.yaml
  k apply -f - <<Y
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: $1}
spec: {interval: 1h, url: "https://example.com/$1"}
Y
  k patch gitrepository "$1" --subresource status --type merge -p "{\"status\":{\"artifact\":{\"path\":\"$file\",\"url\":\"http://127.0.0.1:$port/$file\",\"revision\":\"main@sha1:$2\",
    \"digest\":\"sha256:$(sha256sum <"$work/artifacts/$file" | cut -d' ' -f1)\",\"lastUpdateTime\":\"2026-01-01T00:00:00Z\"},
    \"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Succeeded\",\"message\":\"fetched\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}"
}

# follows NAME [FIELDS] has a repository's manifests applied.
follows() {
  k apply -f - <<Y
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: $1}
spec: {interval: 3s, retryInterval: 2s, timeout: 20s, path: ./, prune: true, targetNamespace: $1, sourceRef: {kind: GitRepository, name: $1}${2:+, $2}}
Y
}

applied() { is "main@sha1:$2 True" "kustomization $1" '{.status.lastAppliedRevision} {.status.conditions[?(@.type=="Ready")].status}'; }

check_prune() {
  source_at prune 1 <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: b}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {a: b}}
Y
  follows prune
  applied prune 1
  has "b b" "configmap one two" '{.items[*].data.a}'
  source_at prune 2 <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: two}, data: {a: c}}
Y
  applied prune 2
  until_ok 20 gone configmap one
  is c "configmap two" '{.data.a}'
  k delete kustomization prune --timeout 60s
  gone configmap two
}

check_drift() {
  source_at drift 1 <<Y
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 0, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "i:1"}]}}}}
Y
  follows drift
  applied drift 1
  k set image deployment web c=i:2
  k label deployment web mine=yes --field-manager team
  is "i:1 yes" "deployment web" '{.spec.template.spec.containers[0].image} {.metadata.labels.mine}'
  k delete deployment web
  is i:1 "deployment web" '{.spec.template.spec.containers[0].image}'
  k patch kustomization drift --type merge -p '{"spec":{"suspend":true}}'
  k delete deployment web
}

check_definition() { # and what it defines, in one go
  source_at definition 1 <<Y
---
{apiVersion: flux.example.com/v1, kind: Gear, metadata: {name: one}, spec: {teeth: 3}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.flux.example.com}
spec:
  group: flux.example.com
  scope: Namespaced
  names: {plural: gears, kind: Gear}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {teeth: {type: integer, minimum: 1}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
Y
  follows definition 'wait: true, healthCheckExprs: [{apiVersion: flux.example.com/v1, kind: Gear, current: "status.phase == \"Turning\""}]'
  until_ok 40 k get gear one
  is Unknown "kustomization definition" '{.status.conditions[?(@.type=="Ready")].status}'
  k patch gear one --subresource status --type merge -p '{"status":{"phase":"Turning"}}'
  applied definition 1
  source_at definition 2 <<Y
---
{apiVersion: flux.example.com/v1, kind: Gear, metadata: {name: one}, spec: {teeth: 0}}
Y
  until_ok 40 failing definition 'spec.teeth'
  k delete kustomization definition --timeout 60s
  gone crd gears.flux.example.com
}
failing() {
  k get kustomization "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].message}' >"$work/reply"
  grep -qF -- "$2" "$work/reply"
}

check_account() {
  source_at account 1 <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}, data: {a: b}}
Y
  k create serviceaccount team
  follows account 'serviceAccountName: team'
  until_ok 40 failing account 'system:serviceaccount:account:team'
  gone configmap mine
  k create rolebinding team --clusterrole edit --serviceaccount account:team
  applied account 1
  has b "configmap mine" '{.data.a}'
}

check_order() {
  for name in order after; do
    source_at $name 1 <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: $name}, data: {to: "\${who}"}}
Y
  done
  k apply -f - <<Y
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: after}
spec: {interval: 3s, retryInterval: 2s, path: ./, prune: true, targetNamespace: order, sourceRef: {kind: GitRepository, name: after}, dependsOn: [{name: order}], postBuild: {substitute: {who: me}}}
Y
  until_ok 40 failing after "dependency 'order/order'"
  k create configmap names --from-literal who=you
  follows order 'postBuild: {substituteFrom: [{kind: ConfigMap, name: names}]}'
  applied order 1
  applied after 1
  has "me you" "configmap after order" '{.items[*].data.to}'
}

check_immutable() {
  source_at immutable 1 <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed}, immutable: true, data: {a: b}}
Y
  follows immutable
  applied immutable 1
  source_at immutable 2 <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed}, immutable: true, data: {a: c}}
Y
  until_ok 40 failing immutable 'field is immutable'
  k patch kustomization immutable --type merge -p '{"spec":{"force":true}}'
  applied immutable 2
  has c "configmap fixed" '{.data.a}'
}
