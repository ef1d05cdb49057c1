package extend

import (
	"context"
	"reflect"
	"strconv"
	"time"

	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/wasmgate/wasmgate/crd/object"
)

// prepareVolume notes when a volume entered its first phase.
func prepareVolume(_ context.Context, obj map[string]any) {
	object.Ensure(obj, "status")["lastPhaseTransitionTime"] = time.Now().UTC().Format(time.RFC3339)
}

// notePhase notes when a volume entered another phase, unless the controller of
// volumes says so, and keeps the time of one that stays.
func notePhase(subresource string, obj, old map[string]any) {
	if subresource != "status" {
		return
	}
	const since = "lastPhaseTransitionTime"
	status, was := object.Ensure(obj, "status"), object.Child(old, "status")
	switch same := object.TextAt(status, "phase") == object.TextAt(was, "phase"); {
	case same && status[since] == nil:
		object.Keep(status, was, since)
	case !same && (status[since] == nil || status[since] == was[since]):
		status[since] = time.Now().UTC().Format(time.RFC3339)
	}
}

// templateGeneration counts the templates that a daemon set had; controllers
// of long ago read it.
const templateGeneration = "deprecated.daemonset.template.generation"

// countNoTemplate has who sends a daemon set own the count, sent or not, as clients
// of kube-apiserver do. Before anything is counted it is 0.
func countNoTemplate(obj map[string]any) {
	if object.TextAt(obj, "metadata", "annotations", templateGeneration) == "" {
		setTemplateGeneration(obj, 0)
	}
}

func prepareDaemonSet(_ context.Context, obj map[string]any) { setTemplateGeneration(obj, 1) }

func countTemplate(_ string, obj, old map[string]any) {
	n, _ := strconv.Atoi(object.TextAt(old, "metadata", "annotations", templateGeneration))
	if !reflect.DeepEqual(object.Child(obj, "spec")["template"], object.Child(old, "spec")["template"]) {
		n++
	}
	setTemplateGeneration(obj, max(n, 1))
}

func setTemplateGeneration(obj map[string]any, n int) {
	object.Ensure(object.Ensure(obj, "metadata"), "annotations")[templateGeneration] = strconv.Itoa(n)
}

// prepareSigningRequest notes who asks, whatever the request says.
func prepareSigningRequest(ctx context.Context, obj map[string]any) {
	spec := object.Ensure(obj, "spec")
	for _, name := range []string{"username", "uid", "groups", "extra"} {
		delete(spec, name)
	}
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return
	}
	spec["username"] = user.GetName()
	if uid := user.GetUID(); uid != "" {
		spec["uid"] = uid
	}
	if groups := user.GetGroups(); len(groups) > 0 {
		list := make([]any, len(groups))
		for i, g := range groups {
			list[i] = g
		}
		spec["groups"] = list
	}
	extra := map[string]any{}
	for k, values := range user.GetExtra() {
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		extra[k] = list
	}
	if len(extra) > 0 {
		spec["extra"] = extra
	}
}
