package image_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/image"
)

// registry is a Puller that has what images says, and fails for the rest.
type registry struct {
	mu     sync.Mutex
	images map[string]string // guarded by mu: digests of modules
	fails  *image.Refusal    // guarded by mu
	asked  []string          // guarded by mu: image, and login where there was one
	times  []time.Time       // guarded by mu
	// pull, if not nil, is asked before an image is looked for.
	pull func(ref string) *image.Refusal
	// meanwhile is what happens while an image is on its way; nil for nothing.
	meanwhile func()
}

func (r *registry) Pull(_ context.Context, _, ref string, login []byte) (image.Kept, error) {
	if r.meanwhile != nil {
		r.meanwhile()
	}
	var refusal *image.Refusal
	if r.pull != nil {
		refusal = r.pull(ref)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.times = append(r.asked, strings.TrimSpace(ref+" "+string(login))), append(r.times, time.Now())
	if refusal != nil {
		return image.Kept{}, refusal
	}
	digest, ok := r.images[ref]
	if !ok {
		return image.Kept{}, r.fails
	}
	return image.Kept{Manifest: "sha256:manifest-of-" + digest, Digest: "sha256:" + digest}, nil
}

func (r *registry) has(ref, digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.images[ref] = digest
}

func (r *registry) seen() ([]string, []time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked, r.times
}

// world is a gateway with one module whose source is given, in a bubble where
// time passes when everything waits.
type world struct {
	*controllertest.Objects
	*registry
}

func in(t *testing.T, source map[string]any, test func(t *testing.T, w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world{controllertest.New(), &registry{images: map[string]string{}, fails: &image.Refusal{Reason: "ImageNotFound", Message: "no such tag"}}}
		controllertest.MustCreate(t, w.Objects, gvr.Modules, map[string]any{
			"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "tabs"},
			"spec": map[string]any{"source": source},
		})
		stop := controllertest.Start(t, w.Objects, image.New(w.Objects, w.registry))
		defer stop()
		test(t, w)
	})
}

func oci(ref string) map[string]any { return map[string]any{"oci": map[string]any{"image": ref}} }

// expect waits for everything to come to rest, and compares the condition with
// "STATUS REASON MESSAGE".
func (w world) expect(t *testing.T, want string) *unstructured.Unstructured {
	t.Helper()
	synctest.Wait()
	obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs")
	status, reason, message := controllertest.Condition(obj, module.Pulled)
	if got := strings.TrimSpace(status + " " + reason + " " + message); got != want {
		t.Errorf("the condition is %q, want %q", got, want)
	}
	return obj
}

func (w world) change(t *testing.T, change func(*unstructured.Unstructured)) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", change)
}

func (w world) retry(t *testing.T, attempt string) {
	t.Helper()
	w.change(t, func(obj *unstructured.Unstructured) {
		annotations := obj.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[module.RetryAnnotation] = attempt
		obj.SetAnnotations(annotations)
	})
}

func TestAnImageIsPulledOnce(t *testing.T) {
	in(t, oci("r/tabs:v1"), func(t *testing.T, w world) {
		w.expect(t, "False ImageNotFound r/tabs:v1: no such tag; it is tried again")
		w.has("r/tabs:v1", "one")
		<-time.After(3 * time.Second)
		obj := w.expect(t, "True Pulled r/tabs:v1 is sha256:manifest-of-one, its module sha256:one")
		if pulled, ok := module.PulledOf(obj); !ok || pulled.Digest != "sha256:one" || pulled.Image != "r/tabs:v1" {
			t.Errorf("noted: %+v, %v", pulled, ok)
		}

		w.has("r/tabs:v1", "two") // the tag moves
		<-time.After(time.Hour)
		w.expect(t, "True Pulled r/tabs:v1 is sha256:manifest-of-one, its module sha256:one")
		w.retry(t, "1")
		w.expect(t, "True Pulled r/tabs:v1 is sha256:manifest-of-two, its module sha256:two")
		w.retry(t, "1")
		w.expect(t, "True Pulled r/tabs:v1 is sha256:manifest-of-two, its module sha256:two")
		if asked, _ := w.seen(); len(asked) != 3 {
			t.Errorf("asked for %q, want three times", asked)
		}
	})
}

// What came is not fetched again because somebody wrote the object meanwhile, or
// because what came could not be noted at once. After a while the store may not
// have it any more.
func TestAnImageIsPulledOnceDespiteOtherWrites(t *testing.T) {
	in(t, map[string]any{"upload": map[string]any{}}, func(t *testing.T, w world) {
		w.has("r/tabs:v1", "one")
		var away atomic.Bool
		w.meanwhile = sync.OnceFunc(func() {
			w.change(t, func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"changed": "meanwhile"}) })
			away.Store(true)
		})
		w.Fail(func(op string, _ controller.Key) error {
			if op == "update/status" && away.Load() {
				return apierrors.NewServiceUnavailable("the store is away")
			}
			return nil
		})
		w.change(t, func(obj *unstructured.Unstructured) {
			obj.Object["spec"] = map[string]any{"source": oci("r/tabs:v1")}
		})
		<-time.After(3 * time.Minute)
		if asked, _ := w.seen(); len(asked) != 1 {
			t.Errorf("asked for %q, want once", asked)
		}
		<-time.After(5 * time.Minute)
		if asked, _ := w.seen(); len(asked) != 2 {
			t.Errorf("asked for %q, want twice", asked)
		}
		away.Store(false)
		<-time.After(time.Minute)
		w.expect(t, "True Pulled r/tabs:v1 is sha256:manifest-of-one, its module sha256:one")
		if asked, _ := w.seen(); len(asked) != 2 {
			t.Errorf("asked for %q, want twice", asked)
		}
	})
}

// What failed is tried again with a growing delay; what can never be used is not.
func TestWhatFailedIsTriedAgain(t *testing.T) {
	in(t, oci("r/tabs:v1"), func(t *testing.T, w world) {
		<-time.After(time.Minute)
		w.expect(t, "False ImageNotFound r/tabs:v1: no such tag; it is tried again")
		_, times := w.seen()
		var delays []string
		for i := 1; i < len(times); i++ {
			delays = append(delays, times[i].Sub(times[i-1]).String())
		}
		if got := fmt.Sprint(delays); got != "[2s 4s 8s 16s]" {
			t.Errorf("delays %s", got)
		}
	})
	in(t, oci("r/tabs:v1"), func(t *testing.T, w world) {
		w.mu.Lock()
		w.fails = &image.Refusal{Reason: "NotAModule", Message: "r/tabs:v1: it has no layers", Final: true} // as registries say it
		w.mu.Unlock()
		<-time.After(time.Hour)
		w.expect(t, "False NotAModule r/tabs:v1: it has no layers")
		before, _ := w.seen()
		<-time.After(time.Hour)
		if asked, _ := w.seen(); len(asked) != len(before) {
			t.Errorf("asked again for what is final: %q", asked)
		}
		w.change(t, func(obj *unstructured.Unstructured) {
			if err := unstructured.SetNestedMap(obj.Object, oci("r/tabs:v2"), "spec", "source"); err != nil {
				t.Error(err)
			}
		})
		w.expect(t, "False NotAModule r/tabs:v2: r/tabs:v1: it has no layers") // which is another one
	})
}

// Registries that send nothing hold up each other, and those that answer only
// until that is known.
func TestSilentRegistriesHoldUpEachOther(t *testing.T) {
	in(t, map[string]any{"upload": map[string]any{}}, func(t *testing.T, w world) {
		add := func(name, ref string) {
			controllertest.MustCreate(t, w.Objects, gvr.Modules, map[string]any{
				"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": name}, "spec": map[string]any{"source": oci(ref)},
			})
		}
		var asking, most atomic.Int32
		w.pull = func(ref string) *image.Refusal {
			if !strings.HasPrefix(ref, "silent") {
				return nil
			}
			most.Store(max(most.Load(), asking.Add(1)))
			defer asking.Add(-1)
			<-time.After(30 * time.Second)
			return &image.Refusal{Reason: "RegistrySilent", Message: "it sent nothing", Slow: true}
		}
		for i := range 6 {
			add(fmt.Sprint("silent-", i), fmt.Sprintf("silent-%d/tabs:v1", i))
		}
		<-time.After(2 * time.Minute) // all are known
		most.Store(0)
		for i := range 5 {
			ref := fmt.Sprintf("good/tabs:v%d", i)
			w.has(ref, "one")
			add(fmt.Sprint("good-", i), ref)
			synctest.Wait() // time does not pass
			obj := controllertest.MustGet(t, w.Objects, gvr.Modules, "", fmt.Sprint("good-", i))
			if _, ok := module.PulledOf(obj); !ok {
				t.Errorf("image %d waits for others", i)
			}
			<-time.After(7 * time.Second)
		}
		for i := range 6 { // these never ask, and tell nothing of a registry
			source := oci(fmt.Sprintf("silent-%d/tabs:v1", i))
			source["oci"].(map[string]any)["pullSecret"] = map[string]any{"namespace": "n", "name": "absent"}
			controllertest.MustCreate(t, w.Objects, gvr.Modules, map[string]any{
				"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": fmt.Sprint("secret-", i)},
				"spec": map[string]any{"source": source},
			})
		}
		<-time.After(20 * time.Minute)
		if n := most.Load(); n != 1 {
			t.Errorf("%d silent registries were asked at a time", n)
		}
		asked, _ := w.seen()
		for i := range 6 {
			if ref := fmt.Sprintf("silent-%d/tabs:v1", i); strings.Count(strings.Join(asked, " "), ref) < 4 {
				t.Errorf("%s was not asked any more: %q", ref, asked)
			}
		}
	})
}

func TestTheSecretIsShownToThePuller(t *testing.T) {
	source := oci("r/tabs:v1")
	source["oci"].(map[string]any)["pullSecret"] = map[string]any{"namespace": "n", "name": "s"}
	for name, test := range map[string]struct{ secret, login, want, asked string }{
		"absent":   {"", "", "False PullSecretInvalid r/tabs:v1: secret n/s does not exist; it is tried again", "[]"},
		"other":    {`Opaque`, "the login", `False PullSecretInvalid r/tabs:v1: secret n/s has the type "Opaque", not kubernetes.io/dockerconfigjson; it is tried again`, "[]"},
		"empty":    {"kubernetes.io/dockerconfigjson", "", "False PullSecretInvalid r/tabs:v1: secret n/s has no .dockerconfigjson; it is tried again", "[]"},
		"as it is": {"kubernetes.io/dockerconfigjson", "the login", "True Pulled r/tabs:v1 is sha256:manifest-of-one, its module sha256:one", "[r/tabs:v1 the login]"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, source, func(t *testing.T, w world) {
				synctest.Wait()
				if test.secret != "" {
					controllertest.MustCreate(t, w.Objects, gvr.Namespaces, controllertest.NamespaceTree("n"))
					controllertest.MustCreate(t, w.Objects, gvr.Secrets, map[string]any{
						"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "n", "name": "s"}, "type": test.secret,
						"data": map[string]any{".dockerconfigjson": base64.StdEncoding.EncodeToString([]byte(test.login))},
					})
				}
				w.has("r/tabs:v1", "one")
				<-time.After(time.Minute)
				w.expect(t, test.want)
				if asked, _ := w.seen(); fmt.Sprint(asked) != test.asked {
					t.Errorf("asked %q, want %s", asked, test.asked)
				}
			})
		})
	}
}

// Another Secret is tried at once, however long the next try would be away, and
// whether or not there was to be one.
func TestAnotherSecretIsTriedAtOnce(t *testing.T) {
	named := func(secret string) map[string]any {
		source := oci("r/tabs:v1")
		source["oci"].(map[string]any)["pullSecret"] = map[string]any{"namespace": "n", "name": secret}
		return source
	}
	for name, first := range map[string]map[string]any{"after one that is absent": named("absent"), "after none": oci("r/tabs:v1")} {
		t.Run(name, func(t *testing.T) {
			in(t, first, func(t *testing.T, w world) {
				w.mu.Lock()
				w.fails = &image.Refusal{Reason: "NotAModule", Message: "it has no layers", Final: true}
				w.mu.Unlock()
				<-time.After(time.Hour)
				controllertest.MustCreate(t, w.Objects, gvr.Namespaces, controllertest.NamespaceTree("n"))
				controllertest.MustCreate(t, w.Objects, gvr.Secrets, map[string]any{
					"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"namespace": "n", "name": "s"}, "type": "kubernetes.io/dockerconfigjson",
					"data": map[string]any{".dockerconfigjson": base64.StdEncoding.EncodeToString([]byte("the login"))},
				})
				w.has("r/tabs:v1", "one")
				w.change(t, func(obj *unstructured.Unstructured) {
					obj.Object["spec"] = map[string]any{"source": named("s")}
				})
				w.expect(t, "True Pulled r/tabs:v1 is sha256:manifest-of-one, its module sha256:one")
				if asked, _ := w.seen(); len(asked) == 0 || asked[len(asked)-1] != "r/tabs:v1 the login" {
					t.Errorf("asked %q", asked)
				}
			})
		})
	}
}

// A module that comes from elsewhere has no such condition, nor one that changed
// to that.
func TestOtherSourcesAreLeftAlone(t *testing.T) {
	in(t, map[string]any{"upload": map[string]any{}}, func(t *testing.T, w world) {
		w.expect(t, "")
	})
	in(t, oci("r/tabs:v1"), func(t *testing.T, w world) {
		w.expect(t, "False ImageNotFound r/tabs:v1: no such tag; it is tried again")
		w.change(t, func(obj *unstructured.Unstructured) {
			if err := unstructured.SetNestedMap(obj.Object, map[string]any{"upload": map[string]any{}}, "spec", "source"); err != nil {
				t.Error(err)
			}
		})
		w.expect(t, "")
		before, _ := w.seen()
		<-time.After(time.Hour)
		if asked, _ := w.seen(); len(asked) != len(before) {
			t.Errorf("asked for %q", asked)
		}
	})
}

// What the policies of trust refused is tried again at once when they change, and nothing
// else is.
func TestAChangeOfTrustIsATryAtOnce(t *testing.T) {
	in(t, oci("r/tabs:v1"), func(t *testing.T, w world) {
		trust := func(name string) {
			controllertest.MustCreate(t, w.Objects, gvr.Trusts, map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "ModuleTrust", "metadata": map[string]any{"name": name}, "spec": map[string]any{}})
		}
		tries := func() int {
			asked, _ := w.seen()
			return len(asked)
		}
		w.expect(t, "False ImageNotFound r/tabs:v1: no such tag; it is tried again")
		before := tries()
		trust("one")
		w.expect(t, "False ImageNotFound r/tabs:v1: no such tag; it is tried again")
		if n := tries(); n != before {
			t.Errorf("what is not there was asked for %d times more", n-before)
		}
		w.mu.Lock()
		w.fails = &image.Refusal{Reason: "Unsigned", Message: "it carries no signature", Distrusted: true}
		w.mu.Unlock()
		<-time.After(20 * time.Minute)
		w.expect(t, "False Unsigned r/tabs:v1: it carries no signature; it is tried again")
		w.has("r/tabs:v1", "one")
		w.expect(t, "False Unsigned r/tabs:v1: it carries no signature; it is tried again")
		trust("two")
		w.expect(t, "True Pulled r/tabs:v1 is sha256:manifest-of-one, its module sha256:one")
	})
}
