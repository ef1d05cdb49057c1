package metrics

import (
	"testing"

	kubernetes "k8s.io/component-base/metrics"
)

// recorder has one counter.
type recorder struct{ name, help string }

func (r recorder) MustRegister(register func(...kubernetes.Registerable)) {
	register(kubernetes.NewCounter(&kubernetes.CounterOpts{Name: r.name, Help: r.help, StabilityLevel: kubernetes.ALPHA}))
}

// What several servers of a process count is registered once, and another metric of the
// same name is a mistake.
func TestRecordersAreRegisteredOnce(t *testing.T) {
	for range 2 {
		Register(recorder{"wasmgate_test_one", "One."})
	}
	defer func() {
		if recover() == nil {
			t.Error("another metric has the name, too")
		}
	}()
	Register(recorder{"wasmgate_test_one", "Another."})
}
