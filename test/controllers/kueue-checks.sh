# What kueue.sh looks at, as kubernetes-checks.sh does.

quota() { # NAME CPU: a ClusterQueue, at the older version
  cat <<Y
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: $1}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: $1}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: $1, resources: [{name: cpu, nominalQuota: "$2"}]}]}]
Y
}

queue() { # NAME CPU: a queue of a namespace
  quota "$1" "$2" | k apply -f -
  k apply -f - <<Y
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: $1}
spec: {clusterQueue: $1}
Y
  is True "clusterqueue $1" '{.status.conditions[?(@.type=="Active")].status}'
}

job() { # NAME QUEUE: one that wants a processor
  k create -f - <<Y
apiVersion: batch/v1
kind: Job
metadata: {name: $1, labels: {kueue.x-k8s.io/queue-name: $2}}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: "i:1", resources: {requests: {cpu: "1"}}}]}}
Y
}

check_conversion() {
  quota converted 7 | k apply -f -
  is 7 clusterqueues.v1beta2.kueue.x-k8s.io/converted '{.spec.resourceGroups[0].flavors[0].resources[0].nominalQuota}'
  k patch clusterqueues.v1beta2.kueue.x-k8s.io converted --type merge -p '{"spec":{"cohortName":"all"}}'
  is all clusterqueues.v1beta1.kueue.x-k8s.io/converted '{.spec.cohort}'
  k apply --server-side --force-conflicts --field-manager other -f - <<Y
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: converted}, spec: {stopPolicy: Hold}}
Y
  is "Hold all" clusterqueues.v1beta2.kueue.x-k8s.io/converted '{.spec.stopPolicy} {.spec.cohortName}'
  k delete clusterqueue converted
  k delete resourceflavor converted --timeout 30s
}

check_admission() {
  queue admission 2
  refused 'spec.resourceGroups[0].flavors[0].resources[0].nominalQuota' <<Y
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: bad}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: [{name: cpu, nominalQuota: "-1"}]}]}]}}
Y
  job one admission
  is false "job one" '{.spec.suspend}'
  if k patch job one --type merge -p '{"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"another"}}}'; then
    echo "a queue changes while the job runs"
    return 1
  fi
}

check_queueing() {
  queue queueing 2
  job one queueing
  job two queueing
  is "false false" "job one two" '{.items[*].spec.suspend}'
  job three queueing
  is "2 1 2" "clusterqueue queueing" '{.status.admittedWorkloads} {.status.pendingWorkloads} {.status.flavorsUsage[0].resources[0].total}'
  has true "job three" '{.spec.suspend}'
  k delete job one
  is false "job three" '{.spec.suspend}'
  is "True True" workloads '{.items[*].status.conditions[?(@.type=="Admitted")].status}'
}

check_eviction() {
  queue eviction 1
  job one eviction
  is false "job one" '{.spec.suspend}'
  k patch clusterqueue eviction --type merge -p '{"spec":{"stopPolicy":"HoldAndDrain"}}'
  is true "job one" '{.spec.suspend}'
  k patch clusterqueue eviction --type merge -p '{"spec":{"stopPolicy":"None"}}'
  is false "job one" '{.spec.suspend}'
}

check_deletion() {
  queue deletion 1
  job one deletion
  is false "job one" '{.spec.suspend}'
  k delete clusterqueue deletion --wait=false
  is deletion "clusterqueue deletion" '{.metadata.name}' # its workload holds it
  k delete job one --cascade=foreground --timeout 60s
  until_ok 40 none workloads
  until_ok 40 gone clusterqueue deletion
}
