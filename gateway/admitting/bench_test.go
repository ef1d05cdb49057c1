package admitting

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// BenchmarkWrites is what writes cost that are changed and judged in this process:
// by nobody, by a webhook that is about something else, by one that validates, by
// one that changes, and by a policy.
func BenchmarkWrites(b *testing.B) {
	const body = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default"},"data":{"a":"b"}}`
	install := map[string]func(w *world){
		"nobody":     func(*world) {},
		"another":    func(w *world) { w.configure("validating", "one", "", "v1", "secrets", "") },
		"validating": func(w *world) { w.configure("validating", "one", "", "v1", "configmaps", "") },
		"mutating": func(w *world) {
			w.configure("mutating", "one", "", "v1", "configmaps", "")
			w.answer = func(string, map[string]any) string {
				return patch(`[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]`)
			}
		},
		"policy": func(w *world) {
			w.policy("validating", "p", "", "configmaps", `"validations":[{"expression":"object.metadata.name != 'bad'"}]`)
			w.bind("validating", "b", "p", `,"validationActions":["Deny"]`)
		},
	}
	for _, name := range []string{"nobody", "another", "validating", "mutating", "policy"} {
		w := newWorld(b)
		w.create("", "configmaps", "", body)
		w.settled()
		install[name](w)
		o := alice
		o.DryRun = true
		at, whole := w.target("", "configmaps", "", ""), w.target("", "configmaps", "", "one")
		verbs := []struct {
			name  string
			write func(n int) (*resource.Written, error)
		}{
			{"create", func(n int) (*resource.Written, error) {
				return w.Create(b.Context(), at, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n%d"},"data":{"a":"b"}}`, n), o)
			}},
			{"update", func(n int) (*resource.Written, error) {
				return w.Update(b.Context(), whole, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"},"data":{"a":"%d"}}`, n), o)
			}},
			{"patch", func(n int) (*resource.Written, error) {
				return w.Patch(b.Context(), whole, types.MergePatchType, fmt.Appendf(nil, `{"data":{"a":"%d"}}`, n), o)
			}},
			{"apply", func(n int) (*resource.Written, error) {
				return w.Apply(b.Context(), whole, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "one"}, "data": map[string]any{"c": fmt.Sprint(n)}}, o)
			}},
		}
		for _, v := range verbs {
			b.Run(v.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n++
					w.sent = nil
					if _, err := v.write(n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
