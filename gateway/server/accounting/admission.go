package accounting

import (
	"time"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/metrics"
)

// Admission is the admission.Observer that counts in metrics.
type Admission struct{ M *metrics.Metrics }

// Phase implements admission.Observer.
func (a Admission) Phase(mutates bool, o admission.Operation, rejected bool, took time.Duration) {
	a.M.AdmissionTimes.Took("", mutates, string(o), rejected, took.Seconds())
}

// Plugin implements admission.Observer.
func (a Admission) Plugin(name string, mutates bool, o admission.Operation, rejected bool, took time.Duration) {
	if name != "" {
		a.M.AdmissionTimes.Took(name, mutates, string(o), rejected, took.Seconds())
	}
}
