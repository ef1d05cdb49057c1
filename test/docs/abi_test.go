package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/test/harness"
)

// TestABIDoc_WP01 types the commands of docs/abi.md, which build the CronTab
// conversion in other languages than Go, and converts with what they make.
func TestABIDoc_WP01(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "abi.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := indented(string(text))
	if len(blocks) != 2 {
		t.Fatalf("docs/abi.md has %d blocks of commands", len(blocks))
	}
	g := harness.Start(t, harness.Options{})
	for i, language := range []string{"rust", "assemblyscript"} {
		t.Run("WP-01 "+language, func(t *testing.T) {
			t.Parallel()
			env, dir, sdk := os.Environ(), t.TempDir(), filepath.Join("sdk", language)
			place := filepath.Join("examples", language)
			if language == "rust" {
				env = plugintest.Cargo(t)
			} else {
				plugintest.NodeModules(t, filepath.Join(dir, place), filepath.Join(dir, sdk))
			}
			plugintest.Sources(t, dir, sdk, place)
			link(t, g.Binary, filepath.Join(dir, "wasmgate"))
			env = append(env, "KUBECONFIG="+g.Kubeconfig)
			typed := strings.NewReplacer("npm ci && ", "", "wasmgate module", "./wasmgate module").Replace(blocks[i])
			harness.Shell(t, dir, env, typed)
			convertsCronTabs(t, g, "crontab-"+language)
		})
	}
}

// convertsCronTabs has a module convert objects with what JSON libraries get
// wrong, to another version and back.
func convertsCronTabs(t *testing.T, g *harness.Gateway, module string) {
	api, group := g.API(t), strings.TrimPrefix(module, "crontab-")+".example.com"
	text, err := os.ReadFile(filepath.Join(root, "examples", "crontab", "crd-v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := strings.NewReplacer("example.com", group, "wasm://crontab", "wasm://"+module,
		"openAPIV3Schema:\n", "openAPIV3Schema:\n        x-kubernetes-preserve-unknown-fields: true\n").Replace(string(text))
	api.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, "Content-Type", "application/yaml").Want(201)
	at := func(version string) string {
		return "/apis/" + group + "/" + version + "/namespaces/default/crontabs"
	}
	api.Eventually(at("v1beta1"), func(r *harness.Reply) bool { return r.Code == 200 })
	rest := `"big":9007199254740993,"deep":{"list":[null,true,-1.5,{"":[]}],"text":"\u0001 \"\\\" / \n ☂ 😀"}`
	body := func(version, fields string) string {
		return fmt.Sprintf(`{"apiVersion":"%s/%s","kind":"CronTab","metadata":{"name":"a","annotations":{"json":"{\"a\":\"\\\"b\\\\\"}"}},%s,%s}`, group, version, fields, rest)
	}
	created := api.Post(at("v1beta1"), body("v1beta1", `"hostPort":"[::1]:80"`)).Want(201)
	for version, fields := range map[string]string{"v1beta1": `"hostPort":"[::1]:80"`, "v1": `"host":"[::1]","port":"80"`} {
		want, got := decoded(t, []byte(body(version, fields))), decoded(t, api.Get(at(version)+"/a").Want(200).Body)
		want["metadata"] = decoded(t, created.Body)["metadata"]
		if !reflect.DeepEqual(got, want) {
			t.Errorf("at %s it is\n%v\nwant\n%v", version, got, want)
		}
	}
	api.Post(at("v1beta1"), strings.Replace(body("v1beta1", `"hostPort":"none"`), `"name":"a"`, `"name":"b"`, 1)).
		WantStatus(500, "", "hostPort could not be parsed into a separate host and port")
}

// decoded decodes JSON, and numbers as they are written.
func decoded(t *testing.T, text []byte) (o map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}

func link(t *testing.T, target, at string) {
	t.Helper()
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}
