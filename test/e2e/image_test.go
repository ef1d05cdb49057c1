package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/wasmgate/wasmgate/gateway/kinds/module/oci/ocitest"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/storage/blob"
	"github.com/wasmgate/wasmgate/test/harness"
)

// The object that docs/modules.md shows brings a module from a registry that
// wants credentials, by kubectl; once it is there no registry is needed.
func TestAModuleFromARegistry(t *testing.T) {
	t.Parallel()
	harness.SkipExternal(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "modules.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, manifest, _ := strings.Cut(string(text), "```yaml\n")
	manifest, _, ok := strings.Cut(manifest, "```")
	if !ok || !strings.Contains(manifest, "registry.example.com") {
		t.Fatal("docs/modules.md shows no module from a registry")
	}
	anna := auth.Credential{Username: "anna", Password: "secret"}
	var away atomic.Bool
	host := ocitest.Start(t, func(open http.Handler) http.Handler {
		locked := ocitest.Locked(anna.Username, anna.Password)(open)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if away.Load() {
				http.Error(w, "away", http.StatusServiceUnavailable)
				return
			}
			locked.ServeHTTP(w, r)
		})
	})
	first, second := plugintest.Build(t, plugintest.Releases), plugintest.Build(t, plugintest.Policy)
	push := func(bytes []byte) string {
		return ocitest.Push(t, host+"/team/tabs", "v1", anna, ocitest.Layer{MediaType: "application/wasm", Content: bytes})
	}
	image := push(first)

	g := harness.Start(t, harness.Options{})
	k := g.Kubectl(t)
	api, path := g.API(t), modulePath+"/tabs"
	is := func(kind, want string) func(*harness.Reply) bool {
		return func(r *harness.Reply) bool {
			c := condition(r.Object(), kind)
			return c.Str("status")+" "+c.Str("reason") == want
		}
	}
	k.MustInput(strings.ReplaceAll(manifest, "registry.example.com", host), "apply", "--server-side", "-f", "-")
	api.Eventually(path, is("Pulled", "False PullSecretInvalid"))
	k.Must("create", "secret", "docker-registry", "registry", "-n", "kube-system",
		"--docker-server="+host, "--docker-username=anna", "--docker-password=secret")
	api.Eventually(path, is("Pulled", "True Pulled"))
	r := api.Eventually(path, is("Ready", "True Serving")).Equal("status.digest", blob.Digest(first))
	if !r.Contains(host + "/team/tabs:v1 is " + image + ", its module " + blob.Digest(first)) {
		t.Errorf("pulled: %s", r.Body)
	}
	tellsOfImages(t, host, k, api, path)

	push(second)
	k.Must("annotate", "wasmmodule", "tabs", "--overwrite", "wasmgate.dev/retry=1")
	api.Eventually(path, func(r *harness.Reply) bool { return r.Str("status.digest") == blob.Digest(second) })

	away.Store(true)
	g.Terminate(t)
	g.Restart(t)
	api = g.API(t)
	api.Post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", parse(t, `{"apiVersion":"admissionregistration.k8s.io/v1",
		"kind":"ValidatingWebhookConfiguration","metadata":{"name":"tabs"},"webhooks":[{"name":"tabs.example.com","clientConfig":{"url":"wasm://tabs"},
		"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}]}]}`)).Want(201)
	harness.Eventually(t, "writes are judged", func() bool {
		r, err := api.Try("POST", configMaps("default")+"?dryRun=All", configMap(t, "default", "c", `{}`))
		return err == nil && r.Code == 403 && r.Contains(`ConfigMap c needs a label \"team\"`)
	})
}

// tellsOfImages shows the events of a pull, and which images are refused.
func tellsOfImages(t *testing.T, host string, k *harness.Runner, api *harness.API, path string) {
	t.Helper()
	api.Eventually(namespacePath+"/default/events", func(r *harness.Reply) bool {
		return r.Contains(`"PullSecretInvalid"`) && r.Contains(`"Pulled"`) && r.Contains(`"Serving"`)
	})
	if list := api.Get(namespacePath + "/default/events").Want(200); strings.Count(string(list.Body), `"reason":"PullSecretInvalid"`) != 1 || list.Contains("was not pulled yet") {
		t.Errorf("what conditions say alike is no single event: %s", list.Body)
	}
	for _, image := range []string{"tabs:v1", host + "/team/tabs", host + "/TEAM/tabs:v1", host + "/team/tabs@sha256:123"} {
		api.Merge(path, object{"spec": object{"source": object{"oci": object{"image": image}}}}).WantStatus(422, "Invalid", "spec.source.oci.image: Invalid value: "+strconv.Quote(image))
	}
	out := k.Must("describe", "wasmmodule", "tabs")
	for _, event := range []string{"Warning  PullSecretInvalid", "Normal   Pulled", "Normal   Serving"} {
		if !strings.Contains(out, event) {
			t.Errorf("described without %q:\n%s", event, out)
		}
	}
}
