package webhook

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// What a module answers is bounded as the answer of a server is, whatever its
// own limit says.
func TestRepliesAreBounded_WP02(t *testing.T) {
	good := `{"allowed":true,"warnings":["seen"]}`
	for pad, want := range map[int]string{MaxReplyBytes: `the reply is larger than 16777216 bytes`, 10: ""} {
		for _, mutating := range []bool{false, true} {
			w := newWorld(t)
			w.answers["a"] = says(good + strings.Repeat(" ", pad))
			err := w.decide(t.Context(), mutating, w.request(), `{}`)
			if want == "" && err != nil || want != "" && (!apierrors.IsInternalError(err) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d spaces: %.300v", pad, err)
			}
		}
	}
}

// No error repeats more of a reply than a refusal may.
func TestErrorsRepeatLittleOfAReply_WP02(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for what, answer := range map[string]func(context.Context, map[string]any) (string, error){
		"a uid": says(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"` + long + `"}}`),
		"a kind": func(_ context.Context, r map[string]any) (string, error) {
			return fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":%q,"response":{"uid":%q}}`, long, r["uid"]), nil
		},
		"a type of patch": says(`{"allowed":true,"patchType":"` + long + `","patch":"W3sib3AiOiJ0ZXN0In1d"}`),
		"a path":          patches(`[{"op":"remove","path":"/` + long + `"}]`),
		"an operation":    patches(`[{"op":"` + long + `","path":"/a"}]`),
		"a changed kind":  patches(`[{"op":"replace","path":"/kind","value":"` + long + `"}]`),
	} {
		w := newWorld(t)
		w.answers["a"] = answer
		err := w.mutate(t.Context(), w.hooks(true, `{}`), w.request())
		if err == nil || len(err.Error()) > maxMessage+200 {
			t.Errorf("%s: %.100v", what, err)
		}
		if len(w.calls) != 1 || len(w.calls[0].Err.Error()) > maxMessage+200 {
			t.Errorf("%s: what is logged is longer", what)
		}
	}
}
