// Package catalogtest owns what tests of served definitions share: a CronTab
// with two versions, and a converter between them that counts what it does.
//
// It must not know the catalog itself. Only tests import it.
package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/crd/object"
)

// The versions of the CronTab.
const (
	V1      = "v1"
	V1beta1 = "v1beta1"
)

// CronTabs is the CronTab's resource.
var CronTabs = schema.GroupResource{Group: "example.com", Resource: "crontabs"}

// CronTab is the definition, as YAML, stored at a version; terminating tells
// that it is going away.
func CronTab(storageVersion string, terminating bool) string {
	condition := map[bool]string{true: "True", false: "False"}[terminating]
	return fmt.Sprintf(cronTab, storageVersion == V1beta1, storageVersion == V1, condition)
}

const cronTab = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.example.com, uid: uid-crd}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, listKind: CronTabList}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1/"}}}
  versions:
  - name: v1beta1
    served: true
    storage: %t
    selectableFields: [{jsonPath: .hostPort}]
    schema: {openAPIV3Schema: {type: object, properties: {hostPort: {type: string}, spec: {type: object, properties: {replicas: {type: integer}}}}}}
  - name: v1
    served: true
    storage: %t
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    schema: {openAPIV3Schema: {type: object, properties: {host: {type: string}, port: {type: string, maxLength: 5}, spec: {type: object, properties: {replicas: {type: integer}}}, status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}}}}
status:
  acceptedNames: {plural: crontabs, singular: crontab, kind: CronTab, listKind: CronTabList}
  storedVersions: [v1]
  conditions:
  - {type: Established, status: "True"}
  - {type: Terminating, status: "%s"}
`

// Turning is a converter between hostPort and host and port, that counts.
// Its zero value is ready.
type Turning struct {
	// Revision is the converter's epoch, and Calls how often it was called.
	Revision atomic.Uint64
	Calls    atomic.Int64

	// During, when set, is called by every call. It is set while nobody calls.
	During func()
	// Tidy leaves nothing of the version before. It is set while nobody calls.
	Tidy bool

	fail   atomic.Pointer[error]
	refuse atomic.Value
	hold   atomic.Pointer[chan struct{}]

	mu     sync.Mutex
	runs   map[string]int
	called chan struct{} // closed by the next call; nil when nobody waits
}

// Epoch implements [conversion.Converter].
func (c *Turning) Epoch() uint64 { return c.Revision.Load() }

// Runs is how often each object was converted, by name, resourceVersion and
// desired version ("one@7 example.com/v1").
func (c *Turning) Runs() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.runs)
}

// unfit is the verdict on an object.
type unfit string

func (u unfit) Error() string { return string(u) + " is not fit to be converted" }

// Verdict tells that it is about the object.
func (u unfit) Verdict() bool { return true }

// Convert implements [conversion.Converter]. It fails at objects whose name begins with
// "bad", and refuses those with "unfit".
func (c *Turning) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	c.begin()
	if h := c.hold.Load(); h != nil {
		select {
		case <-*h:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if c.During != nil {
		c.During()
	}
	if err := c.fail.Load(); err != nil {
		return nil, *err
	}
	if v, _ := c.refuse.Load().(string); v != "" && strings.HasSuffix(desired, "/"+v) {
		return nil, fmt.Errorf("not to %s", desired)
	}
	out := make([][]byte, len(objects))
	for i, o := range objects {
		tree, _, err := object.Parse(o)
		if err != nil {
			return nil, err
		}
		u := unstructured.Unstructured{Object: tree}
		if strings.HasPrefix(u.GetName(), "bad") {
			return nil, fmt.Errorf("%s cannot be converted", u.GetName())
		}
		if strings.HasPrefix(u.GetName(), "unfit") {
			return nil, unfit(u.GetName())
		}
		c.mu.Lock()
		if c.runs == nil {
			c.runs = map[string]int{}
		}
		c.runs[u.GetName()+"@"+u.GetResourceVersion()+" "+desired]++
		c.mu.Unlock()
		if tree["apiVersion"] = desired; desired == "example.com/v1" {
			host, port, _ := strings.Cut(fmt.Sprint(tree["hostPort"]), ":")
			tree["host"], tree["port"] = host, port
		} else {
			tree["hostPort"] = fmt.Sprintf("%v:%v", tree["host"], tree["port"])
		}
		if c.Tidy {
			c.tidy(tree, desired)
		}
		if out[i], err = object.Encode(tree); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// begin counts a call.
func (c *Turning) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Calls.Add(1)
	if c.called != nil {
		close(c.called)
		c.called = nil
	}
}

// Await waits until it was called so often.
func (c *Turning) Await(calls int64) {
	for {
		c.mu.Lock()
		if c.Calls.Load() >= calls {
			c.mu.Unlock()
			return
		}
		if c.called == nil {
			c.called = make(chan struct{})
		}
		called := c.called
		c.mu.Unlock()
		<-called
	}
}

// tidy removes the fields of the other version.
func (c *Turning) tidy(tree map[string]any, desired string) {
	gone := []string{"host", "port"}
	if desired == "example.com/v1" {
		gone = []string{"hostPort"}
	}
	for _, name := range gone {
		delete(tree, name)
	}
}

// BreakDown lets all calls fail with the text until Repair.
func (c *Turning) BreakDown(text string) { c.Fail(errors.New(text)) }

// Fail lets all calls fail with an error until Repair.
func (c *Turning) Fail(err error) { c.fail.Store(&err) }

// Repair ends BreakDown.
func (c *Turning) Repair() { c.fail.Store(nil) }

// Refuse lets calls fail that ask for a version; "" for none.
func (c *Turning) Refuse(version string) { c.refuse.Store(version) }

// Block lets all calls wait until the function it returns is called.
func (c *Turning) Block() (release func()) {
	h := make(chan struct{})
	c.hold.Store(&h)
	return sync.OnceFunc(func() { c.hold.Store(nil); close(h) })
}

// Tab is a CronTab's JSON; more are JSON fields of its metadata.
func Tab(version, name, host, port string, more ...string) string {
	fields := fmt.Sprintf(`"host":%q,"port":%q`, host, port)
	if version == V1beta1 {
		fields = fmt.Sprintf(`"hostPort":%q`, host+":"+port)
	}
	meta := append([]string{fmt.Sprintf(`"name":%q`, name)}, more...)
	return fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"CronTab","metadata":{%s},%s}`, version, strings.Join(meta, ","), fields)
}

// Compile is the compiler that a gateway has.
func Compile(stored []byte, _ *crd.Definition) (*crd.Definition, error) {
	c, err := definition.FromStored(stored)
	if err != nil || !definition.Served(c) {
		return nil, err
	}
	return custom.Compile(c)
}
