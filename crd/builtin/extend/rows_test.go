package extend_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// podRows are what tables say of pods: how many containers are ready, what the pod is, and
// how often it was restarted.
var podRows = []struct{ metadata, spec, status, want string }{
	{``, ``, `"containerStatuses":[{"name":"a",` + began + `,"ready":true},{"name":"b",` + began + `,"ready":true}]`, "2/2\nRunning\n0"},
	{``, ``, `"containerStatuses":[{"name":"a",` + began + `},{"name":"b",` + began + `,"ready":true}]`, "1/2\nRunning\n0"},
	{``, ``, `"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"a",` + began + `,"ready":true},{"name":"b","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]`, "1/2\nRunning\n0"},
	{``, ``, `"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"b",` + began + `,"ready":true}]`, "1/2\nRunning\n0"},
	{``, ``, `"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"b",` + began + `,"ready":true}]`, "1/2\nNotReady\n0"},
	{``, ``, `"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"b","state":{"terminated":{"exitCode":2,"reason":"Error"}}}]`, "0/2\nError\n0"},
	{``, ``, `"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"b","state":{"terminated":{"exitCode":0,"reason":"Odd"}}}]`, "0/2\nCompleted\n0"},
	{``, ``, `"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"name":"b","state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]`, "0/2\nCompleted\n0"},
	{``, ``, `"containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3}}},{"name":"b",` + began + `}]`, "0/2\nExitCode:3\n0"},
	{``, ``, `"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"CrashLoopBackOff"}}},{"name":"b",` + began + `,"ready":true}]`, "1/2\nCrashLoopBackOff\n0"},
	{``, ``, `"containerStatuses":[{"name":"a","state":{"waiting":{}}},{"name":"b","ready":true,"state":{}}]`, "0/2\nRunning\n0"},
	{``, ``, `"containerStatuses":[{"name":"a",` + began + `,"restartCount":3},{"name":"b",` + began + `}]`, "0/2\nRunning\n3"},
	{``, ``, `"containerStatuses":[{"name":"a",` + began + `,"restartCount":2,"lastState":{"terminated":{"exitCode":1,"finishedAt":"2020-01-01T00:00:00Z"}}},{"name":"b",` + began + `,"restartCount":2,"lastState":{"terminated":{"exitCode":1,"finishedAt":"2010-01-01T00:00:00Z"}}}]`, "0/2\nRunning\n4 (AGE ago)"},
	{``, ``, `"containerStatuses":[{"name":"a",` + began + `,"restartCount":2,"lastState":{"terminated":{"exitCode":1,"finishedAt":"2010-01-01T00:00:00Z"}}},{"name":"b",` + began + `,"restartCount":2,"lastState":{"terminated":{"exitCode":1,"finishedAt":"2020-01-01T00:00:00Z"}}}]`, "0/2\nRunning\n4 (AGE ago)"},
	{`,"deletionTimestamp":"2026-01-01T00:00:00Z"`, ``, `"reason":""`, "0/2\nTerminating\n0"},
	{`,"deletionTimestamp":"2026-01-01T00:00:00Z"`, ``, `"reason":"NodeLost"`, "0/2\nUnknown\n0"},
	{`,"deletionTimestamp":"2026-01-01T00:00:00Z"`, ``, `"phase":"Failed"`, "0/2\nFailed\n0"},
	{`,"deletionTimestamp":"2026-01-01T00:00:00Z"`, ``, `"phase":"Succeeded"`, "0/2\nSucceeded\n0"},
	{``, `,"initContainers":[{"name":"i","restartPolicy":"Always"},{"name":"j"}]`, `"initContainerStatuses":[{"name":"i",` + began + `,"started":true,"ready":true,"restartCount":1},{"name":"j","state":{"terminated":{"exitCode":0}},"restartCount":4}],"containerStatuses":[{"name":"a",` + began + `,"ready":true,"restartCount":1}]`, "2/3\nRunning\n2"},
	{``, `,"initContainers":[{"name":"i","restartPolicy":"Always"},{"name":"j"}]`, `"initContainerStatuses":[{"name":"i",` + began + `,"started":true},{"name":"j","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]`, "0/3\nInit:Error\n0"},
	{``, `,"initContainers":[{"name":"i","restartPolicy":"Always"},{"name":"j"}]`, `"initContainerStatuses":[{"name":"i",` + began + `,"started":false}]`, "0/3\nInit:0/2\n0"},
	{``, `,"initContainers":[{"name":"i","restartPolicy":"Always"},{"name":"j"}]`, `"initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"ImagePullBackOff"}}}]`, "0/3\nInit:ImagePullBackOff\n0"},
	{``, `,"initContainers":[{"name":"i","restartPolicy":"Always"},{"name":"j"}]`, `"initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}},{"name":"j","restartCount":2,"state":{"waiting":{"reason":"PodInitializing"}}}]`, "0/3\nInit:1/2\n2"},
	{``, `,"initContainers":[{"name":"i","restartPolicy":"Always"},{"name":"j"}]`, `"initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":0}}},{"name":"j","state":{"waiting":{}}}]`, "0/3\nInit:1/2\n0"},
	{``, `,"initContainers":[{"name":"i","restartPolicy":"Always"},{"name":"j"}]`, `"conditions":[{"type":"Initialized","status":"True"}],"initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":1}},"restartCount":5}],"containerStatuses":[{"name":"a",` + began + `,"ready":true},{"name":"b",` + began + `}]`, "1/3\nInit:ExitCode:1\n5"},
}

const began = `"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}`

func TestRowsOfPods(t *testing.T) {
	age := dyn.Age(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)) // of the last of their restarts
	for _, c := range podRows {
		obj := crdtest.Parse(t, []byte(`{"metadata":{"name":"x"`+c.metadata+`},"spec":{"containers":[{"name":"a"},{"name":"b"}]`+c.spec+`},"status":{"phase":"Running",`+c.status+`}}`))
		var said []string
		for _, name := range []string{"podReady", "podStatus", "podRestarts"} {
			said = append(said, fmt.Sprint(extend.Cell(name)(obj)))
		}
		if got := strings.Join(said, "\n"); got != strings.Replace(c.want, "AGE", age, 1) {
			t.Errorf("%s %s %s:\n%s\nwant\n%s", c.metadata, c.spec, c.status, got, c.want)
		}
	}
}
