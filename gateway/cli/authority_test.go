package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/gateway/options/workbench"
)

// A file of authorities that has none is told by every command that asks a server, and
// nothing is printed as if there was nothing to say.
func TestFilesWithoutAuthorities(t *testing.T) {
	replace := strings.NewReplacer("WASM", written(t, "m.wasm", "wasm"), "CRD", written(t, "crd.yaml", lintedCRD), "DIR", t.TempDir(),
		"SERVER", "-s https://127.0.0.1:1 --certificate-authority "+written(t, "ca.pem", "no certificate"))
	for _, line := range []string{
		"plan SERVER", "plan tabs.example.com SERVER", "migrate tabs.example.com SERVER", "lint -f CRD --stored SERVER",
		"module list SERVER", "module get m DIR/m.wasm SERVER", "module push m WASM SERVER", "module logs m SERVER", "module delete m SERVER",
		"module history m SERVER", "module rollback m SERVER", "module promote m SERVER", "module record tabs.example.com --out DIR SERVER",
		"module replay m.1 SERVER", "version-priority preview --module m g SERVER",
	} {
		out, exit, err := (&bench{}).run(t, strings.Fields(replace.Replace(line))...)
		if err == nil || exit == 0 || !strings.Contains(err.Error(), "root certificates") || out != "" {
			t.Errorf("%s: %d, %v\n%s", line, exit, err, out)
		}
	}
}

// Definitions that the server does not have break nobody, and those beside them are
// compared all the same.
func TestLint_WhatTheServerHas(t *testing.T) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
	var file strings.Builder
	file.WriteString(lintedCRD)
	for i := range 20 {
		file.WriteString("---\n" + strings.ReplaceAll(lintedCRD, "tab", fmt.Sprintf("new%dtab", i)))
	}
	is := strings.Replace(file.String(), "maxLength: 9", "maxLength: 8", 1)
	var was map[string]any
	if err := yaml.Unmarshal([]byte(lintedCRD[strings.Index(lintedCRD, "---\n"):]), &was); err != nil {
		t.Fatal(err)
	}
	answers := map[string]any{
		"tabs.example.com": was,
		"broken":           map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "x"}, "spec": 7},
	}
	serves := "tabs.example.com"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch name, of := strings.CutPrefix(r.URL.Path, path); {
		case !of || name != "tabs.example.com":
			status(w, 404, "NotFound")
		case serves == "":
			status(w, 500, "InternalError")
		default:
			_ = json.NewEncoder(w).Encode(answers[serves])
		}
	}))
	t.Cleanup(s.Close)
	crd := written(t, "crd.yaml", is)
	lint := func(more ...string) (string, int, error) {
		return (&bench{}).run(t, append([]string{"lint", "-f", crd, "--stored", "-s", s.URL}, more...)...)
	}
	out, exit, err := lint()
	if want := "tabs.example.com   v1        a      1      maxLength was 9 and is 8"; exit != statusFound || !strings.Contains(out, want) {
		t.Errorf("%d, %v\n%s", exit, err, out)
	}
	for _, serves = range []string{"", "broken"} {
		if out, exit, err = lint(); exit == 0 || err == nil || !strings.Contains(err.Error(), "tabs.example.com: ") || out != "" {
			t.Errorf("%q: %d, %v\n%s", serves, exit, err, out)
		}
	}
}

// What the tools cannot do is the error of the command, and nothing is printed.
func TestWhatTheToolsCannotDo(t *testing.T) {
	broken := errors.New("the tools are broken")
	replace := strings.NewReplacer("WASM", written(t, "m.wasm", "wasm"), "CRD", written(t, "crd.yaml", "crd"), "YAML", written(t, "a.yaml", "kind: A\n"), "SERVER", "-s "+keeping(t))
	for _, line := range []string{
		"module run WASM -f YAML", "module test WASM -f CRD --samples YAML", "module bench WASM --crd CRD", "module diff WASM WASM --crd CRD",
		"module replay m.v1.2 SERVER", "module fuzz WASM -f CRD", "module inspect WASM", "convert --to-version v1 --module WASM -f YAML",
	} {
		out, _, err := (&bench{err: broken}).run(t, strings.Fields(replace.Replace(line))...)
		if err == nil || !strings.Contains(err.Error(), broken.Error()) || out != "" {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
}

// A loss on the way to one version is no loss on the way to another.
func TestLossesAreThoseOfTheirVersion(t *testing.T) {
	made := func(to string) workbench.Made {
		return workbench.Made{To: to, Converted: workbench.Converted{Object: []byte(`{}`)}}
	}
	cases := cameBack("a", "a.yaml", workbench.Sample{Version: "v1", Made: []workbench.Made{made("v2"), made("v3")}, Losses: []workbench.Loss{
		{To: "v3", Problem: "Lost", Place: "x", Had: "1"}, {To: "v2", Problem: "Lost", Place: "y", Had: "1"},
	}})
	if len(cases) != 2 || cases[0].Problem != "Lost of y: 1 becomes (nothing)" || cases[1].Problem != "Lost of x: 1 becomes (nothing)" {
		t.Errorf("%+v", cases)
	}
}
