package e2e

import (
	"fmt"
	"sync"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// guarded is a namespace that policies are about.
type guarded struct {
	*harness.API
	t  *testing.T
	ns string
}

func newGuarded(t *testing.T) guarded {
	api := harness.Shared(t).API(t)
	return guarded{api, t, namespace(t, api)}
}

// guard puts a policy about a resource of the core group in force, and waits until
// it decides about a request.
func (g guarded) guard(resource, validation string, refused func() (*harness.Reply, error)) {
	g.t.Helper()
	name := "asked-" + unique()
	for plural, text := range map[string]string{
		"validatingadmissionpolicies": `{"metadata":{"name":"` + name + `"},"spec":{
			"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["` + resource + `"]}],
				"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"` + g.ns + `"}}},
			"validations":[` + validation + `]}}`,
		"validatingadmissionpolicybindings": `{"metadata":{"name":"` + name + `"},"spec":{"policyName":"` + name + `","validationActions":["Deny"]}}`,
	} {
		g.Post(hooksPath+plural, parse(g.t, text)).Want(201)
		g.t.Cleanup(func() { _, _ = g.Try("DELETE", hooksPath+plural+"/"+name, nil) })
	}
	harness.Eventually(g.t, "the policy", func() bool {
		r, err := refused()
		return err == nil && r.Code == 422
	})
}

func (g guarded) pods() string { return "/api/v1/namespaces/" + g.ns + "/pods" }

func (g guarded) pod(name string) {
	g.t.Helper()
	g.Post(g.pods(), parse(g.t, `{"metadata":{"name":"`+name+`","labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)).Want(201)
}

func (g guarded) try(method, path, body string) func() (*harness.Reply, error) {
	return func() (*harness.Reply, error) {
		if body == "" {
			return g.Try(method, path, nil)
		}
		return g.Try(method, path, parse(g.t, body))
	}
}

// A policy about evictions holds for who evicts, though what an eviction does is
// the gateway's to do.
func TestPoliciesAreAskedAboutEvictions_CEL14(t *testing.T) {
	g := newGuarded(t)
	g.pod("p")
	eviction := `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`
	g.guard("pods/eviction", `{"expression":"object.kind != 'Eviction'","messageExpression":"object.metadata.name + ' stays'"}`, g.try("POST", g.pods()+"/p/eviction?dryRun=All", eviction))
	g.Post(g.pods()+"/p/eviction", parse(t, eviction)).WantStatus(422, "Invalid", "p stays")
	g.Get(g.pods() + "/p").Want(200)
}

// A policy that guards pods from deletion, as kube-apiserver asks it, does not
// guard them from eviction: one about evictions does.
func TestPoliciesAboutDeletionsLetEvictionsPass_WP02(t *testing.T) {
	g := newGuarded(t)
	g.pod("p")
	g.guard("pods", `{"expression":"request.operation != 'DELETE'","message":"pods stay"}`, g.try("DELETE", g.pods()+"/p?dryRun=All", ""))
	g.Post(g.pods()+"/p/eviction", parse(t, `{"metadata":{"name":"p"}}`)).Want(201)
	g.Get(g.pods() + "/p").Want(404)
}

// A policy about bindings sees a Binding, and nothing else.
func TestPoliciesAreAskedAboutBindings_WP02(t *testing.T) {
	g := newGuarded(t)
	g.pod("p")
	to := func(node string) string {
		return `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"` + node + `"}}`
	}
	g.guard("pods/binding", `{"expression":"object.target.name != 'forbidden'","message":"not there"}`, g.try("POST", g.pods()+"/p/binding?dryRun=All", to("forbidden")))
	g.Post(g.pods()+"/p/binding", parse(t, to("forbidden"))).WantStatus(422, "Invalid", "not there")
	g.Post(g.pods()+"/p/binding", parse(t, to("n1"))).Want(201)
	g.Get(g.pods()+"/p").Equal("spec.nodeName", "n1")
}

// Who guards tokens, or shells, by a policy is guarded.
func TestPoliciesAreAskedAboutTokensAndShells_WP02(t *testing.T) {
	g := newGuarded(t)
	g.pod("p")
	g.Post("/api/v1/namespaces/"+g.ns+"/serviceaccounts", parse(t, `{"metadata":{"name":"sa"}}`)).Want(201)
	token := "/api/v1/namespaces/" + g.ns + "/serviceaccounts/sa/token"
	g.Post(token, parse(t, `{"spec":{}}`)).Want(201).Equal("metadata.managedFields.0.subresource", "token")
	g.guard("serviceaccounts/token", `{"expression":"object.spec.expirationSeconds < 700","messageExpression":"object.metadata.name + ' gets short tokens'"}`, g.try("POST", token, `{"spec":{}}`))
	g.Post(token, parse(t, `{"spec":{}}`)).WantStatus(422, "Invalid", "sa gets short tokens")
	g.Post(token, parse(t, `{"spec":{"expirationSeconds":600}}`)).Want(201)

	shell := g.pods() + "/p/exec?command=rm&command=-rf"
	g.guard("pods/exec", `{"expression":"request.operation != 'CONNECT' || object.command[0] != 'rm'","message":"not this"}`, g.try("POST", shell, ""))
	g.Do("GET", shell, "").WantStatus(422, "Invalid", "not this")
	g.Do("GET", g.pods()+"/p/exec?command=ls", "").WantStatus(400, "BadRequest", "pod p does not have a host assigned")
}

// Neither a binding nor an eviction fails because somebody else writes the pod all
// the time.
func TestBindingsAndEvictionsOfPodsThatOthersWrite(t *testing.T) {
	g := newGuarded(t)
	const pods = 12
	stop := make(chan struct{})
	var writers sync.WaitGroup
	t.Cleanup(func() { close(stop); writers.Wait() })
	for i := range pods {
		name := fmt.Sprint("p", i)
		g.pod(name)
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default: // the pod may be gone by now
					_, _ = g.Try("PATCH", g.pods()+"/"+name, fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n), "Content-Type", "application/merge-patch+json")
				}
			}
		})
	}
	for i := range pods {
		name := fmt.Sprint("p", i)
		if i%2 == 0 {
			g.Post(g.pods()+"/"+name+"/binding", parse(t, `{"metadata":{"name":"`+name+`"},"target":{"name":"n"}}`)).Want(201)
		}
		g.Post(g.pods()+"/"+name+"/eviction", parse(t, `{"metadata":{"name":"`+name+`"}}`)).Want(201)
	}
}
