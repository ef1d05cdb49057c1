# What kyverno.sh looks at, as kubernetes-checks.sh does. Policies are of the namespace of their check.

# until_refused TEXT has a policy take force for an object of its input.
until_refused() {
  cat >"$work/object.yaml"
  until_ok 40 refused_now "$1"
}
refused_now() { refused "$1" <"$work/object.yaml" || { k delete -f "$work/object.yaml" && return 1; }; }

policy_ready() { is True "$1" '{.status.conditions[?(@.type=="Ready")].status}'; }

check_validate() {
  k apply -f - <<Y
---
apiVersion: kyverno.io/v1
kind: Policy
metadata: {name: labels}
spec:
  rules:
  - name: team
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    validate:
      failureAction: Enforce
      message: who owns it
      pattern: {metadata: {labels: {team: "?*"}}}
Y
  policy_ready "policy labels"
  until_refused 'who owns it' <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}}
Y
  k apply -f - <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: good, labels: {team: a}}}
Y
  if k label configmap good team-; then
    echo "an update is not asked about"
    return 1
  fi
  if k apply --server-side -f - <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: applied}}
Y
  then
    echo "an apply is not asked about"
    return 1
  fi
  k delete policy labels
  until_ok 40 k create configmap bad
}

check_mutate() {
  k apply -f - <<Y
---
apiVersion: kyverno.io/v1
kind: Policy
metadata: {name: adds}
spec:
  rules:
  - name: label
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {+(added): by-policy}}}}
Y
  policy_ready "policy adds"
  until_ok 40 mutated
  k create configmap mine --from-literal a=b
  has by-policy "configmap mine" '{.metadata.labels.added}'
}
mutated() { [ "$(k create configmap probe --dry-run=server -o 'jsonpath={.metadata.labels.added}')" = by-policy ]; }

check_custom() {
  k apply -f - <<Y
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.kyverno.example.com}
spec:
  group: kyverno.example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
Y
  k wait --for condition=Established crd gadgets.kyverno.example.com --timeout 30s
  k apply -f - <<Y
---
apiVersion: kyverno.io/v1
kind: Policy
metadata: {name: gadgets}
spec:
  rules:
  - name: size
    match: {any: [{resources: {kinds: [kyverno.example.com/*/Gadget]}}]}
    validate:
      failureAction: Enforce
      message: "{{ request.object.metadata.name }} is too large"
      deny: {conditions: {any: [{key: "{{ request.object.spec.size }}", operator: GreaterThan, value: 3}]}}
Y
  policy_ready "policy gadgets"
  until_refused 'big is too large' <<Y
---
{apiVersion: kyverno.example.com/v1, kind: Gadget, metadata: {name: big}, spec: {size: 4}}
Y
  refused 'big is too large' <<Y
---
{apiVersion: kyverno.example.com/v2, kind: Gadget, metadata: {name: big}, spec: {size: 4}}
Y
  k create -f - <<Y
---
{apiVersion: kyverno.example.com/v2, kind: Gadget, metadata: {name: small}, spec: {size: 3}}
Y
  k delete policy gadgets
  k delete crd gadgets.kyverno.example.com --timeout 60s
}

check_cel() {
  k apply -f - <<Y
---
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: cel}
spec:
  validationActions: [Deny]
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: cel}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  validations: [{expression: "size(object.?data.orValue({})) < 2", message: too much data}]
Y
  until_refused 'too much data' <<Y
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {a: "1", b: "2"}}
Y
  k create configmap good --from-literal a=b
  k delete validatingpolicies.policies.kyverno.io cel
}

check_lookup() {
  k create configmap allowed --from-literal names=one
  k apply -f - <<Y
---
apiVersion: kyverno.io/v1
kind: Policy
metadata: {name: lookup}
spec:
  rules:
  - name: names
    match: {any: [{resources: {kinds: [Service]}}]}
    context:
    - name: allowed
      configMap: {name: allowed, namespace: lookup}
    validate:
      failureAction: Enforce
      message: only {{ allowed.data.names }}
      deny: {conditions: {any: [{key: "{{ request.object.metadata.name }}", operator: NotEquals, value: "{{ allowed.data.names }}"}]}}
Y
  policy_ready "policy lookup"
  until_refused 'only one' <<Y
---
{apiVersion: v1, kind: Service, metadata: {name: two}, spec: {ports: [{port: 80}]}}
Y
  k create service clusterip one --tcp 80
}

check_scale() {
  k apply -f - <<Y
---
apiVersion: kyverno.io/v1
kind: Policy
metadata: {name: scale}
spec:
  background: false
  rules:
  - name: replicas
    match: {any: [{resources: {kinds: [Deployment/scale]}}]}
    validate:
      failureAction: Enforce
      message: too many
      pattern: {spec: {replicas: "<3"}}
Y
  policy_ready "policy scale"
  k create deployment web --image i:1
  until_ok 40 cannot_scale
  k scale deployment web --replicas 2
}
cannot_scale() {
  ! k scale deployment web --replicas 3 >"$work/reply" 2>&1 || return 1
  grep -q 'too many' "$work/reply"
}
