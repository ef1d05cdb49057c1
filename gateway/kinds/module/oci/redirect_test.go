package oci_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
)

// The URLs that registries redirect to let in whoever knows them: they are told without
// what does, whether nobody is there or somebody refuses.
func TestWhereRedirectsLeadIsNotTold(t *testing.T) {
	refusing := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refusing.Close)
	trusting := client
	trusting.Transport = refusing.Client().Transport
	for what, at := range map[string]string{"refused": refusing.URL, "nobody": "https://127.0.0.1:1"} {
		host := ocitest.Start(t, func(open http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
					http.Redirect(w, r, strings.Replace(at, "://", "://secret@", 1)+"/layer?signature=secret&expires=1", http.StatusTemporaryRedirect)
					return
				}
				open.ServeHTTP(w, r)
			})
		})
		push(t, host, "v1", [2]string{wasmLayer, "module"})
		_, err := trusting.Pull(t.Context(), host+"/team/tabs:v1", oci.Login{})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), strings.Replace(at, "://", "://...@", 1)+"/layer?...") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
