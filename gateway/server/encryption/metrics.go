package encryption

import (
	"strings"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Metrics are what the library counts of encryption, under kube-apiserver's names.
var Metrics gatherer

type gatherer struct{}

// families are how the names of those metrics begin.
var families = []string{
	"apiserver_encryption_config_controller_", "apiserver_envelope_encryption_", "apiserver_storage_transformation_",
	"apiserver_storage_envelope_transformation_", "apiserver_storage_data_key_generation_",
}

// Gather implements metrics.Gatherer.
func (gatherer) Gather() (out []*dto.MetricFamily, err error) {
	all, err := legacyregistry.DefaultGatherer.Gather()
	for _, f := range all {
		for _, begin := range families {
			if strings.HasPrefix(f.GetName(), begin) {
				out = append(out, f)
			}
		}
	}
	return out, err
}
