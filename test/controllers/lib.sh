# What the scripts of this folder share: programs that are built of published modules, a
# gateway of their own, or the server that TARGET_URL names, and checks one after the other.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
programs=${PROGRAMS:-${XDG_CACHE_HOME:-$HOME/.cache}/wasmgate-controllers}
work=${KEEP:-$(mktemp -d)}
started=()
stop() {
  [ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null || true
  wait
  [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap stop EXIT

# source_of MODULE@VERSION names the folder of a published module.
source_of() {
  mkdir -p "$work/modules"
  (cd "$work/modules" && { [ -f go.mod ] || echo 'module x' >go.mod; } && go mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
}

# built NAME SOURCE PACKAGE [CHANGE FILE] makes a program of a module's source, unless it is
# there, with what sed changes in a file. PACKAGE MAIN puts a file of ours where PACKAGE names one.
built() {
  [ -x "$programs/$1" ] && return
  mkdir -p "$programs"
  rm -rf "$work/source"
  cp -r "$2" "$work/source"
  chmod -R u+w "$work/source"
  case $# in
  4) mkdir -p "$(dirname "$work/source/$3")" && cp "$4" "$work/source/$3" ;;
  5) sed -i "$4" "$work/source/$5" ;;
  esac
  (cd "$work/source" && go build -mod=mod -o "$programs/$1" "$3")
}

# until_ok SECONDS COMMAND... repeats a command until it ends well.
until_ok() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >"$work/said" 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep .1
  done
}

k() { "${KUBECTL:-kubectl}" "$@"; }

# kubeconfig FILE TOKEN writes one for the server.
kubeconfig() {
  cat >"$1" <<Y
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$TARGET_URL", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: "$2"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
Y
}

# serve ARGS... starts a gateway unless TARGET_URL is set, and talks to it from then on.
serve() {
  if [ -z "${TARGET_URL:-}" ]; then
    (cd "$root" && go build -o "$work/wasmgate" .)
    TARGET_TOKEN=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
    echo "$TARGET_TOKEN,admin,admin,system:masters" >"$work/tokens.csv"
    "$work/wasmgate" serve --data-dir "$work/data" --secure-port 0 --token-auth-file "$work/tokens.csv" "$@" >"$work/gateway.log" 2>&1 &
    started+=($!)
    until_ok 60 grep -q 'server: https' "$work/data/admin.kubeconfig"
    TARGET_URL=$(sed -n 's/.*server: //p' "$work/data/admin.kubeconfig")
  fi
  kubeconfig "$work/kubeconfig" "$TARGET_TOKEN"
  export KUBECONFIG=$work/kubeconfig
  until_ok 60 k get --raw /readyz
  answers >"$work/answers"
}

run() { # NAME ARGS...: starts a program
  "$programs/$1" "${@:2}" >"$work/$1.log" 2>&1 &
  started+=($!)
}

# is EXPECTED RESOURCE JSONPATH waits until a field has a value.
is() {
  until_ok "${WAIT:-40}" has "$@" || { echo "want $1 of $2 $3:"; cat "$work/said"; return 1; }
}
has() {
  local got
  got=$(k get $2 -o "jsonpath=$3") && echo "$got" && [ "$got" = "$1" ]
}
gone() { ! k get "$@"; }
none() { [ -z "$(k get "$@" -o name)" ]; }

# refused TEXT has an object of its input refused with that text.
refused() {
  if k create -f - >"$work/reply" 2>&1; then
    echo "not refused: $1"
    return 1
  fi
  cat "$work/reply"
  grep -qF -- "$1" "$work/reply"
}

# checks PROGRAM... -- [CHECK...] calls the functions check_NAME, those that are named or all,
# each in a namespace of its own, which is the default one of k while it runs. One that ends
# badly has failed. They have no && but in conditions, as what fails before one does not count.
# Once the namespaces are gone, which programs complain of, too, it counts what they had to complain of, and what the server refused; with NOISE=1 by what it was.
checks() {
  local of=() namespaces=() check begin verdict passed=0 failures=0
  while [ "$1" != -- ]; do of+=("$1"); shift; done
  shift
  for check in $(declare -F | sed -n 's/^declare -f check_//p'); do
    if [ $# -gt 0 ] && ! grep -qw -- "$check" <<<"$*"; then continue; fi
    begin=$(date +%s%N)
    set +e # in a condition it would not count in the check either
    (set -e; k create namespace "$check"; until_ok 20 k get sa default -n "$check"; k config set-context x --namespace "$check"; "check_$check") >"$work/$check.log" 2>&1
    [ $? = 0 ] && verdict=PASS || verdict=FAIL
    set -e
    if [ $verdict = PASS ]; then passed=$((passed + 1)); else failures=$((failures + 1)); fi
    echo "$verdict $check $((($(date +%s%N) - begin) / 1000000))ms"
    [ $verdict = PASS ] || tail -n 5 "$work/$check.log" | sed 's/^/  /'
    k delete namespace "$check" --wait=false >/dev/null
    namespaces+=("$check")
  done
  until_ok 60 none namespaces --ignore-not-found "${namespaces[@]}" || echo "still there: $(k get namespaces --ignore-not-found "${namespaces[@]}" -o name | tr '\n' ' ')"
  for check in "${of[@]}"; do
    echo "$check: $(complaints "$work/$check.log" | wc -l) lines of level E and W"
    [ -z "${NOISE:-}" ] || complaints "$work/$check.log" | cut -c1-240 | sort | uniq -c | sort -rn
  done
  answers | awk '!now { was[$1 " " $2 " " $3] = $4; next } { n = $4 - was[$1 " " $2 " " $3] } n > 0 { print n, $1, $2, $3 }' "$work/answers" now=1 - | sort -rn >"$work/refused"
  echo "refused requests:$(awk '{ n[$2] += $1 } END { for (code in n) print " " n[code] " x " code }' "$work/refused" | sort -k 3 | tr -d '\n')"
  [ -z "${NOISE:-}" ] || cat "$work/refused"
  echo "$passed passed, $failures failed"
  [ $failures = 0 ]
}

# complaints LOG prints the lines of level E and W without what differs from run to run: times, numbers and UIDs.
complaints() {
  grep -E '^[EW][0-9]{4} |"level":"(error|warn)' "$1" | sed -E 's/^([EW])[0-9]{4} [0-9:.]+ +[0-9]+ /\1 /; s/"(ts|time|stacktrace)":("[^"]*"|[0-9.e+]+),?//g
    s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UID/g; s/[0-9]+/N/g'
}

# answers prints how many requests the server refused or failed at until now: CODE VERB RESOURCE/SUBRESOURCE COUNT.
answers() {
  k get --raw /metrics | sed -nE 's#^apiserver_request_total\{code="([45][0-9]+)".*,resource="([^"]*)".*,subresource="([^"]*)",verb="([^"]*)".*\} (.*)#\1 \4 \2/\3 \5#p' |
    awk '{ n[$1 " " $2 " " $3] += $4 } END { for (key in n) print key, n[key] }'
}

# beside starts kube-controller-manager, which kubernetes.sh has built, beside a kube-apiserver whose SA_KEY is set.
beside() {
  [ -z "${SA_KEY:-}" ] ||
    run kube-controller-manager --kubeconfig "$KUBECONFIG" --service-account-private-key-file "$SA_KEY" --leader-elect=false --secure-port 0 --cert-dir "$work/kcm"
}

# authority makes one in the folder certs, and what a webhook on 127.0.0.1 shows.
authority() {
  mkdir -p "$work/certs"
  (
    cd "$work/certs"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=webhooks -keyout ca.key -out ca.crt
    openssl req -newkey rsa:2048 -nodes -subj /CN=webhook -keyout tls.key -out tls.csr
    openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out tls.crt -extfile <(echo subjectAltName=IP:127.0.0.1)
  ) 2>/dev/null
}

# install FILE applies the manifests of a project but for Deployments, APIServices and what asks for
# certificates: the programs run beside the server.
install() {
  awk 'BEGIN { RS = "---\n"; ORS = "---\n" } !/(^|\n)kind: (Deployment|Certificate|Issuer|APIService)\n/' "$1" >"$work/manifests.yaml"
  k apply --server-side -f "$work/manifests.yaml"
}

# reach PREFIX PORT has the webhooks whose objects' names begin so, and the converters of the
# definitions that ask the Service PREFIX-webhook-service, called at a port of 127.0.0.1.
reach() {
  local ca kind name path i patch
  ca=$(base64 -w0 "$work/certs/ca.crt")
  for kind in mutatingwebhookconfigurations validatingwebhookconfigurations; do
    for name in $(k get $kind -o name | grep "/$1-"); do
      i=0 patch=
      for path in $(k get "$name" -o 'jsonpath={.webhooks[*].clientConfig.service.path}'); do
        patch+=",{\"op\":\"replace\",\"path\":\"/webhooks/$i/clientConfig\",\"value\":{\"url\":\"https://127.0.0.1:$2$path\",\"caBundle\":\"$ca\"}}"
        i=$((i + 1))
      done
      k patch "$name" --type json -p "[${patch#,}]"
    done
  done
  for name in $(k get crd -o "jsonpath={.items[?(@.spec.conversion.webhook.clientConfig.service.name==\"$1-webhook-service\")].metadata.name}"); do
    k patch crd "$name" --type json -p "[{\"op\":\"replace\",\"path\":\"/spec/conversion/webhook/clientConfig\",\"value\":{\"url\":\"https://127.0.0.1:$2/convert\",\"caBundle\":\"$ca\"}}]"
  done
}

# account NAMESPACE NAME FILE writes a kubeconfig of a ServiceAccount.
account() {
  until_ok 20 k create token -n "$1" "$2" --duration 8h
  kubeconfig "$3" "$(cat "$work/said")"
}
