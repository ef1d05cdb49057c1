# What kubernetes.sh looks at: each function has a namespace of its own, which is
# the default one of kubectl (k) while it runs. One that ends badly has failed.

deployment() { # NAME REPLICAS
  k apply -f - <<Y
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: $1}, spec: {replicas: $2, selector: {matchLabels: {app: $1}},
 template: {metadata: {labels: {app: $1}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: "i:1", ports: [{containerPort: 80}], resources: {requests: {cpu: 10m}}}]}}}}
Y
}

check_nodes() {
  is "True True" nodes '{.items[*].status.conditions[?(@.type=="Ready")].status}'
  until_ok 30 sh -c '[ "$('"${KUBECTL:-kubectl}"' get nodes -o "jsonpath={.items[*].spec.podCIDR}" | wc -w)" = 2 ]'
  until_ok 30 k get lease -n kube-node-lease node-1
}

check_namespace() {
  until_ok 30 k get configmap kube-root-ca.crt
  k create namespace inner-one
  k create configmap -n inner-one c --from-literal a=b
  k delete namespace inner-one --timeout 60s
}

check_deployment() {
  deployment web 3
  k rollout status deployment web --timeout 60s
  k set image deployment web c=i:2
  k rollout status deployment web --timeout 60s
  is "i:2 i:2 i:2" "pods -l app=web" '{.items[*].spec.containers[0].image}'
  k rollout undo deployment web
  k rollout status deployment web --timeout 60s
  is "i:1 i:1 i:1" "pods -l app=web" '{.items[*].spec.containers[0].image}'
  k scale deployment web --replicas 1
  is 1 "deployment web" '{.status.replicas}'
  k rollout restart deployment web
  k rollout status deployment web --timeout 60s
}

check_collection() {
  deployment a 2
  k rollout status deployment a --timeout 60s
  k delete deployment a --cascade=foreground --timeout 60s
  none pods
  deployment b 2
  k rollout status deployment b --timeout 60s
  k delete deployment b --cascade=orphan
  is 2 "rs -l app=b" '{.items[0].status.replicas}'
  k delete rs -l app=b
  until_ok 60 none pods
}

check_service() {
  deployment web 2
  k expose deployment web --port 80
  k rollout status deployment web --timeout 60s
  until_ok 40 sh -c '[ "$('"${KUBECTL:-kubectl}"' get endpointslices -l kubernetes.io/service-name=web -o "jsonpath={.items[*].endpoints[*].conditions.ready}")" = "true true" ]'
  k scale deployment web --replicas 0
  is "" "endpointslices -l kubernetes.io/service-name=web" '{.items[*].endpoints[*].addresses}'
}

check_statefulset() {
  k apply -f - <<Y
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, serviceName: db, selector: {matchLabels: {app: db}},
 template: {metadata: {labels: {app: db}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: "i:1"}]}}}}
Y
  k rollout status statefulset db --timeout 60s
  is "db-0 db-1" "pods -l app=db" '{.items[*].metadata.name}'
  k scale statefulset db --replicas 1
  until_ok 40 gone pod db-1
  k set image statefulset db c=i:2
  k rollout status statefulset db --timeout 60s
  is i:2 "pod db-0" '{.spec.containers[0].image}'
}

check_daemonset() {
  k apply -f - <<Y
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: agent}},
 template: {metadata: {labels: {app: agent}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: "i:1"}]}}}}
Y
  k rollout status daemonset agent --timeout 60s
  is 2 "daemonset agent" '{.status.numberReady}'
  k set image daemonset agent c=i:2
  k rollout status daemonset agent --timeout 60s
  is 2 "controllerrevisions -l app=agent" '{.items[-1:].revision}'
}

check_job() {
  k create job once --image i:1
  k wait --for=condition=complete job once --timeout 60s
  k create cronjob often --image i:1 --schedule '0 0 1 1 *'
  k create job now --from cronjob/often
  k wait --for=condition=complete job now --timeout 60s
  k delete cronjob often
  until_ok 60 gone job now
}

check_eviction() {
  deployment web 2
  k rollout status deployment web --timeout 60s
  k create poddisruptionbudget web --selector app=web --min-available 2
  is 0 "pdb web" '{.status.disruptionsAllowed}'
  is 2 "pdb web" '{.status.currentHealthy}'
  local pod
  pod=$(k get pods -l app=web -o 'jsonpath={.items[0].metadata.name}')
  evict() { k create --raw "/api/v1/namespaces/eviction/pods/$1/eviction" -f - <<<'{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"'"$1"'"}}'; }
  ! evict "$pod"
  k scale deployment web --replicas 3
  is 1 "pdb web" '{.status.disruptionsAllowed}'
  evict "$pod"
}

check_quota() {
  k create quota few --hard pods=1
  is 1 "quota few" '{.status.hard.pods}'
  deployment web 2
  is 1 "quota few" '{.status.used.pods}'
  is True "deployment web" '{.status.conditions[?(@.type=="ReplicaFailure")].status}'
  k scale deployment web --replicas 0
  is 0 "quota few" '{.status.used.pods}'
}

check_scheduling() {
  k run big --image i:1 --overrides '{"spec":{"containers":[{"name":"c","image":"i:1","resources":{"requests":{"cpu":"100"}}}]}}'
  is Unschedulable "pod big" '{.status.conditions[?(@.type=="PodScheduled")].reason}'
  k run here --image i:1 --overrides '{"spec":{"nodeSelector":{"kubernetes.io/hostname":"node-2"}}}'
  is node-2 "pod here" '{.spec.nodeName}'
}

check_volumes() {
  k apply -f - <<Y
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-$RANDOM, labels: {for: volumes}}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, storageClassName: own, persistentVolumeReclaimPolicy: Retain}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: own, resources: {requests: {storage: 1Gi}}}}
Y
  is Bound "pvc data" '{.status.phase}'
  k delete pvc data --timeout 60s
  is Released "pv -l for=volumes" '{.items[0].status.phase}'
  k delete pv -l for=volumes --timeout 60s
}

check_accounts() {
  k create sa robot
  k create role reader --verb get --resource pods
  k create rolebinding reader --role reader --serviceaccount accounts:robot
  [ "$(k auth can-i get pods --as system:serviceaccount:accounts:robot)" = yes ]
  k create token robot
  k apply -f - <<Y
---
{apiVersion: v1, kind: Secret, metadata: {name: robot, annotations: {kubernetes.io/service-account.name: robot}}, type: kubernetes.io/service-account-token}
Y
  until_ok 30 sh -c "${KUBECTL:-kubectl} get secret robot -o 'jsonpath={.data.token}' | grep -q ."
  [ "$("${KUBECTL:-kubectl}" --kubeconfig /dev/null --server "$(k config view -o 'jsonpath={.clusters[0].cluster.server}')" --insecure-skip-tls-verify \
    --token "$(k get secret robot -o 'jsonpath={.data.token}' | base64 -d)" auth whoami -o 'jsonpath={.status.userInfo.username}')" = system:serviceaccount:accounts:robot ]
  until_ok 30 sh -c "${KUBECTL:-kubectl} get secret robot -o 'jsonpath={.metadata.labels.kubernetes\.io/legacy-token-last-used}' | grep -q ^20"
}

check_customresource() {
  k apply -f - <<Y
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: owners.controllers.example.com},
 spec: {group: controllers.example.com, scope: Namespaced, names: {plural: owners, kind: Owner}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}
Y
  k wait --for=condition=Established crd owners.controllers.example.com --timeout 30s
  k apply -f - <<<'---
{apiVersion: controllers.example.com/v1, kind: Owner, metadata: {name: one}}'
  local uid
  uid=$(k get owners.controllers.example.com one -o 'jsonpath={.metadata.uid}')
  k apply -f - <<<"---
{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, ownerReferences: [{apiVersion: controllers.example.com/v1, kind: Owner, name: one, uid: $uid}]}}"
  k delete owners.controllers.example.com one
  until_ok 90 gone configmap owned
  k delete crd owners.controllers.example.com --timeout 60s
}
