package builtin

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podOf is a pod that has a uid, with a spec.
func podOf(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return shaped(t, definitions(t)["pod"], `{"metadata":{"name":"p","namespace":"ns","uid":"u","resourceVersion":"7"},"spec":{`+spec+`}}`)
}

// Whoever may add a container to look into a pod, or change its size, may change
// nothing else of it.
func TestSubresourcesOfPodsChangeTheirPart(t *testing.T) {
	const (
		was    = `"nodeName":"n","containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]`
		wanted = `"nodeName":"other","serviceAccountName":"admin","containers":[{"name":"d","image":"bad","resources":{"limits":{"cpu":"2"}}}],"ephemeralContainers":[{"name":"e","image":"busybox"}]`
	)
	for subresource, want := range map[string]string{
		"ephemeralcontainers": was + `,"ephemeralContainers":[{"name":"e","image":"busybox"}]`,
		"resize":              `"nodeName":"n","containers":[{"name":"c","image":"i"},{"name":"d","image":"j","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"2"}}}]`,
	} {
		obj, old := podOf(t, wanted), podOf(t, was)
		definitions(t)["pod"].Versions[0].Subresources[subresource].Update.PrepareForUpdate(t.Context(), obj, old)
		if got, want := obj.Object["spec"], podOf(t, want).Object["spec"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s makes\n%v, want\n%v", subresource, got, want)
		}
	}
}

func TestEphemeralContainersStayAsTheyAre(t *testing.T) {
	const c = `"containers":[{"name":"c","image":"i"}]`
	with := func(more string) string { return c + `,"ephemeralContainers":[` + more + `]` }
	v := definitions(t)["pod"].Versions[0]
	if errs := v.Strategy.Validate(t.Context(), podOf(t, with(`{"name":"e","image":"b"}`))); !strings.Contains(errs.ToAggregate().Error(), "spec.ephemeralContainers: Forbidden: cannot be set on create") {
		t.Error(errs)
	}
	for now, want := range map[string]string{
		with(`{"name":"e","image":"b"},{"name":"f","image":"b"}`): "",
		with(`{"name":"e","image":"other"}`):                      `"e" may not be changed`,
		with(`{"name":"f","image":"b"}`):                          `"e" may not be removed`,
	} {
		errs := v.Subresources["ephemeralcontainers"].Update.ValidateUpdate(t.Context(), podOf(t, now), podOf(t, with(`{"name":"e","image":"b"}`)))
		if want == "" && len(errs) > 0 || want != "" && !strings.Contains(errs.ToAggregate().Error(), want) {
			t.Errorf("%s: %v", now, errs)
		}
	}
}
