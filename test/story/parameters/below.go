package parameters

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

// below are the parameters of writes to subresources.
func below() []story.Story {
	var out []story.Story
	for _, p := range all {
		switch p.name {
		case "dryRun", "fieldValidation", "fieldManager", "force", "pretty", "timeout", "watch", "resourceVersion", "gracePeriodSeconds":
			out = append(out, subresources(p))
		}
	}
	return out
}

const (
	deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"there","labels":{"table":"yes"}},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	scale      = `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"there"},"spec":{"replicas":2}}`
)

func subresources(p parameter) story.Story {
	s := &sheet{Story: story.Story{Name: "parameter of a subresource " + strings.ToLower(p.name)}}
	namespace := "/api/v1/namespaces/parameter-below-" + strings.ToLower(p.name)
	deployments := strings.Replace(namespace, "/api/v1", "/apis/apps/v1", 1) + "/deployments"
	s.Base, s.Sample = deployments, deployment
	s.Before = []story.Step{
		{Method: "POST", Path: "/api/v1/namespaces", Type: story.JSON, Body: `{"metadata":{"name":"parameter-below-` + strings.ToLower(p.name) + `"}}`},
		{Method: "DELETE", Path: deployments + "/there"},
		{Method: "DELETE", Path: namespace + "/serviceaccounts/there"},
		{Method: "POST", Path: deployments, Type: story.JSON, Body: deployment},
		{Method: "POST", Path: namespace + "/serviceaccounts", Type: story.JSON, Body: `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"there"}}`},
	}
	s.After = s.Before[1:3]
	for _, query := range p.spellings() {
		q := "?" + query
		s.Add(story.Step{Method: "GET", Path: deployments + "/there/scale" + q})
		s.Add(story.Step{Method: "GET", Path: deployments + "/there/status" + q})
		s.Add(story.Step{Method: "PUT", Path: deployments + "/there/scale" + q, Body: scale})
		s.Add(story.Step{Method: "PATCH", Path: deployments + "/there/scale" + q, Type: story.MergePatch, Body: `{"spec":{"replicas":3}}`})
		s.Add(story.Step{Method: "PATCH", Path: deployments + "/there/status" + q, Type: story.MergePatch, Body: `{"status":{"observedGeneration":1}}`})
		if strings.Contains(query, unreadable[0]) || strings.Contains(query, unreadable[1]) {
			s.Add(story.Step{Method: "PUT", Path: deployments + "/there", Body: deployment, Brief: true})
			continue
		}
		s.Add(story.Step{Method: "GET", Path: deployments + "/there"})
		s.Add(story.Step{Method: "PATCH", Path: deployments + "/there/scale", Type: story.MergePatch, Body: `{"spec":{"replicas":1}}`, Brief: true})
		s.Add(story.Step{Method: "POST", Path: namespace + "/serviceaccounts/there/token" + q, Body: `{"spec":{"audiences":["a"]}}`, Brief: true})
		s.Add(story.Step{Method: "POST", Path: "/apis/authentication.k8s.io/v1/tokenreviews" + q, Body: `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"x"}}`})
	}
	return s.Story
}
