package builtin

import (
	"strings"
	"testing"
)

// served are the versions of a kind that are served with a choice, "" when the
// kind is not there at all.
func served(t *testing.T, c Choice, essentialOnly bool, kind string) string {
	t.Helper()
	all, err := All(Options{Choice: c, EssentialOnly: essentialOnly})
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	var out []string
	for _, d := range all {
		for _, v := range d.Versions {
			if d.Kind == kind && v.Served {
				out = append(out, v.Name)
			}
		}
	}
	return strings.Join(out, " ")
}

// What is stable is served, and nothing else, until the most particular key
// that there is says otherwise.
func TestChoice_VER01_VER02_VER03_VER04(t *testing.T) {
	for _, c := range []struct {
		choice    Choice
		essential bool
		want      map[string]string
	}{
		{nil, false, map[string]string{"Job": "v1", "IPAddress": "v1", "VolumeAttributesClass": "v1", "ConfigMap": "v1", "WasmModule": "v1"}},
		{nil, true, map[string]string{"Event": "v1 events.k8s.io/v1"}},
		{Choice{"events.k8s.io/v1": false}, false, map[string]string{"Event": "v1"}},
		{Choice{"autoscaling/v2": false}, false, map[string]string{"HorizontalPodAutoscaler": "v1"}},
		{Choice{"batch/v1": false}, false, map[string]string{"Job": "", "CronJob": "", "Deployment": "v1"}},
		{Choice{"batch/v1": true, "batch/v1/jobs": false}, false, map[string]string{"Job": "", "CronJob": "v1"}},
		{Choice{"batch/v1": false, "batch/v1/jobs": true}, false, map[string]string{"Job": "v1", "CronJob": ""}},
		{Choice{"networking.k8s.io/v1beta1": true}, false, map[string]string{"IPAddress": "v1 v1beta1", "ServiceCIDR": "v1 v1beta1", "Ingress": "v1"}},
		{Choice{"networking.k8s.io/v1beta1/ipaddresses": true}, false, map[string]string{"IPAddress": "v1 v1beta1", "ServiceCIDR": "v1"}},
		{Choice{"storage.k8s.io/v1/volumeattributesclasses": false, "storage.k8s.io/v1beta1": true}, false, map[string]string{"VolumeAttributesClass": "v1beta1", "StorageClass": "v1"}},
		{Choice{"api/beta": true}, false, map[string]string{"IPAddress": "v1 v1beta1", "VolumeAttributesClass": "v1 v1beta1", "Deployment": "v1"}},
		{Choice{"api/beta": true, "storage.k8s.io/v1beta1": false}, false, map[string]string{"IPAddress": "v1 v1beta1", "VolumeAttributesClass": "v1"}},
		{Choice{"api/all": true}, false, map[string]string{"IPAddress": "v1 v1beta1"}},
		{Choice{"api/alpha": true, "v1": true, "api/v1": true}, false, map[string]string{"IPAddress": "v1"}},
		{Choice{"api/all": false, "apps/v1": true}, false, map[string]string{"Deployment": "v1", "Job": "", "Pod": "", "ConfigMap": "v1", "Namespace": "v1", "WasmModule": "v1"}},
		{Choice{"api/ga": false, "api/beta": true}, false, map[string]string{"IPAddress": "v1beta1", "Deployment": "", "Secret": "v1"}},
		{Choice{"apps/v1/deployments": true}, true, map[string]string{"Deployment": "v1", "ReplicaSet": "", "ConfigMap": "v1", "Pod": ""}},
	} {
		for kind, want := range c.want {
			if got := served(t, c.choice, c.essential, kind); got != want {
				t.Errorf("%v: %s is served at %q, want %q", c.choice, kind, got, want)
			}
		}
	}
}

// A key that names nothing, or what the rest cannot be without, is an error.
func TestChoicesThatCannotBeMet_VER03_VER04(t *testing.T) {
	for want, c := range map[string]Choice{
		"unknown api groups nothing.k8s.io/v1":                                  {"nothing.k8s.io/v1": true},
		"group version batch/v2alpha1 that has not been registered":             {"batch/v2alpha1": true},
		"certificates.k8s.io/v1beta1 is not served here":                        {"certificates.k8s.io/v1beta1": true},
		`"batch" is no version, such as apps/v1`:                                {"batch": true},
		`"a/b/c/d" is no version`:                                               {"a/b/c/d": true},
		"v1 cannot be turned off: custom resources and the gateway":             {"v1": false},
		"admissionregistration.k8s.io/v1 cannot be turned off":                  {"admissionregistration.k8s.io/v1": false},
		"coordination.k8s.io/v1/leases cannot be turned off":                    {"coordination.k8s.io/v1/leases": false},
		"ipaddresses cannot be turned off: services need them":                  {"networking.k8s.io/v1": false},
		"priorityclasses cannot be turned off: pods need them":                  {"scheduling.k8s.io/v1/priorityclasses": false},
		"unknown api groups x/v1\nunknown api groups y/v1":                      {"y/v1": true, "x/v1": false},
		"unknown api groups api/gamma":                                          {"api/gamma": true},
		"servicecidrs cannot be turned off: services need them":                 {"networking.k8s.io/v1/servicecidrs": false},
		"group version networking.k8s.io/v1alpha9 that has not been registered": {"networking.k8s.io/v1alpha9/ipaddresses": true},
	} {
		if _, err := All(Options{Choice: c}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", c, err, want)
		}
	}
	for _, c := range []Choice{
		{"networking.k8s.io/v1": false, "networking.k8s.io/v1beta1": true}, // addresses are at another version
		{"storage.k8s.io/v1beta1/csistoragecapacities": true},
		{"admissionregistration.k8s.io/v1beta1": false, "certificates.k8s.io/v1beta1": false, "coordination.k8s.io/v1beta1": false},
	} {
		if _, err := All(Options{Choice: c}); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Warnings and the release without it come from the Go types.
func TestDeprecatedVersions_VER05(t *testing.T) {
	all, err := All(Options{Choice: Choice{"api/beta": true}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range all {
		for _, v := range d.Versions {
			if v.Deprecated || v.Warning != "" || v.RemovedRelease != "" {
				got[d.Plural+" "+v.Name] = v.RemovedRelease + " " + v.Warning
			}
		}
	}
	for version, want := range map[string]string{
		"componentstatuses v1":            " v1 ComponentStatus is deprecated in v1.19+",
		"endpoints v1":                    " v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		"leasecandidates v1beta1":         "1.39 coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+",
		"ipaddresses v1beta1":             "1.37 networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+",
		"servicecidrs v1beta1":            "1.37 networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+",
		"volumeattributesclasses v1beta1": "1.37 storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass",
	} {
		if got[version] != want {
			t.Errorf("%s: %q", version, got[version])
		}
		delete(got, version)
	}
	if len(got) > 0 {
		t.Errorf("also deprecated: %v", got)
	}
}
