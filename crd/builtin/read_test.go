package builtin

import (
	"context"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/crdtest"
)

func TestTables_MT15(t *testing.T) {
	defs := definitions(t)
	gold := goldens(t)
	for name, tc := range map[string]struct {
		columns []string
		cells   []any
	}{
		"namespace":      {[]string{"Name", "Status", "Age"}, []any{crdtest.Namespace, "Active", "*"}},
		"configmap":      {[]string{"Name", "Data", "Age"}, []any{"golden", int64(3), "*"}},
		"secret":         {[]string{"Name", "Type", "Data", "Age"}, []any{"golden", "Opaque", int64(2), "*"}},
		"serviceaccount": {[]string{"Name", "Age"}, []any{"golden", "*"}},
		"lease":          {[]string{"Name", "Holder", "Age"}, []any{"golden", "me", "*"}},
		"event": {[]string{"Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen", "Count", "Name"},
			[]any{"*", "Normal", "R", "configmap/a", "", "c, h", "m", "*", int64(3), "golden"}},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: crdtest.Parse(t, gold[name].Served)}
			list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*obj, *obj}}
			list.SetResourceVersion("12")
			list.SetContinue("more")
			table, err := defs[name].Versions[0].Table.ConvertToTable(context.Background(), list, &metav1.TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if table.ResourceVersion != "12" || table.Continue != "more" || len(table.Rows) != 2 || table.Rows[0].Object.Object == nil {
				t.Errorf("table %+v", table)
			}
			var columns []string
			for _, c := range table.ColumnDefinitions {
				columns = append(columns, c.Name)
				if c.Description == "" {
					t.Errorf("column %s is not described", c.Name)
				}
			}
			if !reflect.DeepEqual(columns, tc.columns) {
				t.Errorf("columns %q", columns)
			}
			for i, want := range tc.cells {
				if got := table.Rows[0].Cells[i]; want != "*" && !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %#v, want %#v", tc.columns[i], got, want)
				}
			}
			one, err := defs[name].Versions[0].Table.ConvertToTable(context.Background(), obj, &metav1.TableOptions{NoHeaders: true})
			if err != nil || len(one.ColumnDefinitions) != 0 || len(one.Rows) != 1 || one.ResourceVersion != obj.GetResourceVersion() {
				t.Errorf("one object: %+v, %v", one, err)
			}
		})
	}
}

// An event that was never repeated has no count, and happened once.
func TestEventsAreCountedFromOne_MT15(t *testing.T) {
	d := definitions(t)["event"]
	for body, want := range map[string]int64{`{}`: 1, `{"count":4}`: 4, `{"count":4,"series":{"count":9}}`: 9} {
		table, err := d.Versions[0].Table.ConvertToTable(t.Context(), crdtest.Shaped(t, d, body), nil)
		if err != nil || table.Rows[0].Cells[8] != want {
			t.Errorf("%s: %v, %v", body, table, err)
		}
	}
}

func TestTablesHaveHeadersUnlessAskedOtherwise_MT15(t *testing.T) {
	d := definitions(t)["configmap"]
	obj := crdtest.Shaped(t, d, `{"metadata":{"name":"a"}}`)
	for name, c := range map[string]struct {
		options runtime.Object
		headers bool
	}{
		"no options": {nil, true}, "no table options": {(*metav1.TableOptions)(nil), true}, "other options": {&metav1.GetOptions{}, true},
		"headers": {&metav1.TableOptions{}, true}, "no headers": {&metav1.TableOptions{NoHeaders: true}, false},
	} {
		table, err := d.Versions[0].Table.ConvertToTable(t.Context(), obj, c.options)
		if err != nil || (len(table.ColumnDefinitions) > 0) != c.headers {
			t.Errorf("%s: %v, %v", name, table, err)
		}
	}
}

func TestMigrationTable(t *testing.T) {
	d := definitions(t)["storageversionmigration"]
	for conditions, want := range map[string]string{
		``: "Unknown",
		`{"type":"Running","status":"True","reason":"StorageVersionMigrationInProgress"}`:                                                  "Running",
		`{"type":"Running","status":"False","reason":"StorageVersionMigrationPaused"}`:                                                     "Paused",
		`{"type":"Running","status":"True","reason":"StorageVersionMigrationPaused"}`:                                                      "Running",
		`{"type":"Running","status":"False","reason":"SomethingElse"}`:                                                                     "Unknown",
		`{"type":"Running","status":"False"},{"type":"Succeeded","status":"True"}`:                                                         "Succeeded",
		`{"type":"Running","status":"False","reason":"StorageVersionMigrationPaused"},{"type":"Failed","status":"True","reason":"Failed"}`: "Failed",
	} {
		obj := crdtest.Shaped(t, d, `{"metadata":{"name":"m"},"spec":{"resource":{"group":"example.com","resource":"crontabs"}},"status":{"conditions":[`+conditions+`]}}`)
		for _, v := range d.Versions {
			table, err := v.Table.ConvertToTable(context.Background(), obj, nil)
			if err != nil || !reflect.DeepEqual(table.Rows[0].Cells, []any{"m", "crontabs.example.com", want}) {
				t.Errorf("%s: %s: %v %v, want %s", v.Name, conditions, table, err, want)
			}
		}
	}
}

func TestSelectableFields(t *testing.T) {
	defs, gold := definitions(t), goldens(t)
	for kind, want := range map[string]map[string]string{
		"event": {"involvedObject.kind": "ConfigMap", "involvedObject.name": "a", "reason": "R", "type": "Normal", "source": "c",
			"reportingComponent": "example.com/c", "involvedObject.fieldPath": ""},
		"namespace": {"status.phase": "Active", "name": crdtest.Namespace},
		"secret":    {"type": "Opaque"},
	} {
		v := defs[kind].Versions[0]
		set := v.Fields(crdtest.Parse(t, gold[kind].Served))
		for name, value := range want {
			if set.Get(name) != value {
				t.Errorf("%s: %s is %q", kind, name, set.Get(name))
			}
		}
		for _, name := range v.SelectableFields {
			if !set.Has(name) {
				t.Errorf("%s: no %s", kind, name)
			}
		}
	}
}

// What is selected by is a text, also of a number or a truth, and of what is not there the
// value that counts then.
func TestSelectableFieldsAreTexts(t *testing.T) {
	defs := definitions(t)
	for _, c := range []struct{ kind, field, object, want string }{
		{"node", "spec.unschedulable", `{"spec":{"unschedulable":true}}`, "true"},
		{"node", "spec.unschedulable", `{}`, "false"},
		{"job", "status.successful", `{"status":{"succeeded":3}}`, "3"},
		{"job", "status.successful", `{}`, "0"},
		{"replicationcontroller", "status.replicas", `{"status":{"replicas":2}}`, "2"},
		{"service", "spec.type", `{"spec":{"type":"NodePort"}}`, "NodePort"},
		{"service", "spec.type", `{}`, ""},
	} {
		if got := defs[c.kind].Versions[0].Fields(crdtest.Parse(t, []byte(c.object))).Get(c.field); got != c.want {
			t.Errorf("%s of a %s %s is %q, want %q", c.field, c.kind, c.object, got, c.want)
		}
	}
}

func TestNames_RES07(t *testing.T) {
	prefixes := map[string]string{ // all others are stored below their plural
		"replicationcontrollers": "controllers", "endpoints": "services/endpoints", "nodes": "minions",
		"services": "services/specs", "ingresses": "ingress", "wasmmodules": "wasmgate.dev/wasmmodules", "versionpriorities": "wasmgate.dev/versionpriorities",
		"apiservices": "apiregistration.k8s.io/apiservices", "moduletrusts": "wasmgate.dev/moduletrusts", "guardreports": "wasmgate.dev/guardreports",
		"conversionrules": "wasmgate.dev/conversionrules",
	}
	for _, d := range definitions(t) {
		want := d.Plural
		if special := prefixes[d.Plural]; special != "" {
			want = special
		}
		if d.ListKind != d.Kind+"List" || d.KeyPrefix != want {
			t.Errorf("%s: list kind %s, stored below %s", d.Kind, d.ListKind, d.KeyPrefix)
		}
		v := d.Version(d.StorageVersion)
		if v == nil || !v.Served || v.Schema == nil || v.Table == nil || v.Strategy == nil || v.Shape == nil {
			t.Errorf("%s: incomplete version %+v", d.Kind, v)
		}
	}
}

func TestOnlyWhatCustomResourcesNeed(t *testing.T) {
	all, err := All(Options{EssentialOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, d := range all {
		served[d.Kind] = true
	}
	for kind, want := range map[string]bool{
		"ConfigMap": true, "Secret": true, "Namespace": true, "ServiceAccount": true, "Event": true, "Lease": true,
		"WasmModule": true, "StorageVersionMigration": true, "Deployment": false,
	} {
		if served[kind] != want {
			t.Errorf("%s is served: %t", kind, served[kind])
		}
	}
}
