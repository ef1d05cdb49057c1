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
	"github.com/wasmgate/wasmgate/lifecycle/retire"
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
	for _, want := range []string{"how it is used is not known: the server is no wasmgate", "listed    unknown   unknown   unknown   unknown\n", "1. migrate v1:", "2. drop v1beta1 (not yet):", "3. switch off v1beta1 (served: false; not yet): you can switch it on again\n", `{"status":{"storedVersions":["v1"]}}`, "4. remove v1beta1 (not yet):"} {
		if !strings.Contains(out, want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	if _, err := command(t, "plan", "--kubeconfig", file); err == nil || errors.As(err, &found) && found.status == statusFound && err.Error() == found.text {
		t.Errorf("a server that fails: %v", err)
	}
}

// How versions are used is told where the server tells, and else why it is not known; what
// fails is an error.
func TestPlanOfWhatIsUsed(t *testing.T) {
	const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"crontabs.example.com"},
		"spec":{"group":"example.com","versions":[{"name":"v1beta1","served":true},{"name":"v1","served":true,"storage":true}]},"status":{"storedVersions":["v1"]}}`
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.example.com"
	for usage, c := range map[string]struct {
		code         int
		fails, wants string
	}{
		`{"kind":"DefinitionUsage","apiVersion":"wasmgate.dev/v1","stored":[{"version":"v1","objects":3}]}`:                                                             {200, "", "storage   3"},
		`{"kind":"DefinitionUsage","apiVersion":"wasmgate.dev/v1","stored":3}`:                                                                                          {200, "cannot unmarshal", ""},
		`{"kind":"DefinitionUsage","apiVersion":"wasmgate.dev/v1","clients":[{"version":"v1beta1","user":"u","agent":"a","requests":1,"last":"2026-01-02T03:04:05Z"}]}`: {200, "", "u uses it, as a: once, the last at 2026-01-02T03:04:05Z\n      change this client to v1\n"},
		`{"kind":"DefinitionUsage","apiVersion":"wasmgate.dev/v1","clients":[{"version":"v1beta1","user":"u","agent":"a","requests":2,"last":"2026-01-02T03:04:05Z"}]}`: {200, "", "u uses it, as a: 2 times, the last at 2026-01-02T03:04:05Z\n      change this client to v1\n"},
		`{"kind":"Usage","apiVersion":"v1"}`: {200, "", "the server is no wasmgate"},
		"403":                                {403, "", "you may not get customresourcedefinitions/usage"},
		"500":                                {500, "no: x", ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.URL.Path == path:
				_, _ = io.WriteString(w, crd)
			case r.URL.Path != path+"/usage":
				status(w, 404, "NotFound")
			case c.code == 403:
				status(w, c.code, "Forbidden")
			case c.code == 500:
				status(w, c.code, "x")
			default:
				_, _ = io.WriteString(w, usage)
			}
		}))
		t.Cleanup(s.Close)
		out, err := command(t, "plan", "crontabs.example.com", "-s", s.URL)
		if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || out != "") || !strings.Contains(out, c.wants) {
			t.Errorf("%s: %v\n%s", usage, err, out)
		}
		if strings.Contains(out, "unknown") != strings.Contains(out, "is not known: ") {
			t.Errorf("%s: it is known:\n%s", usage, out)
		}
	}
}

// A version that there is not cannot be planned for.
func TestPlanOfVersionsThatThereAreNot(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/usage") {
			status(w, 404, "NotFound")
			return
		}
		_, _ = io.WriteString(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"crontabs.example.com"},
			"spec":{"group":"example.com","versions":[{"name":"v1beta1","served":true},{"name":"v1","served":true,"storage":true}]},"status":{"storedVersions":["v1"]}}`)
	}))
	t.Cleanup(s.Close)
	if out, err := command(t, "plan", "crontabs.example.com", "--versions", "v7", "-s", s.URL); err == nil || !strings.Contains(err.Error(), "v7") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
}

// A plan of which nobody sees the versions, as the disk is full, is none.
func TestAPlanThatCannotBePrinted(t *testing.T) {
	if err := printPlans(full{}, []*retire.Plan{{Definition: "d"}}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if err := printPlans(full{}, nil); !errors.Is(err, errFull) {
		t.Errorf("of no definition: %v", err)
	}
}
