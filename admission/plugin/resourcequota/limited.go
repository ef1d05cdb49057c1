package resourcequota

import (
	"bytes"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	configuration "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/validation"
)

// Limited is what nobody uses unless a quota of the namespace covers it.
type Limited []configuration.LimitedResource

// ReadLimited reads a ResourceQuotaConfiguration of apiserver.config.k8s.io; of no text
// nothing is limited.
func ReadLimited(text []byte) (Limited, error) {
	var in io.Reader
	if text != nil {
		in = bytes.NewReader(text)
	}
	c, err := resourcequota.LoadConfiguration(in)
	if err != nil {
		return nil, err
	}
	return c.LimitedResources, validation.ValidateConfiguration(c).ToAggregate()
}

// About reports whether anything of a kind is limited.
func (l Limited) About(gr schema.GroupResource) bool {
	return slices.ContainsFunc(l, func(r configuration.LimitedResource) bool { return r.APIGroup == gr.Group && r.Resource == gr.Resource })
}
