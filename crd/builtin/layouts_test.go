package builtin

import (
	"bytes"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
)

func autoscalers(t *testing.T) (d *crd.Definition, v1 *crd.Version) {
	d = definitions(t)["horizontalpodautoscaler"]
	if v1 = d.Version("v1"); v1 == nil || !v1.Served || d.StorageVersion != "v2" {
		t.Fatalf("versions: %+v, stored at %s", d.Versions, d.StorageVersion)
	}
	return d, v1
}

const scaler = `{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","namespace":"bi-ns"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"w"}}}`

// What is stored at a version that is not the storage version is read, and written
// again without being converted, as that version.
func TestStoredAtAnotherLayout(t *testing.T) {
	d, v1 := autoscalers(t)
	typed := v1.Typed().(*autoscalingv1.HorizontalPodAutoscaler)
	if err := fromJSON(crdtest.Parse(t, []byte(scaler)), typed); err != nil {
		t.Fatal(err)
	}
	var stored bytes.Buffer
	if err := serializer.Encode(typed, &stored); err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string][]byte{"protobuf": stored.Bytes(), "JSON": []byte(scaler)} {
		tree, err := d.Codec.Decode(data)
		if err != nil || tree["apiVersion"] != "autoscaling/v1" || object.TextAt(tree, "spec", "scaleTargetRef", "name") != "w" {
			t.Fatalf("%s: %v, %v", what, tree, err)
		}
		again, err := d.Codec.Encode(tree)
		if err != nil || !bytes.Equal(again, stored.Bytes()) {
			t.Errorf("%s: encoded\n%q, %v, want\n%q", what, again, err, stored.Bytes())
		}
		if err := d.Convert(tree, "autoscaling/v2"); err != nil || tree["apiVersion"] != "autoscaling/v2" || tree["kind"] != "HorizontalPodAutoscaler" {
			t.Errorf("%s: converted to %v, %v", what, tree, err)
		}
	}
}

// A client of v1 is told what v2 says of the object, defaults included, and
// managedFields pass by.
func TestAnotherLayoutHasTheDefaults(t *testing.T) {
	_, v1 := autoscalers(t)
	tree := crdtest.Parse(t, []byte(scaler))
	object.SetManaged(tree, object.Managed(`[{"manager":"m"}]`))
	annotations := object.Ensure(object.Ensure(tree, "metadata"), "annotations")
	annotations["autoscaling.alpha.kubernetes.io/metrics"], annotations["mine"] = "no JSON", "x"
	unknown, err := v1.Shape.FromClient(tree, true)
	const want = `{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"annotations":{"mine":"x"},"managedFields":[{"manager":"m"}],"name":"a","namespace":"bi-ns"},"spec":{"maxReplicas":3,"minReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"w"},"targetCPUUtilizationPercentage":80},"status":{"currentReplicas":0,"desiredReplicas":0}}`
	if got := encoded(t, tree); err != nil || len(unknown) > 0 || got != want {
		t.Errorf("got %s, %v, %v\nwant %s", got, unknown, err, want)
	}
	tree = crdtest.Parse(t, []byte(strings.Replace(scaler, `"maxReplicas"`, `"metrics":[],"maxReplicas"`, 1)))
	if unknown, err := v1.Shape.FromClient(tree, true); err != nil || len(unknown) != 1 || unknown[0] != `unknown field "spec.metrics"` {
		t.Errorf("unknown: %v, %v", unknown, err)
	}
}

// A write at v1 leaves what v1 keeps in annotations, whatever became of these.
func TestWritesAtAnotherLayout(t *testing.T) {
	d, v1 := autoscalers(t)
	ctx := crdtest.WriteContext(d)
	old := crdtest.Parse(t, []byte(scaler))
	object.Ensure(object.Ensure(old, "metadata"), "annotations")["autoscaling.alpha.kubernetes.io/conditions"] = `[{"type":"AbleToScale","status":"True","lastTransitionTime":null}]`
	old["status"] = map[string]any{"currentReplicas": int64(2), "desiredReplicas": int64(2)}
	now := crdtest.Parse(t, []byte(strings.Replace(scaler, `"maxReplicas":3`, `"maxReplicas":0,"minReplicas":4`, 1)))
	was, obj := &unstructured.Unstructured{Object: old}, &unstructured.Unstructured{Object: now}
	obj.SetResourceVersion("1")
	v1.Strategy.Prepare(ctx, obj, was)
	if now["apiVersion"] != "autoscaling/v1" || encoded(t, object.Child(now, "status")) != `{"currentReplicas":2,"desiredReplicas":2}` || obj.GetAnnotations()["autoscaling.alpha.kubernetes.io/conditions"] == "" {
		t.Errorf("prepared: %s", encoded(t, now))
	}
	const refused = `[spec.maxReplicas: Required value: must be set and greater than 0, spec.maxReplicas: Invalid value: 0: must be greater than or equal to ` + "`minReplicas`]"
	errs := v1.Strategy.Validate(ctx, obj, was).Errors.ToAggregate()
	if errs == nil || errs.Error() != refused {
		t.Errorf("refused: %v", errs)
	}
	obj.SetResourceVersion("")
	rest.FillObjectMetaSystemFields(obj)
	obj.SetAnnotations(nil)
	if err := rest.BeforeCreate(crdtest.Registry(d, v1.Strategy), ctx, obj); crdtest.Message(err) != refused {
		t.Errorf("creation refused: %v", err)
	}
	if got := encoded(t, object.Child(obj.Object, "status")); got != `{"currentReplicas":0,"desiredReplicas":0}` {
		t.Errorf("a creation sets the status %s", got)
	}
	status := v1.Subresources["status"].Update
	obj.SetAnnotations(map[string]string{"mine": "x"})
	status.Prepare(ctx, obj, was)
	if got := encoded(t, object.Child(obj.Object, "spec")); !strings.Contains(got, `"maxReplicas":3`) {
		t.Errorf("a write of the status changes the spec to %s", got)
	}
	for name, s := range map[string]crd.Strategy{"": v1.Strategy, "status": status} {
		if got := s.Resets(); len(got) != 2 || got["autoscaling/v1"] == nil || got["autoscaling/v2"] == nil {
			t.Errorf("%q resets %v", name, got)
		}
	}
}

// Both print the same.
func TestTableOfAnotherLayout(t *testing.T) {
	_, v1 := autoscalers(t)
	tree := crdtest.Parse(t, []byte(scaler))
	if _, err := v1.Shape.FromClient(tree, false); err != nil {
		t.Fatal(err)
	}
	one := &unstructured.Unstructured{Object: tree}
	list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*one}}
	for _, obj := range []runtime.Object{one, list} {
		table, err := v1.Table.ConvertToTable(t.Context(), obj, nil)
		if err != nil || len(table.Rows) != 1 || table.Rows[0].Cells[2] != "cpu: <unknown>/80%" || len(table.ColumnDefinitions) != 7 {
			t.Errorf("%+v, %v", table, err)
		}
	}
}

// What takes hours to read as a quantity is not read: neither in a field nor in an
// annotation, however it spells its fields.
func TestCostlyQuantitiesAreNotRead(t *testing.T) {
	const bad = `"1e-2000000000"`
	claim := `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"q","namespace":"n"},"spec":{"resources":{"requests":{"storage":` + bad + `}}}}`
	d := definitions(t)["persistentvolumeclaim"]
	for _, strict := range []bool{false, true} {
		if _, err := d.Version("v1").Shape.FromClient(crdtest.Parse(t, []byte(claim)), strict); err == nil || !strings.Contains(err.Error(), "exponent") {
			t.Errorf("strict %v: %v", strict, err)
		}
	}
	if _, err := d.Codec.Decode([]byte(claim)); err == nil {
		t.Error("it is read from the store")
	}
	message, err := d.Codec.Encode(crdtest.Parse(t, []byte(strings.ReplaceAll(claim, bad, `"1234567890123"`))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Codec.Decode(bytes.ReplaceAll(message, []byte("1234567890123"), []byte(strings.Trim(bad, `"`)))); err == nil || !strings.Contains(err.Error(), "exponent") {
		t.Errorf("in protobuf: %v", err)
	}
	_, v1 := autoscalers(t)
	for metrics, behavior := range map[string]string{
		`"resource":{"name":"cpu","targetAverageValue":` + bad + `}`: `"toleraNce":` + bad,
		// What is there twice is read twice, and a number as it is written.
		`"object":{"targetValue":` + bad + `,"targetValue":"1"}`:       `"Tolerance":` + bad + `,"Tolerance":"1"`,
		`"object":{"targetValue":` + bad + `},"object":{}`:             `"Tolerance":` + bad + `},"scaleUp":{"Tolerance":"1"`,
		`"pods":{"targetAverageValue":` + strings.Trim(bad, `"`) + `}`: `"Tolerance":` + strings.Trim(bad, `"`),
	} {
		tree := crdtest.Parse(t, []byte(scaler))
		annotations := object.Ensure(object.Ensure(tree, "metadata"), "annotations")
		annotations["autoscaling.alpha.kubernetes.io/metrics"] = `[{"type":"Resource",` + metrics + `}]`
		annotations["autoscaling.alpha.kubernetes.io/behavior"] = `{"scaleup":{` + behavior + `}}`
		if _, err := v1.Shape.FromClient(tree, true); err != nil {
			t.Error(err)
		}
		if len(object.Child(object.Child(tree, "metadata"), "annotations")) > 0 || object.TextAt(tree, "spec", "scaleTargetRef", "name") != "w" {
			t.Errorf("got %v", tree)
		}
	}
}

// Amounts of resources are rounded up to thousandths when they are written, and when
// what was stored before that is read.
func TestAmountsAreRoundedUp(t *testing.T) {
	const claim = `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"q","namespace":"n"},"spec":{"resources":{"requests":{"storage":"1.00001Gi"}}}}`
	d := definitions(t)["persistentvolumeclaim"]
	written := crdtest.Parse(t, []byte(claim))
	if _, err := d.Version("v1").Shape.FromClient(written, true); err != nil {
		t.Fatal(err)
	}
	read, err := d.Codec.Decode([]byte(claim))
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []map[string]any{written, read} {
		if got := object.TextAt(tree, "spec", "resources", "requests", "storage"); got != "1073752561419m" {
			t.Errorf("got %q", got)
		}
	}
}
