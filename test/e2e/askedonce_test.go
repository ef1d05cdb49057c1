package e2e

import "testing"

// asked is what webhooks are asked about since the last time, one line for each
// question: where, and about what.
func (a *admitted) asked() string {
	a.t.Helper()
	out := ""
	for _, c := range a.Calls() {
		out += c.Path + " " + c.Str("request.operation") + " " + c.Str("request.resource.resource") + "/" + c.Str("request.subResource") + " " +
			c.Str("request.kind.kind") + " of a " + c.Str("request.object.kind") + " by " + c.Str("request.userInfo.username") + "\n"
	}
	return out
}

// once is what webhooks are asked about what is made in a subresource of a pod.
func once(subresource, kind string) string {
	about := " CREATE pods/" + subresource + " " + kind + " of a " + kind + " by wasmgate-admin\n"
	return "changes" + about + "judges" + about
}

// TestWebhooksAreAskedOnceAboutBindingsAndEvictions_WP02 has webhooks about whatever
// is done to pods. Of a Binding they see the Binding and not what becomes of the pod; of
// an Eviction the Eviction, and neither the pod's condition nor its deletion.
func TestWebhooksAreAskedOnceAboutBindingsAndEvictions_WP02(t *testing.T) {
	a := newAdmitted(t)
	pods := "/api/v1/namespaces/" + a.ns + "/pods"
	budget := "/apis/policy/v1/namespaces/" + a.ns + "/poddisruptionbudgets"
	a.api.Post(pods, parse(t, `{"metadata":{"name":"p","labels":{"app":"a"}},"spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]}}`)).Want(201)
	a.api.Post(budget, parse(t, `{"metadata":{"name":"b"},"spec":{"minAvailable":0,"selector":{"matchLabels":{"app":"a"}}}}`)).Want(201)
	a.api.Merge(budget+"/b/status", parse(t, `{"status":{"disruptionsAllowed":1,"observedGeneration":1,"expectedPods":1,"currentHealthy":1,"desiredHealthy":0}}`)).Want(200)
	const ofPods = `{"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["*"],"resources":["pods","pods/*"]}]}`
	a.validating(a.hook("judges", ofPods))
	a.mutating(a.hook("changes", ofPods))
	a.Calls()

	binding := parse(t, `{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}}`)
	a.api.Post(pods+"/p/binding", binding).Want(201)
	if got, want := a.asked(), once("binding", "Binding"); got != want {
		t.Errorf("about a binding asked\n%s, want\n%s", got, want)
	}
	a.api.Get(pods+"/p").Want(200).Equal("spec.nodeName", "n1")
	a.api.Merge(pods+"/p/status", parse(t, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)).Want(200)
	a.Calls()

	eviction := parse(t, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`)
	for _, query := range []string{"?dryRun=All", ""} {
		a.api.Post(pods+"/p/eviction"+query, eviction).Want(201)
		if got, want := a.asked(), once("eviction", "Eviction"); got != want {
			t.Errorf("about an eviction%s asked\n%s, want\n%s", query, got, want)
		}
	}
	a.api.Get(pods + "/p").Want(404)
	a.api.Get(budget+"/b").Want(200).Equal("status.disruptionsAllowed", "0")
}
