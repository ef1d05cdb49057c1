package builtin

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Versions that are said to be alike have the same protobuf and JSON where both have a field.
func TestAlikeVersionsAreAlike(t *testing.T) {
	checked := 0
	all, err := readFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		for _, v := range f.Alike {
			gv := schema.GroupVersion{Group: f.Group, Version: v}
			if group, version, ok := strings.Cut(v, "/"); ok {
				gv = schema.GroupVersion{Group: group, Version: version}
			}
			old, err := scheme.Scheme.New(gv.WithKind(f.Names.Kind))
			if err != nil {
				continue // client-go has no client for it
			}
			checked++
			var storage string
			for _, v := range f.Versions {
				if v.Storage {
					storage = v.Name
				}
			}
			now, err := scheme.Scheme.New(schema.GroupVersionKind{Group: f.Group, Version: storage, Kind: f.Names.Kind})
			if err != nil {
				t.Fatal(err)
			}
			alike(t, gv.String()+" "+f.Names.Kind, reflect.TypeOf(old).Elem(), reflect.TypeOf(now).Elem(), map[reflect.Type]bool{})
		}
	}
	if checked < 20 {
		t.Errorf("only %d were compared", checked)
	}
}

func alike(t *testing.T, at string, old, now reflect.Type, seen map[reflect.Type]bool) {
	inner := func(of reflect.Type) reflect.Type {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		return of
	}
	if old, now = inner(old), inner(now); old.Kind() != now.Kind() {
		t.Errorf("%s: %s and %s", at, old, now)
		return
	}
	if old.Kind() != reflect.Struct || old == now || seen[old] {
		return
	}
	seen[old] = true
	// number is how a field is told in protobuf: its type on the wire and its number.
	number := func(f reflect.StructField) string {
		parts := strings.SplitN(f.Tag.Get("protobuf"), ",", 3)
		return strings.Join(parts[:min(2, len(parts))], ",")
	}
	kind := func(of reflect.Type) reflect.Kind {
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		return of.Kind()
	}
	name := func(f reflect.StructField) string { n, _, _ := strings.Cut(f.Tag.Get("json"), ","); return n }
	fields := map[string]reflect.StructField{}
	for i := range now.NumField() {
		fields[number(now.Field(i))] = now.Field(i)
	}
	for i := range old.NumField() {
		was := old.Field(i)
		is, ok := fields[number(was)]
		switch {
		case number(was) == "":
		case !ok || name(was) != name(is) || kind(was.Type) != kind(is.Type):
			t.Errorf("%s: %s has %s, which is %s now", at, old, was.Tag, is.Tag)
		default:
			alike(t, at+"."+was.Name, was.Type, is.Type, seen)
		}
	}
}

// older are objects as they were stored, and what there is to be seen of them.
var older = []struct{ kind, apiVersion, was, is string }{
	{"poddisruptionbudget", "policy/v1beta1", `"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}`, `"selector":{"matchLabels":{"a":"b"}}`},
	{"poddisruptionbudget", "policy/v1beta1", `"spec":{"maxUnavailable":"5%","selector":{}}`, `"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"}]}`},
	{"poddisruptionbudget", "policy/v1beta1", `"spec":{"selector":{"matchExpressions":[{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"DoesNotExist"}]}}`, `"selector":{}`},
	{"poddisruptionbudget", "policy/v1beta1", `"spec":{"minAvailable":1}`, `"spec":{"minAvailable":1}`},
	{"cronjob", "batch/v1beta1", `"spec":{"schedule":"* * * * *"}`, `"schedule":"* * * * *"`},
	{"deployment", "extensions/v1beta1", `"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}}}`, `"replicas":3`},
	{"deployment", "extensions/v1beta1", `"spec":{"rollbackTo":{"revision":3},"template":{"metadata":{"labels":{"a":"b"}}}}`, `"metadata":{"annotations":{"deprecated.deployment.rollback.to":"3"},"labels":{"a":"b"},"name":"a","namespace":"n"},"spec":{"progressDeadlineSeconds":2147483647,"revisionHistoryLimit":2147483647,"selector":{"matchLabels":{"a":"b"}},"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1},"type":"RollingUpdate"}`},
	{"deployment", "extensions/v1beta1", `"spec":{"progressDeadlineSeconds":5,"strategy":{"type":"Recreate"}}`, `"spec":{"progressDeadlineSeconds":5,"revisionHistoryLimit":2147483647,"selector":null,"strategy":{"type":"Recreate"}`},
	{"deployment", "apps/v1beta1", `"spec":{"rollbackTo":{}}`, `"annotations":{"deprecated.deployment.rollback.to":"0"}`},
	{"deployment", "apps/v1beta1", `"spec":{"replicas":4}`, `"spec":{"replicas":4,"revisionHistoryLimit":2,`},
	{"daemonset", "extensions/v1beta1", `"spec":{"templateGeneration":7,"selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"labels":{"a":"b"}}}}`, `"annotations":{"deprecated.daemonset.template.generation":"7"},"labels":{"a":"b"},"name":"a","namespace":"n"},"spec":{"selector":{"matchLabels":{"c":"d"}}`},
	{"daemonset", "extensions/v1beta1", `"spec":{}`, `"updateStrategy":{"type":"OnDelete"}`},
	{"replicaset", "extensions/v1beta1", `"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}`, `"selector":{"matchLabels":{"a":"b"}}`},
	{"mutatingwebhookconfiguration", "admissionregistration.k8s.io/v1beta1", `"webhooks":[{"name":"w","clientConfig":{"url":"u"}}]`, `"admissionReviewVersions":["v1beta1"],"clientConfig":{"url":"u"},"failurePolicy":"Ignore","matchPolicy":"Exact","name":"w","sideEffects":"Unknown","timeoutSeconds":30`},
	{"mutatingwebhookconfiguration", "admissionregistration.k8s.io/v1beta1", `"webhooks":[{"name":"w","clientConfig":{"url":"u"},"timeoutSeconds":5,"failurePolicy":"Fail"}]`, `"failurePolicy":"Fail","matchPolicy":"Exact","name":"w","sideEffects":"Unknown","timeoutSeconds":5`},
	{"validatingwebhookconfiguration", "admissionregistration.k8s.io/v1beta1", `"webhooks":[{"name":"w","clientConfig":{"url":"u"}}]`, `"admissionReviewVersions":["v1beta1"],"clientConfig":{"url":"u"},"failurePolicy":"Ignore","matchPolicy":"Exact","name":"w","sideEffects":"Unknown","timeoutSeconds":30`},
	{"validatingwebhookconfiguration", "admissionregistration.k8s.io/v1beta1", `"webhooks":[{"name":"w","clientConfig":{"url":"u"},"timeoutSeconds":5,"failurePolicy":"Fail"}]`, `"failurePolicy":"Fail","matchPolicy":"Exact","name":"w","sideEffects":"Unknown","timeoutSeconds":5`},
	{"statefulset", "apps/v1beta1", `"spec":{"serviceName":"x"}`, `"serviceName":"x"`},
	{"statefulset", "apps/v1beta1", `"spec":{"serviceName":"x"}`, `"updateStrategy":{"type":"OnDelete"}`},
	{"prioritylevelconfiguration", "flowcontrol.apiserver.k8s.io/v1beta2", `"spec":{"type":"Limited","limited":{"assuredConcurrencyShares":5}}`, `"nominalConcurrencyShares":5`},
	{"prioritylevelconfiguration", "flowcontrol.apiserver.k8s.io/v1beta1", `"spec":{"type":"Limited","limited":{}}`, `"nominalConcurrencyShares":30`},
	{"prioritylevelconfiguration", "flowcontrol.apiserver.k8s.io/v1beta1", `"spec":{"type":"Exempt"}`, `"spec":{"type":"Exempt"}`},
	{"ingress", "networking.k8s.io/v1beta1", `"spec":{"backend":{"serviceName":"s","servicePort":"web"}}`, `"defaultBackend":{"service":{"name":"s","port":{"name":"web"}}}`},
	{"ingress", "networking.k8s.io/v1beta1", `"spec":{"tls":[{"hosts":["h"],"secretName":"s"}],"ingressClassName":"c"},"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1","ports":[{"port":80,"protocol":"TCP"}]}]}}`, `"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1","ports":[{"port":80,"protocol":"TCP"}]}]}}`},
	{"ingress", "extensions/v1beta1", `"spec":{"rules":[{"host":"h","http":{"paths":[{"path":"/p","backend":{"serviceName":"s","servicePort":80}}]}}]}`, `"rules":[{"host":"h","http":{"paths":[{"backend":{"service":{"name":"s","port":{"number":80}}},"path":"/p","pathType":"ImplementationSpecific"}]}}]`},
	{"ingress", "networking.k8s.io/v1beta1", `"spec":{"rules":[{"http":{"paths":[{"path":"/p","pathType":"Exact","backend":{"resource":{"kind":"K","name":"r"}}}]}}]}`, `"paths":[{"backend":{"resource":{"apiGroup":null,"kind":"K","name":"r"}},"path":"/p","pathType":"Exact"}]`},
	{"endpointslice", "discovery.k8s.io/v1beta1", `"addressType":"IPv4","endpoints":[{"addresses":["192.0.2.1"],"nodeName":"m","topology":{"topology.kubernetes.io/zone":"z","kubernetes.io/hostname":"m","x":"y"}}]`, `"endpoints":[{"addresses":["192.0.2.1"],"conditions":{},"deprecatedTopology":{"x":"y"},"nodeName":"m","zone":"z"}]`},
	{"endpointslice", "discovery.k8s.io/v1beta1", `"addressType":"IPv4","endpoints":[{"addresses":["192.0.2.1"],"nodeName":"m","topology":{"kubernetes.io/hostname":"other"},"hints":{"forZones":[{"name":"z"}]}}],"ports":[{"name":"p","port":80}]`, `"deprecatedTopology":{"kubernetes.io/hostname":"other"},"hints":{"forZones":[{"name":"z"}]}`},
	{"clusterrole", "rbac.authorization.k8s.io/v1alpha1", `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]},"rules":[{"apiGroups":["g"],"resources":["r"],"resourceNames":["n"],"nonResourceURLs":["/u"],"verbs":["get"]}]`, `"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]},"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a","namespace":"n"},"rules":[{"apiGroups":["g"],"nonResourceURLs":["/u"],"resourceNames":["n"],"resources":["r"],"verbs":["get"]}]`},
	{"role", "rbac.authorization.k8s.io/v1alpha1", `"rules":[{"apiGroups":["g"],"verbs":["get"]}]`, `"rules":[{"apiGroups":["g"],"verbs":["get"]}]`},
	{"clusterrolebinding", "rbac.authorization.k8s.io/v1alpha1", `"subjects":[{"kind":"User","apiVersion":"rbac.authorization.k8s.io/v1alpha1","name":"*"}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"}`, `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"system:authenticated"}]`},
	{"rolebinding", "rbac.authorization.k8s.io/v1alpha1", `"subjects":[{"kind":"Group","name":"g"},{"kind":"ServiceAccount","apiVersion":"v1","name":"s","namespace":"n"},{"kind":"X","apiVersion":"x.y/v1","name":"z"}],"roleRef":{"kind":"Role","name":"r"}`, `"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s","namespace":"n"},{"apiGroup":"x.y","kind":"X","name":"z"}]`},
	{"runtimeclass", "node.k8s.io/v1alpha1", `"spec":{"runtimeHandler":"h","overhead":{"podFixed":{"cpu":"1"}},"scheduling":{"nodeSelector":{"a":"b"}}}`, `"handler":"h","kind":"RuntimeClass","metadata":{"name":"a","namespace":"n"},"overhead":{"podFixed":{"cpu":"1"}},"scheduling":{"nodeSelector":{"a":"b"}}`},
	{"resourceclaim", "resource.k8s.io/v1beta2", `"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}`, `"requests":[{"exactly":{"deviceClassName":"c"},"name":"r"}]`},
	{"resourceclaim", "resource.k8s.io/v1beta1", `"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"c","allocationMode":"ExactCount","count":2,"selectors":[{"cel":{"expression":"true"}}],"adminAccess":true,"capacity":{"requests":{"a":"1Gi"}}},{"name":"s","firstAvailable":[{"name":"t","deviceClassName":"d"}]}],"config":[{"requests":["r"],"opaque":{"driver":"d","parameters":{"a":1}}}]}},"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}`, `"spec":{"devices":{"config":[{"opaque":{"driver":"d","parameters":{"a":1}},"requests":["r"]}],"requests":[{"exactly":{"adminAccess":true,"allocationMode":"ExactCount","capacity":{"requests":{"a":"1Gi"}},"count":2,"deviceClassName":"c","selectors":[{"cel":{"expression":"true"}}]},"name":"r"},{"firstAvailable":[{"deviceClassName":"d","name":"t"}],"name":"s"}]}},"status":{"reservedFor":[{"name":"p","resource":"pods","uid":"u"}]}`},
	{"resourceclaimtemplate", "resource.k8s.io/v1beta1", `"spec":{"metadata":{"labels":{"a":"b"}},"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"c"}]}}}`, `"requests":[{"exactly":{"deviceClassName":"c"},"name":"r"}]`},
	{"deviceclass", "resource.k8s.io/v1beta1", `"spec":{"selectors":[{"cel":{"expression":"true"}}]}`, `"selectors":[{"cel":{"expression":"true"}}]`},
	{"resourceslice", "resource.k8s.io/v1beta1", `"spec":{"driver":"d","nodeName":"m","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"e","basic":{"attributes":{"a":{"string":"x"}},"capacity":{"b":{"value":"1"}},"taints":[{"key":"k","effect":"NoSchedule"}]}},{"name":"f"}]}`, `"spec":{"devices":[{"attributes":{"a":{"string":"x"}},"capacity":{"b":{"value":"1"}},"name":"e","taints":[{"effect":"NoSchedule","key":"k"}]},{"name":"f"}],"driver":"d","nodeName":"m","pool":{"generation":1,"name":"p","resourceSliceCount":1}}`},
	{"prioritylevelconfiguration", "flowcontrol.apiserver.k8s.io/v1beta3", `"metadata":{"name":"a","namespace":"n","annotations":{"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":""}},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0}}`, `"nominalConcurrencyShares":0`},
	{"prioritylevelconfiguration", "flowcontrol.apiserver.k8s.io/v1beta3", `"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0}}`, `"nominalConcurrencyShares":30`},
}

const answered = "it is a question, which is answered and not stored"

// unread are the versions that are not read, and why.
var unread = map[string]string{
	"authentication.k8s.io/v1alpha1 SelfSubjectReview":      answered,
	"authentication.k8s.io/v1beta1 SelfSubjectReview":       answered,
	"authentication.k8s.io/v1beta1 TokenReview":             answered,
	"authorization.k8s.io/v1beta1 LocalSubjectAccessReview": answered,
	"authorization.k8s.io/v1beta1 SelfSubjectAccessReview":  answered,
	"authorization.k8s.io/v1beta1 SelfSubjectRulesReview":   answered,
	"authorization.k8s.io/v1beta1 SubjectAccessReview":      answered,
}

// What was stored at any version of a kind that client-go knows can be read.
func TestAllVersionsOfClientsAreRead(t *testing.T) {
	all, err := readFiles()
	if err != nil {
		t.Fatal(err)
	}
	found, at := map[string]bool{}, map[schema.GroupKind]*file.File{}
	for _, f := range all {
		at[schema.GroupKind{Group: f.Group, Kind: f.Names.Kind}] = f
	}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		f := at[gvk.GroupKind()]
		if f == nil {
			continue
		}
		read := slices.Contains(f.Alike, gvk.Version) || extend.OlderOf(schema.GroupResource{Group: f.Group, Resource: f.Names.Plural})[gvk.GroupVersion().String()] != nil
		for _, v := range f.Versions {
			read = read || v.Name == gvk.Version
		}
		name := gvk.GroupVersion().String() + " " + gvk.Kind
		found[name] = true
		if why := unread[name]; read == (why != "") {
			t.Errorf("%s is read: %t, and not because %q", name, read, why)
		}
	}
	for name := range unread {
		if !found[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// What kube-apiservers of long ago stored is read as kube-apiserver 1.36 reads it, in both
// of the forms that they stored.
func TestOlderVersionsAreRead(t *testing.T) {
	defs := definitions(t)
	meta := `"metadata":{"name":"a","namespace":"n"}`
	for _, c := range older {
		d := defs[c.kind]
		text := `{"apiVersion":"` + c.apiVersion + `","kind":"` + d.Kind + `",` + meta + `,` + c.was + `}`
		old, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(c.apiVersion, d.Kind))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), old); err != nil {
			t.Fatal(err)
		}
		message, err := runtime.Encode(protobuf.NewSerializer(nil, nil), old.(object.GoObject))
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range [][]byte{[]byte(text), message} {
			tree, err := d.Codec.Decode(stored)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if got := encoded(t, tree); !strings.Contains(got, c.is) || tree["apiVersion"] != d.APIVersion("v1") || crdtest.Parse(t, []byte(got))["kind"] != d.Kind {
				t.Errorf("%s is read as %s", text, got)
			}
		}
	}
}
