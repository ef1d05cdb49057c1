# What external-secrets.sh looks at, as kubernetes-checks.sh does.

store() { # NAME VALUE: a store that knows one secret, at the older version
  cat <<Y
---
apiVersion: external-secrets.io/v1beta1
kind: SecretStore
metadata: {name: $1}
spec: {provider: {fake: {data: [{key: /password, value: "$2", version: v1}]}}}
Y
}

wanted() { # NAME STORE [TEMPLATE]: a secret that comes from a store
  cat <<Y
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: $1}
spec:
  refreshInterval: 2s
  secretStoreRef: {name: $2, kind: SecretStore}
  target: {name: $1, creationPolicy: Owner${3:+, template: $3}}
  data: [{secretKey: password, remoteRef: {key: /password, version: v1}}]
Y
}

external_ready() {
  store probe x | k create -n default --dry-run=server -f - && wanted probe x | k create -n default --dry-run=server -f -
}

check_sync() {
  store sync one | k apply -f -
  is "True Valid" "secretstore sync" '{.status.conditions[0].status} {.status.conditions[0].reason}'
  wanted sync sync | k apply -f -
  is b25l "secret sync" '{.data.password}'
  is SecretSynced "externalsecret sync" '{.status.conditions[0].reason}'
  store sync two | k apply -f -
  is dHdv "secret sync" '{.data.password}' # at the next refresh
  k patch secret sync --type merge -p '{"data":{"password":"bWlzdGFrZQ=="}}'
  is dHdv "secret sync" '{.data.password}'
  k delete externalsecret sync
  until_ok 40 gone secret sync # its owner is gone
}

check_template() {
  store template one | k apply -f -
  wanted template template '{type: kubernetes.io/basic-auth, metadata: {labels: {of: template}}, data: {username: me, password: "{{ .password | upper }}"}}' | k apply -f -
  is "T05F kubernetes.io/basic-auth template" "secret template" '{.data.password} {.type} {.metadata.labels.of}'
}

check_admission() {
  refused 'either data or dataFrom should be specified' <<Y
---
{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: bad}, spec: {secretStoreRef: {name: x}}}
Y
  refused 'spec.provider: Too many: 2' <<Y
---
{apiVersion: external-secrets.io/v1, kind: SecretStore, metadata: {name: bad}, spec: {provider: {fake: {data: []}, kubernetes: {server: {url: "https://x"}}}}}
Y
  refused 'denied the request: namespace' <<Y
---
{apiVersion: external-secrets.io/v1, kind: SecretStore, metadata: {name: bad}, spec: {provider: {kubernetes: {server: {caBundle: eA==}, auth: {serviceAccount: {name: x, namespace: other}}}}}}
Y
}

check_versions() {
  store versions one | k apply -f -
  wanted versions versions | k apply -f -
  is "versions versions" externalsecrets.v1beta1.external-secrets.io/versions '{.spec.secretStoreRef.name} {.spec.target.name}'
  is external-secrets.io/v1beta1 secretstores.v1beta1.external-secrets.io/versions '{.apiVersion}'
}

check_missing() {
  store missing one | k apply -f -
  wanted missing nowhere | k apply -f -
  is False "externalsecret missing" '{.status.conditions[0].status}'
  until_ok 40 sh -c "${KUBECTL:-kubectl} events --for externalsecret/missing | grep -q UpdateFailed"
  k patch externalsecret missing --type merge -p '{"spec":{"secretStoreRef":{"name":"missing"}}}'
  is True "externalsecret missing" '{.status.conditions[0].status}'
}

check_push() {
  k create serviceaccount reader
  k apply -f - <<Y
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: secrets}
rules:
- {apiGroups: [""], resources: [secrets], verbs: ["*"]}
- {apiGroups: [authorization.k8s.io], resources: [selfsubjectrulesreviews], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: secrets}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: secrets}
subjects: [{kind: ServiceAccount, name: reader}]
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: here}
spec:
  provider:
    kubernetes:
      remoteNamespace: push
      server: {url: "$TARGET_URL", caProvider: {type: ConfigMap, name: kube-root-ca.crt, key: ca.crt}}
      auth: {serviceAccount: {name: reader}}
---
apiVersion: v1
kind: Secret
metadata: {name: mine}
stringData: {a: b}
---
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: push}
spec:
  refreshInterval: 2s
  deletionPolicy: Delete
  secretStoreRefs: [{name: here, kind: SecretStore}]
  selector: {secret: {name: mine}}
  data: [{match: {secretKey: a, remoteRef: {remoteKey: theirs, property: c}}}]
Y
  is Valid "secretstore here" '{.status.conditions[0].reason}'
  is Yg== "secret theirs" '{.data.c}'
  k delete pushsecret push
  until_ok 40 gone secret theirs
}

check_everywhere() {
  k apply -f - <<Y
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: everywhere}
spec: {provider: {fake: {data: [{key: /password, value: one}]}}}
---
apiVersion: external-secrets.io/v1
kind: ClusterExternalSecret
metadata: {name: everywhere}
spec:
  externalSecretName: everywhere
  refreshTime: 5s
  namespaceSelectors: [{matchLabels: {secrets: wanted}}]
  externalSecretSpec:
    refreshInterval: 2s
    secretStoreRef: {name: everywhere, kind: ClusterSecretStore}
    data: [{secretKey: password, remoteRef: {key: /password}}]
Y
  k create namespace everywhere-a
  k label namespace everywhere everywhere-a secrets=wanted
  is b25l "secret everywhere" '{.data.password}'
  is b25l "secret -n everywhere-a everywhere" '{.data.password}'
  k label namespace everywhere-a secrets-
  until_ok 40 gone externalsecret -n everywhere-a everywhere
  k delete clusterexternalsecret everywhere
  until_ok 40 none externalsecrets
  k delete clustersecretstore everywhere
  k delete namespace everywhere-a --wait=false
}

check_generator() {
  k apply -f - <<Y
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: generator}
spec: {length: 12, digits: 3, symbols: 0, noUpper: true, allowRepeat: true}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: generator}
spec:
  refreshInterval: "0"
  target: {name: generator}
  dataFrom: [{sourceRef: {generatorRef: {apiVersion: generators.external-secrets.io/v1alpha1, kind: Password, name: generator}}}]
Y
  is True "externalsecret generator" '{.status.conditions[0].status}'
  [ "$(k get secret generator -o 'jsonpath={.data.password}' | base64 -d | wc -c)" = 12 ]
}
