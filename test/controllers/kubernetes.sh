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
version=v1.36.3
root=$(cd "$(dirname "$0")/../.." && pwd)
programs=${PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/wasmgate-controllers}
work=${KEEP:-$(mktemp -d)}
started=()
stop() {
  [ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait
  [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap stop EXIT

# build PROGRAM PACKAGE MODULE makes a program of another module with that module's own
# go.mod; Kubernetes' staging folders are taken from what is published of them.
build() {
  [ -x "$programs/$1" ] && return
  local dir
  mkdir -p "$programs"
  dir=$(cd "$work" && { [ -f go.mod ] || echo 'module x' >go.mod; } && go mod download -json "$3" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  rm -rf "$work/source" && cp -r "$dir" "$work/source" && chmod -R u+w "$work/source"
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
kwok=$(cd "$work" && { [ -f go.mod ] || echo 'module x' >go.mod; } && go mod download -json "sigs.k8s.io/kwok@${KWOK:-v0.8.0}" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/kustomize/stage
for f in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-complete pod/fast/pod-delete; do
  cat "$kwok/$f.yaml" && echo ---
done >"$work/stages.yaml"

# until SECONDS COMMAND... repeats a command until it ends well.
until_ok() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >"$work/said" 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep .1
  done
}

if [ -z "${TARGET_URL:-}" ]; then
  (cd "$root" && go build -o "$work/wasmgate" .)
  TARGET_TOKEN=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
  echo "$TARGET_TOKEN,admin,admin,system:masters" >"$work/tokens.csv"
  openssl genrsa -out "$work/sa.key" 2048 2>/dev/null
  SA_KEY=$work/sa.key
  "$work/wasmgate" serve --data-dir "$work/data" --secure-port 0 --token-auth-file "$work/tokens.csv" \
    --service-account-key-file "$SA_KEY" --service-account-signing-key-file "$SA_KEY" --service-account-issuer https://kubernetes.default.svc \
    --enable-admission-plugins=ServiceAccount --controllers= >"$work/gateway.log" 2>&1 &
  started+=($!)
  until_ok 60 grep -q 'server: https' "$work/data/admin.kubeconfig"
  TARGET_URL=$(sed -n 's/.*server: //p' "$work/data/admin.kubeconfig")
fi
cat >"$work/kubeconfig" <<E
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$TARGET_URL", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: "$TARGET_TOKEN"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
E
export KUBECONFIG=$work/kubeconfig
k() { "${KUBECTL:-kubectl}" "$@"; }
until_ok 60 k get --raw /readyz

run() { # NAME ARGS...: starts a program
  "$programs/$1" "${@:2}" >"$work/$1.log" 2>&1 &
  started+=($!)
}
run kube-controller-manager --kubeconfig "$KUBECONFIG" --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" \
  --service-account-private-key-file "$SA_KEY" --use-service-account-credentials --leader-elect=false --secure-port 0 --cert-dir "$work/kcm" \
  --allocate-node-cidrs --cluster-cidr 10.244.0.0/16 --node-monitor-grace-period 20s
run kube-scheduler --kubeconfig "$KUBECONFIG" --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" \
  --leader-elect=false --secure-port 0 --cert-dir "$work/scheduler"
run kwok --kubeconfig "$KUBECONFIG" --config "$work/stages.yaml" --manage-all-nodes --node-lease-duration-seconds 40 --server-address 127.0.0.1:0
for n in 1 2; do
  k apply -f - >/dev/null <<E
{apiVersion: v1, kind: Node, metadata: {name: node-$n, labels: {kubernetes.io/hostname: node-$n, kubernetes.io/os: linux}, annotations: {kwok.x-k8s.io/node: fake}},
 status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}, capacity: {cpu: "8", memory: 16Gi, pods: "110"}}}
E
done

# shellcheck source=checks.sh
source "$root/test/controllers/checks.sh"
failures=0 passed=0
for check in $(declare -F | sed -n 's/^declare -f check_//p'); do
  if [ $# -gt 0 ] && ! grep -qw -- "$check" <<<"$*"; then continue; fi
  begin=$(date +%s%N)
  if (set -e; k create namespace "$check"; until_ok 20 k get sa default -n "$check"; k config set-context x --namespace "$check"; "check_$check") >"$work/$check.log" 2>&1; then
    passed=$((passed + 1)) verdict=PASS
  else
    failures=$((failures + 1)) verdict=FAIL
  fi
  echo "$verdict $check $((($(date +%s%N) - begin) / 1000000))ms"
  [ $verdict = PASS ] || tail -n 5 "$work/$check.log" | sed 's/^/  /'
  k delete namespace "$check" --wait=false >/dev/null
done
for p in kube-controller-manager kube-scheduler kwok; do
  echo "$p: $(grep -cE '^[EW][0-9]{4}' "$work/$p.log" || true) lines of level E and W"
  if [ -n "${NOISE:-}" ]; then grep -E '^[EW][0-9]{4}' "$work/$p.log" | sed -E 's/^[EW][0-9]{4} [0-9:.]+ +[0-9]+ //' | cut -c1-200 | sort | uniq -c | sort -rn | head -n 12; fi
done
echo "$passed passed, $failures failed"
[ $failures = 0 ]
