package formats

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What containers may be told of their pod by variables, and what by files. The words are
// kube-apiserver's.
func TestFieldsThatContainersAreTold(t *testing.T) {
	for _, tc := range []struct{ version, path, env, volume string }{
		{"v1", "metadata.name", "", ""},
		{"v1", "metadata.labels", `Unsupported value: "metadata.labels"`, ""},
		{"v1", "spec.nodeName", "", `Unsupported value: "spec.nodeName"`},
		{"v1", "spec.host", "", `Unsupported value: "spec.nodeName"`},
		{"v1", "status.phase", `Unsupported value: "status.phase"`, `Unsupported value: "status.phase"`},
		{"v1", "metadata.labels['a/b']", "", ""},
		{"v1", "metadata.labels['a//b']", "Invalid value", "Invalid value"},
		{"v1", "metadata.name['a']", "does not support subscript", "does not support subscript"},
		{"v1", "spec.odd", "field label not supported: spec.odd", "field label not supported: spec.odd"},
		{"v1", "", "Required value", "Required value"},
		{"v2", "metadata.name", "unsupported pod version: v2", "unsupported pod version: v2"},
	} {
		for _, is := range []struct {
			format Format
			want   string
		}{{fieldOf(envFields), tc.env}, {fieldOf(volumeFields), tc.volume}} {
			errs := is.format(map[string]any{"apiVersion": tc.version, "fieldPath": tc.path}, field.NewPath("fieldRef"))
			if is.want == "" && len(errs) > 0 || is.want != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Field, "fieldRef") || !strings.Contains(errs[0].Error(), is.want)) {
				t.Errorf("%s %s: %v, want %q", tc.version, tc.path, errs, is.want)
			}
		}
	}
}
