package formats

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// An amount of huge pages is that of whole pages, whose size is in the name.
func TestAmountsOfHugePages(t *testing.T) {
	for text, want := range map[string]bool{
		"hugepages-2Mi 4Mi": true, "hugepages-2Mi 2Mi": true, "hugepages-2Mi 0": true, "hugepages-1Gi 3Gi": true,
		"hugepages-2Mi 3Mi": false, "hugepages-2Mi 1": false, "hugepages-2Mi -2Mi": false, "hugepages-2Mi 500m": false,
		"hugepages-0 2Mi": false, "hugepages- 2Mi": false, "hugepages-500m 2Mi": false, "hugepages-x 2Mi": false,
	} {
		name, quantity, _ := strings.Cut(text, " ")
		errs := amount(name, resource.MustParse(quantity), field.NewPath("limits"))
		if ok := len(errs) == 0; ok != want {
			t.Errorf("%s: %v", text, errs)
		}
	}
}

// What device plugins give has a domain that is not Kubernetes' own, and the name of
// the quota for it is one as well.
func TestResourcesOfDevicePlugins(t *testing.T) {
	for name, want := range map[string]bool{
		"example.com/gpu": true, strings.Repeat("x", 243) + "/gpu": true,
		"cpu": false, "gpu": false, "kubernetes.io/gpu": false, "requests.example.com/gpu": false,
		"example.com/": false, "example.com/a/b": false, strings.Repeat("x", 245) + "/gpu": false,
	} {
		if errs := extendedResource(name, field.NewPath("resourceName")); (len(errs) == 0) != want {
			t.Errorf("%s: %v", name, errs)
		}
		if errs := amount(name, resource.MustParse("500m"), field.NewPath("limits")); (len(errs) > 0) != want {
			t.Errorf("half of %s: %v", name, errs)
		}
	}
}
