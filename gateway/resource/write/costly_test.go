package write

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// quick fails a test whose work goes on for hours.
func quick(t *testing.T, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it takes too long")
	}
}

const costly = `"1e-2000000000"` // takes hours to read as a quantity

// A strategic merge patch whose outcome has a quantity that takes hours to read is
// refused without reading it.
func TestPatchesWithCostlyQuantities(t *testing.T) {
	w := newWorld(t)
	claims := w.builtin("persistentvolumeclaims", "default", "")
	w.create(claims, `{"metadata":{"name":"one"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	claims.Name = "one"
	for _, kind := range []types.PatchType{types.StrategicMergePatchType, types.MergePatchType} {
		var err error
		quick(t, func() {
			_, err = w.Patch(w.ctx(), claims, kind, []byte(`{"spec":{"resources":{"requests":{"storage":`+costly+`}}}}`), resource.WriteOptions{})
		})
		refused(t, err, 422, "Invalid", "has an exponent beyond 1000")
	}
}

// Of fields that are there twice both would be read in order to name them in order, and
// numbers as they are written.
func TestBodiesWithCostlyQuantities(t *testing.T) {
	w := newWorld(t)
	for resources, want := range map[string]string{
		`"limits":{"cpu":` + costly + `,"cpu":"1"}`:            `duplicate field "spec.containers[0].resources.limits.cpu", duplicate field "metadata.labels.x"`,
		`"limits":{"cpu":` + costly + `},"limits":{"cpu":"1"}`: `duplicate field "spec.containers[0].resources.limits", duplicate field "metadata.labels.x"`,
		`"limits":{"cpu":1e-2000000000},"z":1`:                 `duplicate field "metadata.labels.x", unknown field "spec.containers[0].resources.z"`,
		`"limits":{"cpu":"2","cpu":"1"},"z":1`:                 `unknown field "spec.containers[0].resources.z", duplicate field "metadata.labels.x"`,
	} {
		body := `{"spec":{"containers":[{"name":"c","image":"i","resources":{` + resources + `}}]},"metadata":{"name":"p","labels":{"x":"1","x":"1"}}}`
		var err error
		quick(t, func() {
			_, _, err = decodeBody(w.builtin("pods", "default", ""), []byte(body), resource.WriteOptions{FieldValidation: "Strict"})
		})
		refused(t, err, 400, "BadRequest", want)
	}
}
