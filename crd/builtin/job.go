package builtin

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
)

// prepareJob makes the labels and the selector by which a job finds its pods,
// unless the client wants to choose them.
func prepareJob(_ context.Context, obj map[string]any) {
	spec := ensure(obj, "spec")
	if manual, _ := spec["manualSelector"].(bool); manual {
		return
	}
	uid, name := text(obj, "metadata", "uid"), text(obj, "metadata", "name")
	labels := ensure(ensure(ensure(spec, "template"), "metadata"), "labels")
	for _, key := range []string{batchv1.ControllerUidLabel, "controller-uid"} {
		labels[key] = uid
	}
	for _, key := range []string{batchv1.JobNameLabel, "job-name"} {
		labels[key] = name
	}
	ensure(ensure(spec, "selector"), "matchLabels")[batchv1.ControllerUidLabel] = uid
}

// defaultJob makes a job that says neither how often nor how many at once run
// run one pod once.
func defaultJob(obj map[string]any) {
	if spec := ensure(obj, "spec"); spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
}
