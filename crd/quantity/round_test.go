package quantity

import (
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"sigs.k8s.io/yaml"
)

func TestRoundUp(t *testing.T) {
	for _, c := range []struct {
		object   any
		in, want string
	}{
		{&corev1.Pod{}, `{spec: {overhead: {cpu: 1u}, resources: {limits: {cpu: 2001u}}, initContainers: [{}, {resources: {requests: {cpu: "0.0001", memory: 1n}}}]}}`,
			`{spec: {overhead: {cpu: 1m}, resources: {limits: {cpu: 3m}}, initContainers: [{}, {resources: {requests: {cpu: 1m, memory: 1m}}}]}}`},
		{&corev1.Pod{}, `{status: {containerStatuses: [{allocatedResources: {cpu: 1e-5}, resources: {limits: {cpu: 1n}}}]}}`,
			`{status: {containerStatuses: [{allocatedResources: {cpu: 1m}, resources: {limits: {cpu: 1m}}}]}}`},
		{&corev1.PersistentVolumeClaim{}, `{spec: {resources: {requests: {storage: 1.00001Gi}}}, status: {allocatedResources: {storage: "123456789012345678901234567890.00001"}}}`,
			`{spec: {resources: {requests: {storage: 1073752561419m}}}, status: {allocatedResources: {storage: 123456789012345678901234567890001m}}}`},
		{&corev1.LimitRange{}, `{spec: {limits: [{max: {cpu: 1n}, maxLimitRequestRatio: {cpu: 1500u}}]}}`, `{spec: {limits: [{max: {cpu: 1m}, maxLimitRequestRatio: {cpu: 2m}}]}}`},
		{&appsv1.Deployment{}, `{spec: {template: {spec: {containers: [{resources: {limits: {cpu: 1u, memory: 1Gi, storage: 1500m}}}]}}}}`,
			`{spec: {template: {spec: {containers: [{resources: {limits: {cpu: 1m, memory: 1Gi, storage: 1500m}}}]}}}}`},
		// What is no list of resources, and what another group has.
		{&corev1.Pod{}, `{spec: {volumes: [{emptyDir: {sizeLimit: 1u}}]}}`, `{spec: {volumes: [{emptyDir: {sizeLimit: 1u}}]}}`},
		{&nodev1.RuntimeClass{}, `{overhead: {podFixed: {cpu: 1u}}}`, `{overhead: {podFixed: {cpu: 1u}}}`},
	} {
		if err := yaml.Unmarshal([]byte(c.in), c.object); err != nil {
			t.Fatal(err)
		}
		RoundUp(c.object)
		got, err := json.Marshal(c.object)
		if err != nil {
			t.Fatal(err)
		}
		if !covers(t, got, c.want) {
			t.Errorf("%s: %s", c.in, got)
		}
	}
}

// covers tells whether JSON has all that a YAML text has.
func covers(t *testing.T, have []byte, want string) bool {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(have, &a); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	return within(b, a)
}

func within(want, have any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		for name, v := range w {
			ok = ok && within(v, h[name])
		}
		return ok
	case []any:
		h, ok := have.([]any)
		ok = ok && len(h) == len(w)
		for i := range w {
			ok = ok && within(w[i], h[i])
		}
		return ok
	}
	return want == have
}
