package refusals

import (
	"strings"

	"github.com/wasmgate/wasmgate/test/story"
)

const (
	sets = "/apis/apps/v1/namespaces/" + namespace + "/replicasets"
	set  = `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"numbers"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
)

// numbers are integers as JSON may write them: a Go type takes them without a point and
// an exponent alone, but where a tree was converted into it.
func numbers() []story.Step {
	const there, dry = sets + "/numbers", "?dryRun=All"
	steps := []story.Step{{Method: "POST", Path: sets, Type: story.JSON, Body: set, Brief: true}}
	send := func(method, path, kind, body string) {
		steps = append(steps, story.Step{Method: method, Path: path, Type: kind, Body: body, Brief: true})
	}
	for _, n := range []string{"2", "2.0", "-0.0", "2.5"} {
		replicas := `{"spec":{"replicas":` + n + `}}`
		applied := `{"apiVersion":"apps/v1","kind":"ReplicaSet","spec":{"replicas":` + n + `}}`
		scaled := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"numbers","namespace":"` + namespace + `"},"spec":{"replicas":` + n + `}}`
		send("POST", sets+dry, story.JSON, strings.NewReplacer(`"numbers"`, `"other"`, `"replicas":1`, `"replicas":`+n).Replace(set))
		send("PUT", there+"/scale"+dry, story.JSON, scaled)
		if n != "2.5" { // of which kube-apiserver says where it is converted
			send("PATCH", there+dry, "application/strategic-merge-patch+json", replicas)
			send("PATCH", there+"/scale"+dry, "application/strategic-merge-patch+json", replicas)
			send("PATCH", there+dry+"&fieldManager=a&force=true", "application/apply-patch+yaml", applied)
			send("PATCH", there+"/scale"+dry+"&fieldManager=a&force=true", "application/apply-patch+yaml", scaled)
		}
		send("POST", CronTabs+dry, story.JSON, head+`,"spec":{"replicas":`+n+`}}`)
	}
	return append(steps, story.Step{Method: "DELETE", Path: there, Brief: true})
}
