package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestFlagsWithoutACommandAreThoseOfServe(t *testing.T) {
	for argv, want := range map[string]string{
		"wasmgate":                          "",
		"/bin/wasmgate --help":              "--help",
		"wasmgate --version":                "--version",
		"wasmgate -h":                       "-h",
		"wasmgate module list":              "module list",
		"wasmgate --secure-port=0 -v4":      "serve --secure-port=0 -v4",
		"/opt/kube-apiserver":               "serve --controllers=",
		"kube-apiserver --help":             "serve --controllers= --help",
		"kube-apiserver --version":          "serve --controllers= --version",
		"./kube-apiserver --etcd-servers=x": "serve --controllers= --etcd-servers=x",
	} {
		if got := typed(strings.Fields(argv)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", argv, got)
		}
	}
}
