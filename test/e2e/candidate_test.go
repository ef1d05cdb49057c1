package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// converter is a module that converts CronTabs; to v1 it does what body says.
func converter(t *testing.T, body string) (file string) {
	t.Helper()
	return goModule(t, `package main

import (
	"errors"

	"github.com/wasmgate/wasmgate/sdk"
)

var errBroken = errors.New("it cannot be done")

func init() {
	sdk.Convert("v1beta1", "v1", func(o *sdk.Object) error {
		host, _ := o.At("spec", "host").String()
		_ = host
		`+body+`
	})
	sdk.Convert("v1", "v1beta1", func(*sdk.Object) error { return nil })
}

func main() {}
`)
}

// goModule builds a program of one file as a module.
func goModule(t *testing.T, source string) (file string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "module.wasm")
	env := append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	harness.Shell(t, root, env, "go build -buildmode=c-shared -o "+file+" "+filepath.Join(dir, "main.go"))
	return file
}

// shadowed is a gateway with a module whose new revisions wait, of which the
// first serves, and with CronTabs that convert with it.
type shadowed struct {
	*harness.Gateway
	*cronTabs
	t *testing.T
}

func newShadowed(t *testing.T, first string, names ...string) shadowed {
	t.Helper()
	harness.SkipExternal(t)
	g := harness.Start(t, harness.Options{})
	api := g.API(t)
	newModule(t, api, "tabs", "timeout", "3s")
	api.Merge(modulePath+"/tabs", object{"spec": object{"rollout": "Shadow"}}).Want(200)
	mustContain(t, g.CLI(t, "module", "push", "tabs", first), "wasmmodule/tabs ready") // nothing to compare with
	s := shadowed{g, newWasmCronTabs(t, &g.Server, "tabs"), t}
	for _, name := range names {
		s.create(name)
	}
	return s
}

// fails runs a command that ends with an error, and returns what it prints.
func (s shadowed) fails(args ...string) string {
	s.t.Helper()
	out, err := s.TryCLI(s.t, args...)
	if err == nil {
		s.t.Fatalf("wasmgate %s succeeded:\n%s", strings.Join(args, " "), out)
	}
	return out
}

// does runs a command that has to print parts.
func (s shadowed) does(args string, parts ...string) string {
	s.t.Helper()
	out := s.CLI(s.t, strings.Fields("module "+args)...)
	mustContain(s.t, out, parts...)
	return out
}

// host compares what the first object says at v1.
func (s shadowed) host(want string) {
	s.t.Helper()
	s.API(s.t).Get(s.path("v1", "one")).Equal("spec.host", want)
}

func mustContain(t *testing.T, out string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("this lacks %q:\n%s", part, out)
		}
	}
}

// With spec.rollout: Shadow a new revision waits, is tried over live objects, and
// serves when it is promoted, with what it changes accepted.
func TestACandidateIsTriedBeforeItServes(t *testing.T) {
	t.Parallel()
	second := converter(t, `return o.At("spec", "host").SetString("new-" + host)`)
	third := converter(t, `if host == "two" { return errBroken }; return nil`)
	s := newShadowed(t, converter(t, `return nil`), "one", "two", "three")
	mustContain(t, s.fails("module", "promote", "tabs"), "no revision of wasmmodule/tabs waits")

	s.does("push tabs "+second, "it waits to be promoted, with: wasmgate module promote tabs")
	s.host("one")
	out := s.does("promote tabs --dry-run", "conversions: 6, different: 3, failed: 0", "crontabs."+s.group, "spec.host", "Changed   3", s.ns+"/one")
	if strings.Contains(out, "new-") {
		t.Errorf("the report quotes a value:\n%s", out)
	}
	mustContain(t, s.fails("module", "promote", "tabs"), "3 of 6 conversions come out otherwise, so wasmmodule/tabs is not promoted", "--accept-differences")
	waits := s.API(t).Get(modulePath + "/tabs").Str("status.candidate.revision")
	s.API(t).Merge(modulePath+"/tabs", object{"metadata": object{"annotations": object{"wasmgate.dev/promoted-revision": waits}}}).Want(200)
	r := s.API(t).Eventually(modulePath+"/tabs", func(r *harness.Reply) bool {
		return strings.Contains(condition(r.Object(), "Compiled").Str("message"), "it was promoted with 0 differences accepted, but there are 3")
	})
	if condition(r.Object(), "Compiled").Str("reason") != "AwaitingPromotion" {
		t.Errorf("it does not wait: %s", r.Body)
	}
	s.host("one")

	s.does("push tabs "+third, "it waits")
	mustContain(t, s.fails("module", "promote", "tabs", "--accept-differences"), "conversions: 6, different: 0, failed: 1", s.ns+"/two", "it cannot be done", "is not promoted")
	s.Terminate(t)
	s.Restart(t) // which keeps what served, not what waits
	s.host("one")
	s.API(t).Get(s.path("v1", "two")).Want(200)

	s.does("push tabs "+second, "it waits")
	s.does("promote tabs --accept-differences", "different: 3", "wasmmodule/tabs promoted: sha256:")
	s.host("new-one")
	if text := string(s.API(t).Get(modulePath + "/tabs").Want(200).Body); strings.Contains(text, `"candidate"`) {
		t.Errorf("something waits still: %s", text)
	}
	s.does("rollback tabs", "wasmmodule/tabs rolled back: sha256:")
	s.host("one")
}

// A promotion is about one trial: what was promoted once, and replaced since,
// waits again. And a way back begins at what serves, whatever waits.
func TestAPromotionIsSpentAndARollbackBeginsAtWhatServes(t *testing.T) {
	t.Parallel()
	bad := converter(t, `return o.At("spec", "host").SetString("bad-" + host)`)
	good := converter(t, `return o.At("spec", "host").SetString("good-" + host)`)
	s := newShadowed(t, converter(t, `return nil`), "one")
	rollout := func(how string) {
		s.API(t).Merge(modulePath+"/tabs", object{"spec": object{"rollout": how}}).Want(200)
	}
	s.does("push tabs "+bad, "it waits")
	s.does("promote tabs --accept-differences", "promoted")
	s.host("bad-one")
	rollout("Immediate")
	s.does("push tabs "+good, "ready")
	rollout("Shadow")
	s.does("push tabs "+bad, "it waits to be promoted")
	s.host("good-one")
	s.does("promote tabs --accept-differences", "promoted")
	s.host("bad-one")

	third := converter(t, `return o.At("spec", "host").SetString("third-" + host)`)
	out := s.does("push tabs "+third, "it waits to be promoted")
	waits := strings.TrimSuffix(strings.Fields(out)[2], ",")
	s.does("rollback tabs", "wasmmodule/tabs rolled back: sha256:", "; content "+waits+", which did not serve, was dropped")
	s.host("good-one")
	if text := string(s.API(t).Get(modulePath + "/tabs").Want(200).Body); strings.Contains(text, `"candidate"`) {
		t.Errorf("something waits still: %s", text)
	}
	s.does("push tabs "+third, "it waits")
	serves := s.API(t).Get(modulePath + "/tabs").Str("status.digest")
	s.does("rollback tabs "+serves, "wasmmodule/tabs keeps serving: "+serves+"; content "+waits+", which did not serve, was dropped")
	s.host("good-one")
}

// The report names everything that is lost, not only the first by name; and the
// trial of a revision that does not end does.
func TestAReportNamesWhatIsLost(t *testing.T) {
	t.Parallel()
	loses := converter(t, `o.At("spec", "host").Delete(); o.At("spec", "port").Delete(); return o.At("metadata", "annotations", "a.example.com/lost").SetString(host)`)
	loops := converter(t, `for {}`)
	s := newShadowed(t, converter(t, `return nil`), "one", "two", "three", "four")
	s.does("push tabs "+loses, "it waits")
	s.does("promote tabs --dry-run", "conversions: 8, different: 4, failed: 0",
		`metadata.annotations`, "Added    4", "spec.host", "Gone     4", "spec.port")

	s.does("push tabs "+loops, "it waits")
	mustContain(t, s.fails("module", "promote", "tabs", "--accept-differences"), "it was stopped after 3 calls in a row that did not end within their time", "DeadlineExceeded", "is not promoted")
	s.API(t).Eventually(modulePath+"/tabs", func(r *harness.Reply) bool {
		return strings.Contains(condition(r.Object(), "Compiled").Str("message"), "its trial: conversions: 3, different: 0, failed: 3; it was stopped after 3 calls in a row")
	})
}
