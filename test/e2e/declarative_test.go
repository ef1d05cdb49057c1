package e2e

import (
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
)

// TestDeclarativeValidation writes ReplicationControllers, whose Go type has rules, to
// gateways on which these count in each way.
func TestDeclarativeValidation(t *testing.T) {
	harness.SkipExternal(t)
	t.Parallel()
	for row, gates := range map[string]string{
		"DV-01 rules run beside the others by default":    "WatchList=true",
		"DV-02 rules decide":                              "DeclarativeValidationTakeover=true",
		"DV-03 turned off they do not run, nor take over": "DeclarativeValidation=false,DeclarativeValidationTakeover=true",
	} {
		t.Run(row, func(t *testing.T) {
			g := harness.Start(t, harness.Options{Args: []string{"--feature-gates=" + gates}})
			c := newCronTabs(t, &g.Server, nil)
			const body = `{"metadata":{"name":"a"},"spec":{"replicas":%d,"minReadySeconds":%d,"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
			path := "/api/v1/namespaces/" + c.ns + "/replicationcontrollers"
			c.api.Post(path, fmt.Sprintf(body, -1, 0)).WantStatus(422, "Invalid", "spec.replicas: Invalid value: -1: must be greater than or equal to 0")
			c.api.Post(path, fmt.Sprintf(body, 1, 0)).Want(201)
			c.api.Put(path+"/a", fmt.Sprintf(body, 1, -1)).WantStatus(422, "Invalid", "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0")
			c.api.Put(path+"/a", fmt.Sprintf(body, 0, 1)).Want(200)
			text := c.api.Get("/metrics").Want(200)
			for _, metric := range []string{"mismatch", "panic"} {
				if !text.Contains("\napiserver_validation_declarative_validation_" + metric + "_total 0\n") {
					t.Errorf("the metric of a %s is missing, or something was counted", metric)
				}
			}
		})
	}
}
