#!/usr/bin/env bash
# Runs Kubernetes' own controllers over a gateway, and has them do their work: kube-controller-manager
# and kube-scheduler of 1.36, each controller under its own ServiceAccount with RBAC, and
# kwok, whose nodes run pods that are not there. The gateway's own controllers step aside.
#   kubernetes.sh [CHECK...]
# prints a line for each check, with how long it took, and how many lines of level
# E and W the controllers wrote. With TARGET_URL and TARGET_TOKEN it runs over another server,
# a kube-apiserver, which has to have --service-account-key-file of the key SA_KEY; which is how both are compared.
# KUBECTL names a kubectl, or it is on the PATH. The first run builds the programs, for some
# minutes, into PROGRAMS (a folder in the user's cache). With KEEP=DIR the logs stay there.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
version=v1.36.3

# build PROGRAM PACKAGE MODULE makes a program of another module with that module's own
# go.mod; Kubernetes' staging folders are taken from what is published of them.
build() {
  [ -x "$programs/$1" ] && return
  mkdir -p "$programs"
  rm -rf "$work/source" && cp -r "$(source_of "$3")" "$work/source" && chmod -R u+w "$work/source"
  (
    cd "$work/source"
    if [ "$3" = "k8s.io/kubernetes@$version" ]; then
      sed -i -E "s#^(\s*(replace )?k8s.io/[a-z-]+ )v0.0.0\$#\1v0${version#v1}#; /=> \.\/staging/d" go.mod
      rm -rf vendor go.work go.work.sum
    fi
    go build -mod=mod -ldflags "-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36" \
      -o "$programs/$1" "$2"
  )
}
build kube-controller-manager ./cmd/kube-controller-manager "k8s.io/kubernetes@$version"
build kube-scheduler ./cmd/kube-scheduler "k8s.io/kubernetes@$version"
build kwok ./cmd/kwok "sigs.k8s.io/kwok@${KWOK:-v0.8.0}"
kwok=$(source_of "sigs.k8s.io/kwok@${KWOK:-v0.8.0}")/kustomize/stage
for f in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
  cat "$kwok/$f.yaml" && echo ---
done >"$work/stages.yaml"

if [ -z "${TARGET_URL:-}" ]; then
  SA_KEY=$work/sa.key
  openssl genrsa -out "$SA_KEY" 2048 2>/dev/null
fi
serve --service-account-key-file "$SA_KEY" --service-account-signing-key-file "$SA_KEY" --service-account-issuer https://kubernetes.default.svc \
  --enable-admission-plugins=ServiceAccount --controllers=

run kube-controller-manager --kubeconfig "$KUBECONFIG" --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" \
  --service-account-private-key-file "$SA_KEY" --use-service-account-credentials --leader-elect=false --secure-port 0 --cert-dir "$work/kcm" \
  --allocate-node-cidrs --cluster-cidr 10.244.0.0/16 --node-monitor-grace-period 20s
run kube-scheduler --kubeconfig "$KUBECONFIG" --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" \
  --leader-elect=false --secure-port 0 --cert-dir "$work/scheduler"
run kwok --kubeconfig "$KUBECONFIG" --config "$work/stages.yaml" --manage-all-nodes --node-lease-duration-seconds 40 --server-address 127.0.0.1:0
for n in 1 2; do
  k apply -f - >/dev/null <<Y
---
{apiVersion: v1, kind: Node, metadata: {name: node-$n, labels: {kubernetes.io/hostname: node-$n, kubernetes.io/os: linux}, annotations: {kwok.x-k8s.io/node: fake}},
 status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}, capacity: {cpu: "8", memory: 16Gi, pods: "110"}}}
Y
done

# shellcheck source=kubernetes-checks.sh
source "$root/test/controllers/kubernetes-checks.sh"
checks kube-controller-manager kube-scheduler kwok -- "$@"
