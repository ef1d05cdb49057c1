package combined

import "github.com/wasmgate/wasmgate/test/story"

const (
	user  = "Impersonate-User"
	group = "Impersonate-Group"
	uid   = "Impersonate-Uid"
	extra = "Impersonate-Extra-"
	// masters is the group that may do everything.
	masters = "system:masters"
)

// disguises are who a generated request is made as. The first half may do
// everything, and the other nothing.
var disguises = [][]string{
	{user, "jane", group, masters},
	{user, "jane", group, masters, uid, "7", extra + "scopes", "a", extra + "scopes", "b"},
	{user, "system:serviceaccount:default:robot", group, masters},
	{user, "system:node:there", group, masters, group, "system:nodes"},
	{user, "", group, masters},
	{group, masters},
	{user, "jane"},
	{user, "jane", group, "developers"},
	{user, "system:serviceaccount:default:robot"},
	{user, "system:anonymous"},
	{user, "jane", group, "system:unauthenticated"},
	{uid, "7"},
}

// asked are all kinds of identities that somebody may ask for.
var asked = [][]string{
	nil,
	{user, "jane"},
	{user, ""},
	{user, " "},
	{user, "jane", user, "joe"},
	{user, "", user, "joe"},
	{user, "jane doe/ä:%41"},
	{user, "jane%20doe"},
	{user, "jane", group, ""},
	{user, "jane", group, "", group, "b"},
	{user, "jane", group, "b", group, "a", group, "b"},
	{user, "jane", group, "a,b"},
	{user, "jane", group, "system:authenticated"},
	{user, "jane", group, "system:authenticated", group, "a", group, "system:authenticated"},
	{user, "jane", group, "system:unauthenticated"},
	{user, "jane", group, "system:unauthenticated", group, "system:authenticated"},
	{user, "jane", group, masters},
	{user, "jane", group, "system:serviceaccounts"},
	{group, "a"},
	{group, ""},
	{uid, "7"},
	{uid, ""},
	{extra + "a", "b"},
	{extra + "a", ""},
	{user, "jane", uid, ""},
	{user, "jane", uid, "7"},
	{user, "jane", uid, "7", uid, "8"},
	{user, "", uid, "7", group, "a", extra + "a", "b"},
	{user, "jane", extra + "a", "b"},
	{user, "jane", extra + "a", ""},
	{user, "jane", extra + "a", "b", extra + "a", "", extra + "a", "b"},
	{user, "jane", extra + "Scopes", "A", extra + "sCOPES", "B"},
	{user, "jane", extra + "example.com%2Fkey", "a/b"},
	{user, "jane", extra + "example.com%2fkey", "a", extra + "example.com%2Fkey", "b"},
	{user, "jane", extra + "Example.Com%2FKey", "a%2Fb"},
	{user, "jane", extra + "a%zz", "b"},
	{user, "jane", extra + "a%", "b"},
	{user, "jane", extra + "%C3%A4", "ä"},
	{user, "jane", extra + "%E4", "b"},
	{user, "jane", extra + "a%00b", "b"},
	{user, "jane", extra, "b"},
	{user, "jane", extra + "authentication.kubernetes.io%2Fpod-name", "p"},
	{user, "jane", "Impersonate-Odd", "b"},
	{"Impersonate-Odd", "b"},
	{user, "system:anonymous"},
	{user, "system:anonymous", group, "a"},
	{user, "system:anonymous", group, "system:authenticated"},
	{user, "system:anonymous", group, "system:unauthenticated"},
	{user, "system:anonymous", group, masters},
	{user, "system:serviceaccount:default:robot"},
	{user, "system:serviceaccount:default:robot", group, "a"},
	{user, "system:serviceaccount:default:robot", group, ""},
	{user, "system:serviceaccount:default:robot", group, masters},
	{user, "system:serviceaccount:default:robot", uid, "7"},
	{user, "system:serviceaccount:default:robot", extra + "a", "b"},
	{user, "system:serviceaccount:default"},
	{user, "system:serviceaccount:default:"},
	{user, "system:serviceaccount::robot"},
	{user, "system:serviceaccount:de_fault:robot"},
	{user, "system:serviceaccount:default:ro:bot"},
	{user, "system:serviceaccount:default:Robot"},
	{user, "system:node:there"},
	{user, "system:node:there", group, "system:nodes"},
	{user, "system:node:there", uid, "7"},
	{user, "system:node:"},
	{user, "system:node"},
	{user, "system:masters"},
	{user, "system:apiserver"},
	{user, "system:admin", group, masters, group, masters},
}

// identities has who is asked for told who that is, and read and write.
func identities() story.Story {
	s := story.Story{Name: "identities"}
	const namespace = "/api/v1/namespaces/combined-identities"
	s.Before = []story.Step{{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON, Body: `{"metadata":{"name":"combined-identities"}}`}}
	for _, headers := range asked {
		add := func(step story.Step) {
			step.Headers = headers
			s.Add(step)
		}
		add(story.Step{Method: "POST", Path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", Body: `{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`})
		add(story.Step{Method: "GET", Path: namespace + "/pods/there/status"})
		add(story.Step{Method: "PATCH", Path: namespace + "/configmaps/nothing?fieldManager=me&dryRun=All", Type: apply, Body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"nothing"}}`})
		add(story.Step{Method: "POST", Path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", Body: `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{"resourceAttributes":{"verb":"get","resource":"pods","subresource":"status","namespace":"default"}}}`})
		add(story.Step{Method: "DELETE", Path: namespace + "/configmaps?labelSelector=a%3Db&dryRun=All", Brief: true})
	}
	return s
}

// reviews are questions about who somebody is and what somebody may do, asked by
// all kinds of users.
func reviews(g generator) story.Story {
	s := story.Story{Name: "reviews"}
	for _, r := range []struct{ path, kind, spec string }{
		{"/apis/authentication.k8s.io/v1/selfsubjectreviews", "SelfSubjectReview", `{}`},
		{"/apis/authentication.k8s.io/v1/tokenreviews", "TokenReview", `{"token":"nobody"}`},
		{"/apis/authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview", `{"user":"jane","resourceAttributes":{"verb":"get","resource":"pods","subresource":"exec"}}`},
		{"/apis/authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview", `{"user":"jane","groups":["system:masters"],"nonResourceAttributes":{"verb":"get","path":"/odd"}}`},
		{"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "SelfSubjectAccessReview", `{"resourceAttributes":{"verb":"*","resource":"*","group":"*"}}`},
		{"/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews", "LocalSubjectAccessReview", `{"user":"jane","resourceAttributes":{"verb":"get","resource":"pods","namespace":"default"}}`},
	} {
		version := r.path[len("/apis/"):]
		version = version[:len(version)-len(after(version, "/v1"))]
		body := `{"apiVersion":"` + version + `","kind":"` + r.kind + `","spec":` + r.spec + `}`
		for range 12 {
			s.Add(g.disguise(story.Step{Method: "POST", Path: r.path, Body: pick(g, []string{body, body, body, body[:len(body)-1] + `,"odd":1}`, `{}`})}))
		}
		for _, method := range []string{"GET", "PUT", "DELETE", "PATCH"} {
			s.Add(g.disguise(story.Step{Method: method, Path: r.path, Body: body}))
			s.Add(g.disguise(story.Step{Method: method, Path: r.path + "/there", Body: body}))
		}
	}
	return s
}
