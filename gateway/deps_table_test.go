package gateway_test

// mayImport lists every package of the module, by its directory, with the
// packages of the module that it imports; that is all it may import. Imports
// of tests and of packages that exist for tests are free.
//
// A new arrow is a decision: it belongs here only if the doc of the package
// that imports does not say that it must not know the other.
var mayImport = map[string]string{
	"": "gateway/cli gateway/server plugins/compiler",

	"sdk":         "sdk/rawjson",
	"sdk/rawjson": "",

	"storage":            "",
	"storage/blob":       "storage",
	"storage/etcd":       "storage storage/paging",
	"storage/migrate":    "storage storage/paging",
	"storage/paging":     "storage",
	"storage/watchcache": "storage",

	"crd":                   "",
	"crd/builtin":           "crd crd/builtin/translate crd/custom crd/expr crd/expressions crd/formats crd/object crd/plan crd/quantity crd/reflectschema",
	"crd/builtin/translate": "crd/quantity",
	"crd/custom":            "crd crd/object crd/quantity crd/version",
	"crd/definitions":       "crd crd/object crd/reflectschema sdk/rawjson",
	"crd/expr":              "",
	"crd/expressions":       "crd/quantity",
	"crd/formats":           "",
	"crd/object":            "sdk/rawjson",
	"crd/plan":              "crd/expr crd/formats crd/object crd/reflectschema",
	"crd/quantity":          "crd/reflectschema",
	"crd/reflectschema":     "",
	"crd/priority":          "",
	"crd/version":           "",
	"crd/wire":              "",

	"apply":      "apply/tree crd crd/object sdk/rawjson",
	"apply/tree": "",

	"conversion":          "conversion/review deadline sdk/rawjson",
	"conversion/function": "conversion crd/object",
	"conversion/review":   "sdk/rawjson",
	"conversion/webhook":  "conversion/review webhook",

	"deadline":         "",
	"jsonpatch":        "",
	"webhook":          "",
	"admission":        "crd/expressions crd/object jsonpatch",
	"admission/limits": "",
	"admission/quota":  "",
	"admission/policy": "admission crd/expressions crd/object",

	"plugins":               "",
	"plugins/compiler":      "plugins plugins/wasm",
	"plugins/configuration": "",
	"plugins/modules":       "conversion conversion/review plugins plugins/configuration plugins/pool plugins/quarantine plugins/wasm",
	"plugins/pool":          "",
	"plugins/quarantine":    "",
	"plugins/wasm":          "plugins plugins/wasm/binary plugins/wasm/linear plugins/wasm/meter plugins/wasm/wasi",
	"plugins/wasm/binary":   "",
	"plugins/wasm/linear":   "",
	"plugins/wasm/meter":    "plugins/wasm/binary",
	"plugins/wasm/wasi":     "",

	"gateway/accounting":                     "gateway/api gateway/metrics",
	"gateway/api":                            "crd crd/object crd/wire deadline gateway/authn gateway/authz gateway/bounds gateway/catalog gateway/deflate gateway/resource",
	"gateway/kinds/service":                  "crd/object gateway/controller gateway/controller/client gateway/resource",
	"gateway/audit":                          "gateway/api",
	"gateway/authn":                          "",
	"gateway/authz":                          "gateway/authn",
	"gateway/bounds":                         "",
	"gateway/catalog":                        "apply conversion conversion/function crd crd/object crd/wire gateway/deflate storage storage/watchcache",
	"gateway/kinds/module/bindings":          "gateway/kinds/module gateway/resource plugins",
	"gateway/cli":                            "gateway/health gateway/pki/kubeconfig gateway/options",
	"gateway/kinds/definition/compile":       "conversion conversion/webhook crd crd/custom crd/definitions gateway/metrics plugins",
	"gateway/kinds/componentstatus":          "",
	"gateway/controller":                     "gateway/controller/client",
	"gateway/controller/client":              "crd",
	"gateway/kinds/module/healthy":           "gateway/controller gateway/controller/client gateway/kinds/gvr gateway/kinds/module gateway/kinds/module/calls plugins",
	"gateway/controller/content":             "gateway/controller gateway/controller/client",
	"gateway/kinds/module/coverage":          "gateway/controller gateway/controller/client gateway/kinds/gvr gateway/kinds/module plugins",
	"gateway/kinds/definition":               "crd gateway/controller gateway/controller/client gateway/controller/content gateway/kinds/gvr",
	"gateway/kinds/event":                    "gateway/controller gateway/controller/client gateway/kinds/gvr",
	"gateway/controller/garbage":             "crd gateway/controller gateway/controller/client gateway/kinds/gvr",
	"gateway/kinds/module/image":             "gateway/controller gateway/controller/client gateway/kinds/gvr gateway/kinds/module",
	"gateway/kinds/gvr":                      "",
	"gateway/kinds/migration":                "crd gateway/controller gateway/controller/client gateway/kinds/gvr storage/migrate",
	"gateway/kinds/module":                   "crd gateway/controller gateway/controller/client gateway/kinds/gvr plugins",
	"gateway/kinds/policy":                   "gateway/controller gateway/controller/client gateway/kinds/gvr",
	"gateway/kinds/quota/recount":            "admission/quota gateway/controller gateway/controller/client gateway/kinds/gvr",
	"gateway/kinds/namespace":                "gateway/controller gateway/controller/client gateway/controller/content gateway/kinds/gvr",
	"gateway/kinds/versionpriority":          "crd/priority gateway/controller gateway/controller/client gateway/kinds/gvr gateway/kinds/module plugins",
	"gateway/kinds/module/shadow":            "gateway/controller gateway/controller/client gateway/kinds/gvr gateway/kinds/module plugins",
	"gateway/deflate":                        "",
	"gateway/discovery":                      "crd crd/version",
	"gateway/discovery/documents":            "gateway/api gateway/catalog gateway/discovery gateway/health gateway/metrics gateway/discovery/openapi gateway/kinds/versionpriority/ordering",
	"gateway/health":                         "",
	"gateway/server/identity":                "gateway/authn gateway/pki/kubeconfig gateway/options gateway/pki",
	"gateway/pki/kubeconfig":                 "gateway/pki gateway/pki/private",
	"gateway/kinds/definition/leftovers":     "crd/custom storage storage/paging",
	"gateway/kinds/limitrange":               "admission/limits crd/object gateway/catalog gateway/resource storage/watchcache",
	"gateway/metrics":                        "",
	"gateway/kinds/module/host":              "conversion gateway/controller gateway/kinds/module/image gateway/kinds/gvr gateway/kinds/module gateway/metrics gateway/kinds/module/oci plugins plugins/modules plugins/quarantine plugins/wasm storage storage/blob",
	"gateway/kinds/module/calls":             "conversion plugins",
	"gateway/kinds/module/log":               "gateway/api gateway/resource",
	"gateway/kinds/module/status":            "gateway/kinds/gvr gateway/resource",
	"gateway/kinds/module/oci":               "",
	"gateway/discovery/openapi":              "crd crd/reflectschema",
	"gateway/options":                        "gateway/pki/kubeconfig",
	"gateway/kinds/versionpriority/ordering": "crd/priority gateway/catalog gateway/kinds/gvr gateway/discovery storage/watchcache",
	"gateway/pki":                            "gateway/pki/private",
	"gateway/kinds/versionpriority/question": "crd/priority gateway/api gateway/resource plugins",
	"gateway/kinds/pod":                      "gateway/api gateway/controller/client gateway/resource",
	"gateway/pki/private":                    "",
	"gateway/kinds/storageobject":            "crd/object gateway/controller gateway/controller/client gateway/resource",
	"gateway/kinds/quota":                    "admission/quota gateway/catalog gateway/resource storage/watchcache",
	"gateway/resource":                       "apply crd crd/object crd/wire gateway/authn gateway/catalog jsonpatch storage storage/watchcache",
	"gateway/resource/local":                 "crd crd/object gateway/catalog gateway/resource storage/watchcache",
	"gateway/kinds/accessreview":             "crd/object gateway/authn gateway/authz",
	"gateway/kinds/migration/rewrite":        "gateway/catalog gateway/kinds/migration gateway/metrics storage storage/migrate",
	"gateway/kinds/rolewarning":              "gateway/resource",
	"gateway/server":                         "admission/policy crd crd/builtin crd/definitions gateway/accounting gateway/admitting gateway/api gateway/audit gateway/authn gateway/authz gateway/bounds gateway/catalog gateway/controller gateway/controller/garbage gateway/discovery/documents gateway/health gateway/kinds/accessreview gateway/kinds/componentstatus gateway/kinds/definition gateway/kinds/definition/compile gateway/kinds/definition/leftovers gateway/kinds/event gateway/kinds/gvr gateway/kinds/limitrange gateway/kinds/migration gateway/kinds/migration/rewrite gateway/kinds/module gateway/kinds/module/bindings gateway/kinds/module/calls gateway/kinds/module/coverage gateway/kinds/module/healthy gateway/kinds/module/host gateway/kinds/module/image gateway/kinds/module/log gateway/kinds/module/shadow gateway/kinds/module/status gateway/kinds/module/trial gateway/kinds/module/upload gateway/kinds/namespace gateway/kinds/pod gateway/kinds/policy gateway/kinds/quota gateway/kinds/quota/recount gateway/kinds/rolewarning gateway/kinds/service gateway/kinds/serviceaccount gateway/kinds/storageobject gateway/kinds/versionpriority gateway/kinds/versionpriority/ordering gateway/kinds/versionpriority/question gateway/metrics gateway/options gateway/pki gateway/pki/private gateway/resource gateway/resource/local gateway/server/identity gateway/transport plugins plugins/compiler storage storage/etcd",
	"gateway/kinds/serviceaccount":           "gateway/api gateway/authn gateway/controller/client gateway/resource",
	"gateway/transport":                      "deadline gateway/api",
	"gateway/kinds/module/trial":             "conversion gateway/catalog gateway/kinds/module plugins storage storage/paging",
	"gateway/admitting":                      "admission admission/policy crd crd/object crd/reflectschema gateway/authn gateway/authz gateway/catalog gateway/kinds/gvr gateway/metrics gateway/resource storage/watchcache webhook",
	"gateway/kinds/module/upload":            "crd gateway/api gateway/kinds/gvr gateway/kinds/module gateway/resource plugins storage storage/blob",

	"examples/crontab":         "sdk",
	"examples/crontab/module":  "examples/crontab",
	"examples/policy":          "sdk",
	"examples/policy/module":   "examples/policy",
	"examples/priority":        "sdk",
	"examples/priority/module": "examples/priority",

	"bench":          "bench/workload crd/reflectschema",
	"bench/workload": "",
	"bench/kinds":    "",
	"bench/module":   "sdk",
}

// homes lists the libraries that packages may import, and where. A library is
// everything below its path, and a home everything below its directory; of
// several libraries that match the longest counts. Programs in bench, and
// packages that exist for tests, may use anything.
var homes = []struct{ library, in, why string }{
	{"github.com/tetratelabs/wazero", "plugins/wasm", "the Wasm engine can be replaced or fixed in one place"},
	{"golang.org/x/sys/unix", "plugins/compiler plugins/wasm/linear", "mapping memory, asking the kernel about it, and Landlock are not in the standard library"},
	{"github.com/gofiber/fiber", "gateway/transport", "fasthttp reuses the memory of a request after its handler returned; nobody else needs to know"},
	{"github.com/valyala/fasthttp", "gateway/transport", "as for fiber"},
	{"go.etcd.io", "storage/etcd", "everything else works on the contract in storage"},
	{"go.uber.org/zap", "storage/etcd", "etcd's logger"},
	{"google.golang.org/grpc", "storage/etcd gateway/cli", "etcd's transport, and the log that it writes"},
	{"github.com/spf13", "gateway/cli", "the command line is an edge"},
	{"github.com/go-logr/logr", "gateway/cli", "what libraries log is sent to the one log there is"},
	{"k8s.io/klog", "gateway/cli", "as for logr"},
	{"github.com/rs/zerolog", "gateway storage/etcd", "pure packages return errors instead of logging them"},
	{"github.com/prometheus", "gateway/metrics", "metrics are counted through gateway/metrics"},
	{"github.com/google/gnostic-models", "gateway/discovery/openapi", "the types of OpenAPI documents"},
	{"google.golang.org/protobuf", "crd/wire gateway/discovery/openapi", "messages, and the encoding of OpenAPI documents"},
	{"github.com/munnerz/goautoneg", "gateway/api gateway/discovery gateway/discovery/openapi", "Accept headers"},
	{"github.com/google/cel-go", "admission crd/expr crd/expressions", "the types and values of expressions"},
	{"gopkg.in/evanphx/json-patch.v4", "jsonpatch", "its bound on copies is one for the process, and it panics"},
	{"oras.land/oras-go", "gateway/kinds/module/oci", "the protocol of registries"},
	{"github.com/opencontainers", "gateway/kinds/module/oci", "the types of manifests"},
	{"github.com/golang-jwt/jwt", "gateway/kinds/serviceaccount", "the form and the signatures of tokens"},
	{"gopkg.in/natefinch/lumberjack.v2", "gateway/audit", "files that are put aside when they are large"},
	{"golang.org/x/sync", "crd/builtin gateway storage", "groups of goroutines"},
	{"golang.org/x/term", "gateway/cli", "the command line is an edge"},
	{"golang.org/x/time", "storage/migrate gateway/kinds/event", "the rate of a migration, and of events"},
	{"k8s.io/api", "admission crd gateway", "the built-in types"},
	{"k8s.io/apimachinery", "admission apply crd conversion gateway webhook", "the vocabulary of the API"},
	{"k8s.io/apiextensions-apiserver", "admission/policy apply crd conversion gateway", "schemas, defaulting and validation of custom resources"},
	{"k8s.io/apiserver", "admission crd gateway/audit gateway/discovery gateway/resource gateway/admitting", "the strategies of kinds, conditions in CEL, and merges of discovery documents"},
	{"k8s.io/component-helpers", "admission", "what a pod needs of all its containers"},
	{"k8s.io/client-go", "crd/builtin crd/custom gateway/cli gateway/controller gateway/pki/kubeconfig", "queues, kubeconfigs, table printing, paths of fields, the Go types by kind"},
	{"k8s.io/kube-openapi", "admission/policy crd/custom gateway/discovery/openapi plugins/configuration", "OpenAPI documents"},
	{"sigs.k8s.io/json", "admission crd gateway/api gateway/resource", "strict decoding in Kubernetes' own words"},
	{"sigs.k8s.io/structured-merge-diff", "apply crd", "field sets, and merging by them"},
	{"sigs.k8s.io/yaml", "crd/builtin gateway/api gateway/cli gateway/discovery", "bodies, documents and files in YAML"},
}

// never lists principles: what packages must not import, not even by way of
// others. A new line in mayImport that breaks one is wrong.
var never = []struct{ packages, imports, why string }{
	{"storage", "crd conversion plugins gateway sdk", "storage knows keys, bytes and revisions only"},
	{"crd", "storage conversion plugins gateway", "definitions are pure: no store, no HTTP, no Wasm"},
	{"webhook", "storage crd conversion plugins gateway sdk", "a server is called the same whatever it is sent"},
	{"admission", "storage conversion plugins gateway", "webhooks and policies are asked the same whoever serves objects, and whatever they are"},
	{"conversion", "storage plugins gateway", "a converter works the same whoever stores, serves or implements it"},
	{"plugins", "storage crd gateway", "modules are called with bytes; what these mean is not the runtime's business"},
	{"sdk", "storage crd conversion plugins gateway", "module authors get the SDK and nothing else"},
	{"gateway/resource", "gateway/transport gateway/api gateway/server gateway/controller plugins/wasm storage/etcd", "the engine is below HTTP and above the contracts"},
	{"gateway/controller", "gateway/transport gateway/api gateway/server gateway/resource plugins/wasm storage/etcd storage/watchcache storage/blob", "controllers see objects through their own interfaces"},
	{"gateway/api", "gateway/transport gateway/server gateway/controller plugins/wasm storage/etcd", "requests are values, not connections"},
	{"gateway/transport", "gateway/server gateway/cli storage/etcd plugins/wasm", "HTTP carries; it decides nothing"},
	{"gateway/authn", "gateway/api gateway/transport crd storage plugins", "identities do not depend on what is served"},
	{"gateway/authz", "gateway/api gateway/transport crd storage plugins", "decisions do not depend on what is served"},
	{"gateway/kinds/module/oci", "gateway storage crd plugins", "a registry is asked the same whatever becomes of the bytes"},
	{"gateway/health", "gateway storage crd plugins", "whoever owns a part adds its check"},
	{"gateway/metrics", "gateway storage crd plugins", "metrics are passive"},
	{"gateway/cli", "gateway/server gateway/transport gateway/resource storage plugins crd", "the commands are clients; serve is handed the function that serves"},
}

// The limits of readability.
const (
	maxFileLines        = 500
	maxFunctionLines    = 70
	maxInterfaceMethods = 5
)

// meaningless names say nothing about what a package owns.
var meaningless = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base"}
