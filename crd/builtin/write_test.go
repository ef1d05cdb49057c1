package builtin

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// The messages are kube-apiserver 1.36's replies to the same requests.
func TestCreate(t *testing.T) {
	defs := definitions(t)
	const badKey = `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`
	for name, tc := range map[string]struct{ kind, body, want string }{
		"configmap":     {"configmap", `{"metadata":{"name":"a"},"data":{"a":"b"}}`, ""},
		"configmap key": {"configmap", `{"metadata":{"name":"a"},"data":{"a b":"5"},"binaryData":{"a b":"AAAA"}}`, `[data[a b]: Invalid value: "a b": ` + badKey + `, data[a b]: Invalid value: "a b": duplicate of key present in binaryData, binaryData[a b]: Invalid value: "a b": ` + badKey + `]`},
		"configmap size": {"configmap", `{"metadata":{"name":"a"},"data":{"a":"` + strings.Repeat("x", 1<<20) + `b"}}`,
			`[]: Too long: may not be more than 1048576 bytes`},
		"configmap of the largest size": {"configmap", `{"metadata":{"name":"a"},"data":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, ""},
		"secret of the largest size":    {"secret", `{"metadata":{"name":"a"},"stringData":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, ""},
		"secret size": {"secret", `{"metadata":{"name":"a"},"stringData":{"a":"` + strings.Repeat("x", 1<<20) + `b"}}`,
			`data: Too long: may not be more than 1048576 bytes`},
		"address":               {"ipaddress", `{"metadata":{"name":"10.200.0.1"},"spec":{"parentRef":{"resource":"services","name":"s"}}}`, ""},
		"address of version 6":  {"ipaddress", `{"metadata":{"name":"fd00::a"},"spec":{"parentRef":{"resource":"services","name":"s"}}}`, ""},
		"address that is none":  {"ipaddress", `{"metadata":{"name":"x"},"spec":{"parentRef":{"resource":"services","name":"s"}}}`, `metadata.name: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`},
		"address in other form": {"ipaddress", `{"metadata":{"name":"fd00:0::a"},"spec":{"parentRef":{"resource":"services","name":"s"}}}`, `metadata.name: Invalid value: "fd00:0::a": must be in canonical form ("fd00::a")`},
		"address with zeros":    {"ipaddress", `{"metadata":{"name":"10.200.0.01"},"spec":{"parentRef":{"resource":"services","name":"s"}}}`, `metadata.name: Invalid value: "10.200.0.01": must not have leading 0s`},
		"migration group":       {"storageversionmigration", `{"metadata":{"name":"m"},"spec":{"resource":{"group":"example.com","resource":"a"}}}`, ""},
		"migration bad group": {"storageversionmigration", `{"metadata":{"name":"m"},"spec":{"resource":{"group":"Bad_Group","resource":"a"}}}`,
			`spec.resource.group: Invalid value: "Bad_Group": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		"namespace name": {"namespace", `{"metadata":{"name":"a.b"}}`, `metadata.name: Invalid value: "a.b": must not contain dots`},
		"namespace finalizers": {"namespace", `{"metadata":{"name":"b","finalizers":["bad"]},"spec":{"finalizers":["nodomain"]}}`,
			`[metadata.finalizers[0]: Invalid value: "bad": name is neither a standard finalizer name nor is it fully qualified, spec.finalizers: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified]`},
		"secret tls":      {"secret", `{"metadata":{"name":"b"},"type":"kubernetes.io/tls"}`, `[data[tls.crt]: Required value, data[tls.key]: Required value]`},
		"lease":           {"lease", `{"metadata":{"name":"l"},"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}}`, `[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]`},
		"event namespace": {"event", `{"metadata":{"name":"e"},"involvedObject":{}}`, `involvedObject.namespace: Invalid value: "": does not match event.namespace`},
		"event with time": {"event", `{"metadata":{"name":"e"},"involvedObject":{"namespace":"bi-ns"},"eventTime":"2020-01-01T00:00:00.123456Z","reportingComponent":"c"}`, `[reportingInstance: Required value, action: Required value, reason: Required value]`},
		"migration":       {"storageversionmigration", `{"metadata":{"name":"m"}}`, `spec.resource.resource: Required value: resource is required to be set`},
		"module inline":   {"wasmmodule", `{"metadata":{"name":"m"},"spec":{"source":{"inline":"AGFzbQ=="},"config":[1]}}`, ""},
		"module upload":   {"wasmmodule", `{"metadata":{"name":"m"},"spec":{"source":{"upload":{}},"config":"x","limits":{"memory":"64Mi","timeout":"1.5s"}}}`, ""},
		"module nothing":  {"wasmmodule", `{"metadata":{"name":"m"},"spec":{"source":{}}}`, `spec.source: Invalid value: exactly one of inline, upload and oci must be set`},
		"module both":     {"wasmmodule", `{"metadata":{"name":"m"},"spec":{"source":{"inline":"AGFzbQ==","upload":{}}}}`, `spec.source: Invalid value: exactly one of inline, upload and oci must be set`},
		"module oci":      {"wasmmodule", `{"metadata":{"name":"m"},"spec":{"source":{"oci":{"image":"h/n:v1"},"upload":{}}}}`, `spec.source: Invalid value: exactly one of inline, upload and oci must be set`},
	} {
		t.Run(name, func(t *testing.T) {
			err := crdtest.Creation(t, defs[tc.kind], tc.body)
			if got := crdtest.Message(err); got != tc.want || (err == nil) != (tc.want == "") {
				t.Errorf("got  %v\nwant %v", got, tc.want)
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	defs := definitions(t)
	for name, tc := range map[string]struct{ kind, sub, old, body, want string }{
		"configmap immutable": {"configmap", "", `{"metadata":{"name":"a"},"immutable":true,"data":{"a":"1"},"binaryData":{"c":"AAAA"}}`, `{"metadata":{"name":"a"},"data":{"b":"3"}}`,
			"[immutable: Forbidden: field is immutable when `immutable` is set, data: Forbidden: field is immutable when `immutable` is set, binaryData: Forbidden: field is immutable when `immutable` is set]"},
		"secret type": {"secret", "", `{"metadata":{"name":"a"}}`, `{"metadata":{"name":"a"},"type":"kubernetes.io/tls"}`,
			`[type: Invalid value: "kubernetes.io/tls": field is immutable, data[tls.crt]: Required value, data[tls.key]: Required value]`},
		"namespace status": {"namespace", "status", `{"metadata":{"name":"a"}}`, `{"metadata":{"name":"a"},"status":{"phase":"Terminating"}}`,
			"status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"},
		"migration spec": {"storageversionmigration", "", `{"metadata":{"name":"m"},"spec":{"resource":{"resource":"a"}}}`, `{"metadata":{"name":"m"},"spec":{"resource":{"resource":"b"}}}`,
			`spec: Invalid value: {"resource":{"group":"","resource":"b"}}: field is immutable`},
		"migration done": {"storageversionmigration", "status",
			`{"metadata":{"name":"m"},"status":{"resourceVersion":"5"}}`, `{"metadata":{"name":"m"},"status":{"resourceVersion":"6"}}`,
			`status.resourceVersion: Invalid value: "6": field is immutable`},
		"event": {"event", "", `{"metadata":{"name":"e"},"involvedObject":{"namespace":"bi-ns"}}`, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"bi-ns"},"count":2}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := crdtest.Change(t, defs[tc.kind], tc.sub, tc.old, tc.body)
			if got := crdtest.Message(err); got != tc.want || (err == nil) != (tc.want == "") {
				t.Errorf("got  %v (%v)\nwant %v", got, err, tc.want)
			}
		})
	}
}

// What a migration came to does not change any more.
func TestConditionsOfAMigration(t *testing.T) {
	d := definitions(t)["storageversionmigration"]
	const after = `,"reason":"R","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}`
	const running, succeeded, failed = `{"type":"Running","status":"True"` + after, `{"type":"Succeeded","status":"True"` + after, `{"type":"Failed","status":"True"` + after
	not := func(c string) string { return strings.Replace(c, "True", "False", 1) }
	with := func(conditions ...string) *unstructured.Unstructured {
		return crdtest.Shaped(t, d, `{"metadata":{"name":"m","uid":"u","resourceVersion":"7"},"status":{"conditions":[`+strings.Join(conditions, ",")+`]}}`)
	}
	for name, c := range map[string]struct {
		old, obj *unstructured.Unstructured
		want     string
	}{
		"it begins":            {with(), with(running), ""},
		"it succeeds":          {with(running), with(not(running), succeeded), ""},
		"it fails":             {with(running), with(not(running), failed), ""},
		"it did not fail":      {with(running), with(not(failed), succeeded), ""},
		"both":                 {with(), with(succeeded, failed), "Both success and failed conditions cannot be true at the same time"},
		"no success any more":  {with(running, succeeded), with(running, not(succeeded)), "Success condition cannot be set to false once it is true"},
		"no failure any more":  {with(failed), with(), "Failed condition cannot be set to false once it is true"},
		"success stays":        {with(succeeded), with(succeeded, not(running)), ""},
		"failure stays":        {with(failed), with(failed, not(succeeded)), ""},
		"it never was success": {with(not(succeeded)), with(), ""},
	} {
		got := ""
		if err := d.Versions[0].Subresources["status"].Update.Validate(t.Context(), c.obj, c.old).Errors.ToAggregate(); err != nil {
			got = err.Error()
		}
		if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// As kube-apiserver 1.36 warns.
func TestWarnings(t *testing.T) {
	defs := definitions(t)
	secret := func(kind string) *unstructured.Unstructured {
		return crdtest.Shaped(t, defs["secret"], `{"metadata":{"name":"a","namespace":"default","resourceVersion":"1"},"type":"`+kind+`","data":{"tls.crt":"eA==","tls.key":"eQ=="}}`)
	}
	s := defs["secret"].Versions[0].Strategy
	if got := s.Validate(t.Context(), secret("kubernetes.io/tls"), nil).Warnings; len(got) != 1 || got[0] != "tls: failed to find any PEM data in certificate input" {
		t.Errorf("a certificate that is none: %q", got)
	}
	if got := s.Validate(t.Context(), secret("Opaque"), nil).Warnings; len(got) != 0 {
		t.Errorf("a secret of any kind: %q", got)
	}
	plain := crdtest.Shaped(t, defs["serviceaccount"], `{"metadata":{"name":"a","namespace":"default","resourceVersion":"1"}}`)
	marked := crdtest.Shaped(t, defs["serviceaccount"], `{"metadata":{"name":"a","namespace":"default","resourceVersion":"1","annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}}`)
	s = defs["serviceaccount"].Versions[0].Strategy
	for name, c := range map[string]struct {
		got  []string
		want int
	}{
		"created without": {s.Validate(t.Context(), plain, nil).Warnings, 0}, "created with": {s.Validate(t.Context(), marked, nil).Warnings, 1},
		"set": {s.Validate(t.Context(), marked, plain).Warnings, 1}, "kept": {s.Validate(t.Context(), marked, marked).Warnings, 0},
		"removed": {s.Validate(t.Context(), plain, marked).Warnings, 0},
	} {
		if len(c.got) != c.want {
			t.Errorf("a service account %s: %q", name, c.got)
		}
	}
}

// kube-apiserver's 400 is `KIND in version "V" cannot be handled as a KIND: `
// and these.
func TestUnreadable(t *testing.T) {
	defs := definitions(t)
	for _, tc := range []struct{ kind, body, want string }{
		{"configmap", `{"data":5}`, `json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string`},
		{"configmap", `{"data":{"a":5}}`, `json: cannot unmarshal number into Go struct field ConfigMap.data of type string`},
		{"configmap", `{"metadata":{"name":5}}`, `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string`},
		{"configmap", `{"metadata":[]}`, `json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta`},
		{"configmap", `{"binaryData":{"a":"%%%"}}`, `illegal base64 data at input byte 0`},
		{"lease", `{"spec":{"acquireTime":"2020-01-01T00:00:00.5Z"}}`, `parsing time "2020-01-01T00:00:00.5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".5Z" as ".000000"`},
	} {
		_, err := defs[tc.kind].Versions[0].Shape.FromClient(crdtest.Parse(t, []byte(tc.body)), false)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.body, err, tc.want)
		}
	}
}

func TestUnknownFields(t *testing.T) {
	d := definitions(t)["configmap"]
	tree := crdtest.Parse(t, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","foo":1},"dat":{"a":"5"},"Data":{}}`))
	unknown, err := d.Versions[0].Shape.FromClient(tree, true)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{`unknown field "metadata.foo"`: true, `unknown field "dat"`: true, `unknown field "Data"`: true}
	for _, u := range unknown {
		delete(want, u)
	}
	if len(want) > 0 || len(unknown) != 3 {
		t.Errorf("unknown fields %q", unknown)
	}
	if got := crdtest.Parse(t, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)); !reflect.DeepEqual(tree, got) {
		t.Errorf("left with %v", tree)
	}
}

func TestSecretDefaults(t *testing.T) {
	obj := crdtest.Shaped(t, definitions(t)["secret"], `{"stringData":{"a":"b"},"data":{"a":"AQI=","c":"AQI="}}`)
	want := map[string]any{"a": "Yg==", "c": "AQI="}
	if !reflect.DeepEqual(obj.Object["data"], want) || obj.Object["stringData"] != nil || obj.Object["type"] != "Opaque" {
		t.Errorf("got %v", obj.Object)
	}
}

func TestNamespaceLife_RES04(t *testing.T) {
	d := definitions(t)["namespace"]
	ns := crdtest.Shaped(t, d, `{"metadata":{"name":"team"},"status":{"phase":"Terminating"}}`)
	rest.FillObjectMetaSystemFields(ns)
	if err := rest.BeforeCreate(crdtest.Registry(d, d.Versions[0].Strategy), crdtest.WriteContext(d), ns); err != nil {
		t.Fatal(err)
	}
	phase, _, _ := unstructured.NestedString(ns.Object, "status", "phase")
	finalizers, _, _ := unstructured.NestedStringSlice(ns.Object, "spec", "finalizers")
	if phase != "Active" || !reflect.DeepEqual(finalizers, []string{"kubernetes"}) || ns.GetLabels()["kubernetes.io/metadata.name"] != "team" {
		t.Fatalf("created as %v", ns.Object)
	}
	if !d.Hooks.StillFinalizing(ns.Object) {
		t.Error("a new namespace has nothing to finalize")
	}
	err := d.Hooks.BeforeDelete(context.Background(), nil, ns.Object)
	if phase, _, _ := unstructured.NestedString(ns.Object, "status", "phase"); err != nil || phase != "Terminating" {
		t.Fatalf("deletion: %v %v", err, phase)
	}

	finalized := ns.DeepCopy()
	unstructured.RemoveNestedField(finalized.Object, "spec", "finalizers")
	main := finalized.DeepCopy()
	d.Versions[0].Strategy.Prepare(context.Background(), main, ns)
	if !d.Hooks.StillFinalizing(main.Object) {
		t.Error("a plain update removed the finalizers")
	}
	d.Versions[0].Subresources["finalize"].Update.Prepare(context.Background(), finalized, ns)
	if d.Hooks.StillFinalizing(finalized.Object) {
		t.Error("finalize did not remove the finalizers")
	}

	err = d.Hooks.BeforeDelete(context.Background(), nil, crdtest.Shaped(t, d, `{"metadata":{"name":"default"}}`).Object)
	if !apierrors.IsForbidden(err) || err.Error() != `namespaces "default" is forbidden: this namespace may not be deleted` {
		t.Errorf("default: %v", err)
	}
}

func TestEventTTL(t *testing.T) {
	all, err := All(Options{EventTTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Plural == "events" && d.TTL(nil) != time.Minute {
			t.Error("events do not have the TTL that was asked for")
		}
	}
	if definitions(t)["event"].TTL(nil) != time.Hour {
		t.Error("events do not live an hour by default")
	}
}
