package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/wasmgate/wasmgate/test/harness"
)

// scenario is the main job, told with kubectl: a definition gets a second version
// and a converter, and what is stored moves to it.
type scenario struct {
	t     *testing.T
	k     *harness.Runner
	etcd  *clientv3.Client
	group string
	// conversion is the definition's spec.conversion from the second version on.
	conversion string
	// replies is everything the server said, without what differs in any two
	// runs.
	replies []string
}

// TestStory tells the same story with a Wasm module and with an HTTPS webhook:
// the manifests differ in one url, and the replies do not differ at all.
func TestStory(t *testing.T) {
	harness.SkipExternal(t)
	var replies [2][]string
	t.Run("CRD-29 CRD-32 WP-01 with a Wasm module", func(t *testing.T) {
		g := harness.Start(t, harness.Options{})
		s := newScenario(t, &g.Server, "example.com")
		file := filepath.Join(t.TempDir(), "crontab.wasm")
		if err := os.WriteFile(file, harness.Module(t, "../../examples/crontab/module"), 0o644); err != nil {
			t.Fatal(err)
		}
		s.conversion = `url: "wasm://crontab"`
		s.begin()
		g.CLI(t, "module", "push", "crontab", file)
		s.addVersion()
		s.migrate(g)
		replies[0] = s.replies
	})
	t.Run("CRD-29 CRD-32 with an HTTPS webhook", func(t *testing.T) {
		g := harness.Start(t, harness.Options{})
		s := newScenario(t, &g.Server, "example.com")
		s.useWebhook()
		s.begin()
		s.addVersion()
		s.migrate(g)
		replies[1] = s.replies
	})
	if t.Failed() {
		return
	}
	t.Run("WP-01 the replies are the same", func(t *testing.T) {
		for i, r := range replies[0] {
			if i >= len(replies[1]) || r != replies[1][i] {
				t.Fatalf("reply %d is, by module,\n%s\nand by webhook\n%s", i, r, replies[1][i])
			}
		}
	})
}

// TestStoryUntilMigration is the part of the story that any server of custom
// resources can tell.
func TestStoryUntilMigration(t *testing.T) {
	s := newScenario(t, harness.Shared(t), "s"+unique()+".example.com")
	s.useWebhook()
	t.Cleanup(func() { s.k.Must("delete", "crd", "crontabs."+s.group) })
	s.begin()
	s.addVersion()
}

func newScenario(t *testing.T, server *harness.Server, group string) *scenario {
	return &scenario{t: t, k: server.Kubectl(t), etcd: server.Etcd(t), group: group}
}

func (s *scenario) useWebhook() {
	hook := harness.NewWebhook(s.t)
	s.conversion = fmt.Sprintf("url: %s\n        caBundle: %s", hook.URL, base64.StdEncoding.EncodeToString(hook.CABundle))
}

// begin stores objects at v1beta1, the only version there is.
func (s *scenario) begin() {
	s.apply(storyV1beta1)
	s.k.Must("wait", "--for=condition=Established", "--timeout=60s", s.crd())
	for _, name := range []string{"first", "second"} {
		s.apply(storyObject("v1beta1", name, "hostPort: "+name+".example.com:8080"))
	}
	s.wantStored("first", "v1beta1", "second", "v1beta1")
	s.wantStoredVersions("v1beta1")
	s.wantField("v1beta1", "first", "hostPort", "first.example.com:8080")
}

// addVersion makes v1 the storage version, and reads and writes both.
func (s *scenario) addVersion() {
	s.apply(s.twoVersions())
	s.wantStoredVersions("v1beta1", "v1")
	s.wantStored("first", "v1beta1", "second", "v1beta1")

	harness.Eventually(s.t, "v1 is served", func() bool {
		_, _, err := s.k.Run("get", "crontabs.v1."+s.group)
		return err == nil
	})
	s.wantField("v1", "first", "host", "first.example.com")
	s.wantField("v1", "first", "port", "8080")
	s.wantField("v1", "first", "hostPort", "")
	s.wantField("v1beta1", "first", "hostPort", "first.example.com:8080")
	s.wantStored("first", "v1beta1", "second", "v1beta1") // CRD-26: reading rewrites nothing.

	s.apply(storyObject("v1", "third", "host: third.example.com\nport: \"80\""))
	s.wantStored("first", "v1beta1", "second", "v1beta1", "third", "v1")
	s.wantField("v1beta1", "third", "hostPort", "third.example.com:80")

	s.k.Must("patch", "crontabs.v1beta1."+s.group, "first", "--type=merge", "-p", `{"hostPort":"moved.example.com:81"}`)
	s.wantStored("first", "v1", "second", "v1beta1", "third", "v1")
	s.wantField("v1", "first", "host", "moved.example.com")

	// CRD-31: what may be stored cannot be dropped.
	refused := s.k.Fail("apply", "-f", s.manifest(s.v1Only()))
	if want := `status.storedVersions[0]: Invalid value: "v1beta1"`; !strings.Contains(refused, want) {
		s.t.Errorf("dropping v1beta1 is refused with %q, want %q", refused, want)
	}
	s.replies = append(s.replies, refused, s.k.Must("get", "crontabs."+s.group, "-o", "wide"))
}

// migrate rewrites what is stored, after which v1beta1 can go.
func (s *scenario) migrate(g *harness.Gateway) {
	if out := g.CLI(s.t, "migrate", "crontabs."+s.group, "--dry-run"); !strings.HasSuffix(out, "can be migrated (dry run): 3 objects converted to v1\n") {
		s.t.Errorf("tried: %s", out)
	}
	s.wantStored("second", "v1beta1")
	g.CLI(s.t, "migrate", "crontabs."+s.group)
	s.wantStored("first", "v1", "second", "v1", "third", "v1")
	s.wantStoredVersions("v1")
	s.wantField("v1beta1", "second", "hostPort", "second.example.com:8080")
	s.apply(s.v1Only())
	s.wantField("v1", "second", "port", "8080")
	s.replies = append(s.replies, s.k.Fail("get", "crontabs.v1beta1."+s.group))
}

func (s *scenario) crd() string { return "crd/crontabs." + s.group }

func (s *scenario) manifest(text string) string {
	s.t.Helper()
	return s.k.File("manifest.yaml", strings.ReplaceAll(text, "example.com/crontab-group", s.group))
}

func (s *scenario) apply(text string) {
	s.t.Helper()
	s.k.Must("apply", "-f", s.manifest(text))
}

// wantStored takes names and versions in turn.
func (s *scenario) wantStored(pairs ...string) {
	s.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		got := stored(s.t, s.etcd, "/registry/"+s.group+"/crontabs/default/"+pairs[i])
		if want := s.group + "/" + pairs[i+1]; got.Str("apiVersion") != want {
			s.t.Fatalf("%s is stored at %s, want %s: %v", pairs[i], got.Str("apiVersion"), want, got.object)
		}
	}
}

func (s *scenario) wantStoredVersions(versions ...string) {
	s.t.Helper()
	want := `["` + strings.Join(versions, `","`) + `"]`
	got := s.k.Must("get", s.crd(), "-o", "jsonpath={.status.storedVersions}")
	if got != want {
		s.t.Fatalf("storedVersions is %s, want %s", got, want)
	}
}

// wantField reads an object at a version, keeps the reply and checks a field.
func (s *scenario) wantField(version, name, field, want string) {
	s.t.Helper()
	out := s.k.Must("get", "crontabs."+version+"."+s.group, name, "-o", "json")
	o := parse(s.t, out)
	if got := o.Str(field); got != want || o.Str("apiVersion") != s.group+"/"+version {
		s.t.Fatalf("at %s %s has %s %q, want %q: %s", version, name, field, got, want, out)
	}
	s.replies = append(s.replies, varying.ReplaceAllString(out, `"$1": …`))
}

// varying is what differs in any two runs.
var varying = regexp.MustCompile(`"(uid|resourceVersion|creationTimestamp|time)": "[^"]*"`)

func storyObject(version, name, fields string) string {
	return "apiVersion: example.com/crontab-group/" + version + "\nkind: CronTab\nmetadata:\n  name: " + name + "\n  namespace: default\n" + fields + "\n"
}

const storyHead = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: crontabs.example.com/crontab-group
spec:
  group: example.com/crontab-group
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab}
`

const storyV1beta1 = storyHead + `  versions:
  - name: v1beta1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {hostPort: {type: string}}}
`

const storyV1 = `  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {host: {type: string}, port: {type: string}}}
    additionalPrinterColumns:
    - {name: Host, type: string, jsonPath: .host}
    - {name: Port, type: string, jsonPath: .port}
`

func (s *scenario) converted() string {
	return storyHead + `  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        ` + s.conversion + "\n"
}

func (s *scenario) twoVersions() string {
	before := storyV1beta1[len(storyHead):]
	return s.converted() + strings.Replace(before, "storage: true", "storage: false", 1) + storyV1
}

func (s *scenario) v1Only() string { return s.converted() + "  versions:\n" + storyV1 }
