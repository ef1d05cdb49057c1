package bundles

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/pki/kubeconfig"
)

// Annotation is what objects have that want the bundle, where no selector is given.
const Annotation = "wasmgate.dev/inject-ca"

// Manager is whose the fields are that are written here.
const Manager = "wasmgate-webhook"

// again is how often everything is looked at, for a bundle that has changed.
const again = 30 * time.Second

// Config is what an [Injector] needs.
type Config struct {
	// Kubeconfig is the file that says where the API is; empty as kubectl finds it.
	Kubeconfig string
	// Select is a selector of labels, or [options.Annotated].
	Select string
	// Trust is the bundle.
	Trust func() ([]byte, error)
	// Covers tells whether the certificate is one for a host.
	Covers func(host string) bool
	// Paths begin those of the server's webhooks.
	Paths []string
	// Done is told of every bundle that was to be written.
	Done func(resource string, err error)
	Log  zerolog.Logger
}

// Injector writes bundles.
type Injector struct {
	Config
	client  dynamic.Interface
	told    map[string]string // by object, what was logged of it last; of one goroutine
	waiting workqueue.TypedRateLimitingInterface[item]
}

// item is an object.
type item struct {
	resource schema.GroupVersionResource
	name     string
}

var resources = []schema.GroupVersionResource{
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
	{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"},
}

// New finds the API server; nothing is asked of it yet.
func New(c Config) (*Injector, error) {
	cfg, err := clientConfig(c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--inject: %w", err)
	}
	cfg.UserAgent = Manager
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("--inject: %w", err)
	}
	return &Injector{Config: c, client: client, told: map[string]string{}}, nil
}

func clientConfig(file string) (*rest.Config, error) {
	if file == "" && os.Getenv("KUBECONFIG") == "" {
		if cfg, err := rest.InClusterConfig(); !errors.Is(err, rest.ErrNotInCluster) {
			return cfg, err
		}
	}
	cfg, _, err := kubeconfig.Load(file, nil)
	return cfg, err
}

// Run writes bundles until ctx ends, also into objects that come later.
func (i *Injector) Run(ctx context.Context) error {
	i.waiting = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[item](100*time.Millisecond, time.Minute))
	defer i.waiting.ShutDown()
	narrow := func(o *metav1.ListOptions) {
		if i.Select != options.Annotated {
			o.LabelSelector = i.Select
		}
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(i.client, again, metav1.NamespaceAll, narrow)
	listers := map[schema.GroupVersionResource]cache.GenericLister{}
	for _, r := range resources {
		informer := factory.ForResource(r)
		add := func(obj any) {
			if o, ok := obj.(*unstructured.Unstructured); ok {
				i.waiting.Add(item{r, o.GetName()})
			}
		}
		_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }})
		if err != nil {
			return err
		}
		listers[r] = informer.Lister()
	}
	factory.Start(ctx.Done())
	stop := context.AfterFunc(ctx, i.waiting.ShutDown)
	defer stop()
	for {
		next, ended := i.waiting.Get()
		if ended {
			factory.Shutdown()
			return nil
		}
		i.one(ctx, next, listers[next.resource])
	}
}

// one looks at an object, and again later if that fails.
func (i *Injector) one(ctx context.Context, of item, lister cache.GenericLister) {
	defer i.waiting.Done(of)
	obj, err := lister.Get(of.name)
	if err != nil { // it is gone
		i.waiting.Forget(of)
		return
	}
	read := obj.(*unstructured.Unstructured)
	wrote, err := i.inject(ctx, of, read)
	switch {
	case err == nil, apierrors.IsNotFound(err):
		i.waiting.Forget(of)
	case apierrors.IsConflict(err), apierrors.IsInvalid(err) && i.changed(ctx, of, read): // and comes again
		i.waiting.AddRateLimited(of)
		return
	default:
		i.waiting.AddRateLimited(of)
	}
	if !wrote {
		return
	}
	i.Done(of.resource.Resource, err)
	if err == nil {
		i.Log.Info().Str("resource", of.resource.Resource).Str("name", of.name).Msg("caBundle written")
		return
	}
	i.tell(of, err.Error())
}

// changed tells whether an object is another one than was read: a patch whose test fails is
// refused as one is that would make the object invalid, which stays so.
func (i *Injector) changed(ctx context.Context, of item, read *unstructured.Unstructured) bool {
	live, err := i.client.Resource(of.resource).Get(ctx, of.name, metav1.GetOptions{})
	if err != nil {
		return apierrors.IsNotFound(err)
	}
	return live.GetResourceVersion() != read.GetResourceVersion()
}

// tell logs what keeps a bundle from being written, once.
func (i *Injector) tell(of item, why string) {
	key := of.resource.Resource + "/" + of.name
	if i.told[key] != why {
		i.told[key] = why
		i.Log.Warn().Str("resource", of.resource.Resource).Str("name", of.name).Str("reason", why).Msg("caBundle is not written")
	}
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// inject writes the bundle where it is missing; wrote tells that it tried.
func (i *Injector) inject(ctx context.Context, of item, obj *unstructured.Unstructured) (wrote bool, err error) {
	if i.Select == options.Annotated && obj.GetAnnotations()[Annotation] != "true" {
		return false, nil
	}
	bundle, err := i.Trust()
	if err != nil {
		return true, err
	}
	want := base64.StdEncoding.EncodeToString(bundle)
	// What was read is what is written: nobody's change in between is lost.
	patch := []operation{{"test", "/metadata/resourceVersion", obj.GetResourceVersion()}}
	for _, c := range clients(obj) {
		has, _ := c.config["caBundle"].(string)
		if !i.names(c.config) || has == want {
			continue
		}
		if by := holder(obj, c.owned, has); by != "" {
			i.tell(of, fmt.Sprintf("that of %s is %s's", c.path, by))
			continue
		}
		patch = append(patch, operation{"add", c.path + "/caBundle", want})
	}
	if len(patch) == 1 {
		return false, nil
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return true, err
	}
	_, err = i.client.Resource(of.resource).Patch(ctx, of.name, types.JSONPatchType, body, metav1.PatchOptions{FieldManager: Manager})
	return true, err
}

// client is a clientConfig of an object.
type client struct {
	config map[string]any
	path   string   // as JSON pointer
	owned  []string // the way to it in managed fields
}

// clients are the clientConfigs of a definition or configuration.
func clients(obj *unstructured.Unstructured) (all []client) {
	if c, ok, _ := unstructured.NestedMap(obj.Object, "spec", "conversion", "webhook", "clientConfig"); ok {
		all = append(all, client{c, "/spec/conversion/webhook/clientConfig", []string{"f:spec", "f:conversion", "f:webhook", "f:clientConfig", "f:caBundle"}})
	}
	hooks, _, _ := unstructured.NestedSlice(obj.Object, "webhooks")
	for n, h := range hooks {
		hook, _ := h.(map[string]any)
		c, ok := hook["clientConfig"].(map[string]any)
		if !ok {
			continue
		}
		key, _ := json.Marshal(map[string]any{"name": hook["name"]}) // of a string
		all = append(all, client{c, fmt.Sprintf("/webhooks/%d/clientConfig", n), []string{"f:webhooks", "k:" + string(key), "f:clientConfig", "f:caBundle"}})
	}
	return all
}

// names tells whether a clientConfig is that of this server.
func (i *Injector) names(c map[string]any) bool {
	host, path := "", ""
	if service, ok := c["service"].(map[string]any); ok {
		name, _ := service["name"].(string)
		namespace, _ := service["namespace"].(string)
		path, _ = service["path"].(string)
		host = name + "." + namespace + ".svc"
	} else if text, ok := c["url"].(string); ok {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" {
			return false
		}
		host, path = u.Hostname(), u.Path
	}
	for _, begin := range i.Paths {
		if strings.HasPrefix(path, begin) {
			return i.Covers(host)
		}
	}
	return false
}
