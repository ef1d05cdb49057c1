# What cluster-api.sh looks at, as kubernetes-checks.sh does.

# infrastructure are kinds that have the fields of the contract and no controller.
infrastructure() {
  local kind
  for kind in GenericCluster GenericClusterTemplate GenericMachine GenericMachineTemplate; do
    cat <<Y
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${kind,,}s.infrastructure.cluster.x-k8s.io, labels: {cluster.x-k8s.io/v1beta2: v1beta1}}
spec:
  group: infrastructure.cluster.x-k8s.io
  scope: Namespaced
  names: {kind: $kind, plural: ${kind,,}s}
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
Y
  done
}

cluster() { # NAME: one whose infrastructure is ready, and which is the server itself
  k create secret generic "$1-kubeconfig" --type cluster.x-k8s.io/secret --from-file "value=$work/kubeconfig"
  k label secret "$1-kubeconfig" "cluster.x-k8s.io/cluster-name=$1"
  k apply -f - <<Y
---
{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: GenericCluster, metadata: {name: $1}, spec: {}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: $1}
spec:
  clusterNetwork: {pods: {cidrBlocks: [10.1.0.0/16]}}
  controlPlaneEndpoint: {host: 127.0.0.1, port: 1}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: GenericCluster, name: $1}
Y
  k patch genericcluster "$1" --subresource status --type merge -p '{"status":{"initialization":{"provisioned":true}}}'
  is Provisioned "cluster $1" '{.status.phase}'
  k apply -f - <<Y
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: GenericMachine
metadata: {name: $1-control-plane}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: $1-control-plane, labels: {cluster.x-k8s.io/control-plane: "", cluster.x-k8s.io/cluster-name: $1}}
spec:
  clusterName: $1
  bootstrap: {dataSecretName: none}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: GenericMachine, name: $1-control-plane}
Y
  provide True "cluster $1" '{.status.conditions[?(@.type=="ControlPlaneInitialized")].status}'
}

machines() { # CLUSTER NAME REPLICAS: a MachineDeployment of machines that are given nodes
  k apply -f - <<Y
---
{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: GenericMachineTemplate, metadata: {name: $2}, spec: {template: {spec: {}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: $2}
spec:
  clusterName: $1
  replicas: $3
  selector: {matchLabels: {pool: $2}}
  template:
    metadata: {labels: {pool: $2}}
    spec:
      clusterName: $1
      version: v1.35.0
      bootstrap: {dataSecretName: none}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: GenericMachineTemplate, name: $2}
Y
}

provide() { # EXPECTED RESOURCE JSONPATH: nodes for all machines that have none, until a field has a value
  local name type conditions= now limit=$((SECONDS + 90))
  now=$(date -u +%FT%TZ)
  for type in Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False; do
    conditions+=",{\"type\":\"${type%=*}\",\"status\":\"${type#*=}\",\"reason\":\"Said\",\"message\":\"so\",\"lastHeartbeatTime\":\"$now\",\"lastTransitionTime\":\"$now\"}"
  done
  until has "$@"; do
    for name in $(k get genericmachines -o 'jsonpath={range .items[?(@.metadata.ownerReferences)]}{.metadata.name}{"/"}{.spec.providerID}{"\n"}{end}' | sed -n 's#/$##p'); do
      k apply -f - <<Y
apiVersion: v1
kind: Node
metadata: {name: $name}
spec: {providerID: "generic://$name"}
Y
      k patch node "$name" --subresource status --type merge -p "{\"status\":{\"conditions\":[${conditions#,}]}}"
      k patch genericmachine "$name" --subresource status --type merge -p '{"status":{"initialization":{"provisioned":true}}}'
      k patch genericmachine "$name" --type merge -p "{\"spec\":{\"providerID\":\"generic://$name\"}}"
    done
    if [ $SECONDS -ge $limit ]; then
      echo "want $1 of $2 $3"
      k get machines,machinesets,machinedeployments -o yaml
      return 1
    fi
    sleep .2
  done
}

check_conversion() {
  k apply -f - <<Y
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: old}
spec:
  paused: true
  controlPlaneEndpoint: {host: h.example, port: 6443}
  infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: GenericCluster, name: old}
Y
  is '{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"GenericCluster","name":"old"}' clusters.v1beta2.cluster.x-k8s.io/old '{.spec.infrastructureRef}'
  is infrastructure.cluster.x-k8s.io/v1beta1 clusters.v1beta1.cluster.x-k8s.io/old '{.spec.infrastructureRef.apiVersion}'
  k get clusters.v1beta1.cluster.x-k8s.io old -o yaml | k replace -f -
  k patch clusters.v1beta1.cluster.x-k8s.io old --type merge -p '{"spec":{"controlPlaneEndpoint":{"port":7443}}}'
  is 7443 clusters.v1beta2.cluster.x-k8s.io/old '{.spec.controlPlaneEndpoint.port}'
  is old "clusters.v1beta1.cluster.x-k8s.io" '{.items[*].metadata.name}'
}

check_admission() {
  refused 'The MachineDeployment "no" is invalid: spec.template.metadata.labels: Forbidden: must match spec.selector' <<Y
---
{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineDeployment, metadata: {name: "no"}, spec: {clusterName: c, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}, spec: {clusterName: c, bootstrap: {dataSecretName: none}, infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: GenericMachineTemplate, name: t}}}}}
Y
  k create -f - <<Y
---
{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineDeployment, metadata: {name: d}, spec: {clusterName: c, template: {spec: {clusterName: c, version: "1.35.0", bootstrap: {dataSecretName: none}, infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: GenericMachineTemplate, name: t}}}}}
Y
  is "v1.35.0 RollingUpdate 1" machinedeployment/d '{.spec.template.spec.version} {.spec.rollout.strategy.type} {.spec.replicas}'
}

check_machines() {
  cluster c
  machines c pool 2
  provide "2 2 Running" "machinedeployment pool" '{.status.readyReplicas} {.status.availableReplicas} {.status.phase}'
  is "Running Running" "machines -l pool=pool" '{.items[*].status.phase}'
  k scale machinedeployment pool --replicas 1
  is "1 1" "machinedeployment pool" '{.status.replicas} {.status.availableReplicas}'
  is "GenericMachine GenericMachine" genericmachines '{.items[*].kind}' # and the control plane's
}

check_rollout() {
  cluster c
  machines c pool 1
  provide 1 "machinedeployment pool" '{.status.availableReplicas}'
  k patch machinedeployment pool --type merge -p '{"spec":{"template":{"spec":{"version":"v1.36.0"}}}}'
  provide v1.36.0 "machines -l pool=pool" '{.items[*].spec.version}'
  is "1 1 1" "machinedeployment pool" '{.status.replicas} {.status.upToDateReplicas} {.status.availableReplicas}'
  is 1 machinesets '{.items[*].spec.replicas}' # the old one goes
}

check_deletion() {
  cluster c
  machines c pool 2
  provide 2 "machinedeployment pool" '{.status.availableReplicas}'
  k delete cluster c --timeout 90s
  for kind in machines machinesets machinedeployments genericmachines genericclusters; do
    none $kind
  done
  none nodes -l cluster.x-k8s.io/cluster-name=c
}

check_resources() {
  cluster c
  k label cluster c set=yes
  k create configmap what --from-literal "made.yaml={apiVersion: v1, kind: ConfigMap, metadata: {name: made, namespace: resources}, data: {a: b}}"
  k apply -f - <<Y
---
{apiVersion: addons.cluster.x-k8s.io/v1beta2, kind: ClusterResourceSet, metadata: {name: set}, spec: {clusterSelector: {matchLabels: {set: "yes"}}, resources: [{kind: ConfigMap, name: what}]}}
Y
  is b "configmap made" '{.data.a}'
  is true clusterresourcesetbinding/c '{.spec.bindings[0].resources[0].applied}'
}
