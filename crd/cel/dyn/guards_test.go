package dyn

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	kubernetes "k8s.io/apiserver/pkg/cel/environment"
)

// unguarded are the functions that need no guard: what they make is no longer than what
// they are given, or the library counts it, and none looks at the parts of parts.
var unguarded = []string{
	// Of the language.
	"!_", "-_", "_%_", "_&&_", "_*_", "_-_", "_/_", "_<=_", "_<_", "_>=_", "_>_", "_?._", "_?_:_", "_[?_]", "_[_]", "_||_",
	"@not_strictly_false", "__not_strictly_false__", "_in_", "in", "cel.@block", "cel.@mapInsert", "size", "type", "dyn",
	"bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint", "contains", "endsWith", "startsWith",
	"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds",
	"optional.none", "optional.of", "optional.ofNonZeroValue", "optional.unwrap", "unwrapOpt", "hasValue", "or", "orValue", "value",
	// Of texts and lists: each looks at the items of one list once, which are scalars, or takes some.
	"charAt", "lowerAscii", "upperAscii", "reverse", "split", "substring", "trim", "base64.decode",
	"@sortByAssociatedKeys", "first", "last", "slice", "sort",
	// Of numbers.
	"math.@max", "math.@min", "math.abs", "math.bitAnd", "math.bitNot", "math.bitOr", "math.bitShiftLeft", "math.bitShiftRight", "math.bitXor",
	"math.ceil", "math.floor", "math.isFinite", "math.isInf", "math.isNaN", "math.round", "math.sign", "math.sqrt", "math.trunc",
	// Of Kubernetes, about texts of a form, which are short.
	"add", "asApproximateFloat", "asInteger", "compareTo", "isGreaterThan", "isInteger", "isLessThan", "isQuantity", "quantity", "sign", "sub",
	"cidr", "containsCIDR", "containsIP", "family", "ip", "ip.isCanonical", "isCIDR", "isGlobalUnicast", "isIP", "isLinkLocalMulticast",
	"isLinkLocalUnicast", "isLoopback", "isUnspecified", "masked", "prefixLength",
	"getEscapedPath", "getHost", "getHostname", "getPort", "getQuery", "getScheme", "isURL", "url",
	"format.byte", "format.date", "format.datetime", "format.dns1035Label", "format.dns1035LabelPrefix", "format.dns1123Label", "format.dns1123LabelPrefix",
	"format.dns1123Subdomain", "format.dns1123SubdomainPrefix", "format.labelValue", "format.named", "format.qualifiedName", "format.uri", "format.uuid", "validate",
	"isSemver", "major", "minor", "patch", "semver",
	// Of the authorizer, each question to which is counted.
	"allowed", "check", "error", "errored", "fieldSelector", "group", "name", "namespace", "path", "reason", "resource", "serviceAccount", "subresource",
	// Our own, about a moment or a number.
	"age", "durationText", "elapsed",
}

// environments are those that users' texts are written in: our own, and kube-apiserver's.
func environments(t *testing.T) []*cel.Env {
	own, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	policies, err := kubernetes.MustBaseEnvSet(kubernetes.DefaultCompatibilityVersion()).Env(kubernetes.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	return []*cel.Env{own, policies}
}

// A function that another version of the library brings is looked at, or somebody has
// found that it need not be.
func TestEveryFunctionIsGuardedOrNeedsNoGuard(t *testing.T) {
	known := map[string]bool{}
	for _, name := range slices.Concat(unguarded, slices.Collect(maps.Keys(guards))) {
		if known[name] {
			t.Errorf("%s is named twice", name)
		}
		known[name] = true
	}
	there := map[string]bool{}
	for _, env := range environments(t) {
		for name := range env.Functions() {
			if there[name] = true; !known[name] {
				t.Errorf("nothing is said of %s: give it a guard, or say that it needs none", name)
			}
		}
	}
	for name := range known {
		if !there[name] { // another name would guard nothing
			t.Errorf("there is no %s", name)
		}
	}
	if _, err := cel.NewEnv(Bounds()); err != nil {
		t.Error(err)
	}
}
