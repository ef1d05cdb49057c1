package cli

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// Of a server that does not tell how versions are used, nothing is known, and what would
// have to be done is told all the same.
func TestPlanOfAnotherServer(t *testing.T) {
	const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"crontabs.example.com"},
		"spec":{"group":"example.com","versions":[{"name":"v1beta1","served":true},{"name":"v1","served":true,"storage":true}]},"status":{"storedVersions":["v1beta1","v1"]}}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com":
			_, _ = io.WriteString(w, crd)
		case "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com/usage":
			status(w, 404, "NotFound")
		default:
			status(w, 500, "InternalError")
		}
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := kubeconfig.Write(file, kubeconfig.Admin{Server: s.URL, Token: "t"}); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, "plan", "crontabs.example.com", "--kubeconfig", file)
	var found *outcome
	if !errors.As(err, &found) || found.status != statusFound {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"how it is used is not known: the server is no wasmgate", "listed    unknown   unknown   unknown   unknown\n", "1. migrate v1:", "2. drop v1beta1 (not yet):", `{"status":{"storedVersions":["v1"]}}`, "4. remove v1beta1 (not yet):"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	if _, err := command(t, "plan", "--kubeconfig", file); err == nil || errors.As(err, &found) && found.status == statusFound && err.Error() == found.text {
		t.Errorf("a server that fails: %v", err)
	}
}
