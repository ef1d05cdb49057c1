// Package quotas owns a table of what LimitRanges and ResourceQuotas decide, told
// as stories. kube-apiserver's answers are in test/recorded; test/cmd/record
// writes them.
//
// It must not know how a server decides, nor which one is asked.
package quotas

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// Table is the name of the table among the recordings.
const Table = "quotas"

// Collections are the kinds that stories create objects of, by their paths below
// a namespace.
var Collections = []string{"pods", "persistentvolumeclaims", "services", "configmaps", "secrets", "replicationcontrollers", "limitranges", "resourcequotas", "serviceaccounts"}

// Stories are all of them.
func Stories() []story.Story {
	var all []story.Story
	for _, s := range []struct {
		name string
		tell func(*scene)
	}{
		{"limits that containers get", defaults},
		{"limits of containers", containers},
		{"limits of pods", pods},
		{"limits of claims", claims},
		{"limits and updates", updates},
		{"limits of what admission adds", added},
		{"quotas of objects", counts},
		{"quotas of services", services},
		{"quotas of storage", storage},
		{"quotas of what pods ask for", compute},
		{"quotas by their short names", plainNames},
		{"scopes of quotas", scopes},
		{"quotas and limits that are wrong", wrong},
	} {
		// The controller of quotas writes their status.
		sc := &scene{Story: story.Story{Name: s.name, Shared: strings.Contains(s.name, "quotas")}}
		sc.Base = Namespace(sc.Story)
		sc.ns = path.Base(sc.Base)
		sc.Add(story.Step{Method: "POST", Path: "/api/v1/namespaces", Body: `{"metadata":{"name":"` + sc.ns + `"}}`, Brief: true})
		sc.brief("serviceaccounts", `{"metadata":{"name":"default"}}`)
		s.tell(sc)
		sc.Add(story.Step{Method: "DELETE", Path: Namespace(sc.Story), Brief: true})
		all = append(all, sc.Story)
	}
	return all
}

// Namespace is the path of the namespace that a story makes and removes. A
// server without controllers only marks it as deleted.
func Namespace(s story.Story) string {
	return "/api/v1/namespaces/quo-" + strings.SplitN(s.Group(), ".", 2)[0]
}

// scene is a story that is being written, in a namespace of its own.
type scene struct {
	story.Story
	ns string
}

// in is the path of what is in a collection: "GROUP/v1/PLURAL", or a plural of
// the core group.
func (s *scene) in(what string) string {
	if group, rest, ok := strings.Cut(what, "/v1/"); ok {
		return "/apis/" + group + "/v1/namespaces/" + s.ns + "/" + rest
	}
	return "/api/v1/namespaces/" + s.ns + "/" + what
}

// brief creates what only has to succeed.
func (s *scene) brief(what, body string) {
	s.Add(story.Step{Method: "POST", Path: s.in(what), Body: body, Brief: true})
}

// create creates what is compared.
func (s *scene) create(what, body string) {
	s.Add(story.Step{Method: "POST", Path: s.in(what), Body: body})
}

// try creates something and keeps nothing.
func (s *scene) try(what, body string) { s.create(what+"?dryRun=All", body) }

// limit makes a LimitRange.
func (s *scene) limit(name, limits string) {
	s.create("limitranges", `{"metadata":{"name":"`+name+`"},"spec":{"limits":[`+limits+`]}}`)
}

// limited waits until all LimitRanges are in force: who knows of the last, knows
// of the rest.
func (s *scene) limited() {
	s.brief("limitranges", `{"metadata":{"name":"zz-last"},"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"1Ki"}}]}}`)
	s.await("1Ki")
}

// await waits until claims of less are refused.
func (s *scene) await(least string) {
	s.Steps[len(s.Steps)-1].Await = &story.Step{Method: "POST", Path: s.in("persistentvolumeclaims?dryRun=All"), Type: story.JSON, Body: claim("await", "1"), Until: "minimum storage usage per PersistentVolumeClaim is " + least}
}

// resources are those of a container, as JSON; "" for none.
func resources(requests, limits string) string {
	var parts []string
	if requests != "" {
		parts = append(parts, `"requests":{`+requests+`}`)
	}
	if limits != "" {
		parts = append(parts, `"limits":{`+limits+`}`)
	}
	return `{` + strings.Join(parts, ",") + `}`
}

// pod is a pod of containers with such resources; rest is a part of its spec.
func pod(name, rest string, containers ...string) string {
	var list []json.RawMessage
	for i, r := range containers {
		list = append(list, json.RawMessage(`{"name":"c`+string(rune('0'+i))+`","image":"i","resources":`+r+`}`))
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // stories are written here
	}
	if rest != "" {
		rest = "," + rest
	}
	return `{"metadata":{"name":"` + name + `"},"spec":{"serviceAccountName":"default","automountServiceAccountToken":false,"containers":` + string(text) + rest + `}}`
}

// initial is a part of a pod's spec: an init container.
func initial(resources string) string {
	return `"initContainers":[{"name":"i0","image":"i","resources":` + resources + `}]`
}

// claim is a claim of so much storage, "" for none.
func claim(name, storage string) string {
	requests := `{}`
	if storage != "" {
		requests = `{"requests":{"storage":"` + storage + `"}}`
	}
	return `{"metadata":{"name":"` + name + `"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"","resources":` + requests + `}}`
}
