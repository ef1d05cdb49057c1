package extend

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// prepareJob makes the labels and the selector by which a job finds its pods,
// unless the client wants to choose them.
func prepareJob(_ context.Context, obj map[string]any) {
	spec := object.Ensure(obj, "spec")
	if manual, _ := spec["manualSelector"].(bool); manual {
		return
	}
	of := object.Ensure(object.Ensure(object.Ensure(spec, "template"), "metadata"), "labels")
	fill(of, podsOfJob(obj))
	fill(object.Ensure(object.Ensure(spec, "selector"), "matchLabels"), labels.Set{batchv1.ControllerUidLabel: object.TextAt(obj, "metadata", "uid")})
}

// fill sets labels that are not there; others are for validation to refuse.
func fill(all map[string]any, with labels.Set) {
	for key, value := range with {
		if _, ok := all[key]; !ok {
			all[key] = value
		}
	}
}

// podsOfJob are the labels of a job's pods, unless the client chose some.
func podsOfJob(obj map[string]any) labels.Set {
	uid, name := object.TextAt(obj, "metadata", "uid"), object.TextAt(obj, "metadata", "name")
	return labels.Set{batchv1.ControllerUidLabel: uid, "controller-uid": uid, batchv1.JobNameLabel: name, "job-name": name}
}

// validateJob checks a job, or the status that is written of it.
func validateJob(subresource string, obj, old map[string]any) field.ErrorList {
	job, before := new(batchv1.Job), new(batchv1.Job)
	if object.ToTyped(obj, job) != nil || old != nil && object.ToTyped(old, before) != nil {
		return nil // what is no job, the schema says
	}
	switch subresource {
	case "":
		errs := append(validateJobSelector(job, obj, old), validateSuccessPolicy(&job.Spec, field.NewPath("spec", "successPolicy", "rules"))...)
		if old == nil {
			return append(errs, validateHostnames(job)...)
		}
		return append(errs, validateJobTemplate(job, before)...)
	case "status":
		return validateJobStatus(job, before)
	}
	return nil
}

// validateHostnames checks that the last pod of a job that numbers them can be a host.
func validateHostnames(job *batchv1.Job) field.ErrorList {
	if mode := job.Spec.CompletionMode; mode == nil || *mode != batchv1.IndexedCompletion || job.Spec.Completions == nil || *job.Spec.Completions <= 0 {
		return nil
	}
	last := fmt.Sprintf("%s-%d", job.Name, *job.Spec.Completions-1)
	if len(validation.IsDNS1123Label(last)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), job.Name, "will not able to create pod with invalid DNS label: "+last)}
}

// validateJobSelector checks that a job whose client did not choose the selector
// has the one that was made for it.
func validateJobSelector(job *batchv1.Job, obj, old map[string]any) (errs field.ErrorList) {
	if job.Spec.Selector == nil || job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return nil
	}
	spec, made := field.NewPath("spec"), podsOfJob(obj)
	keys := []string{"controller-uid", "job-name"}
	if before, _, _ := unstructured.NestedStringMap(old, "spec", "template", "metadata", "labels"); old == nil || before[batchv1.JobNameLabel] != "" {
		keys = append(keys, batchv1.ControllerUidLabel, batchv1.JobNameLabel) // which jobs of long ago lack
	}
	for _, key := range keys {
		at, must := spec.Child("template", "metadata", "labels").Key(key), fmt.Sprintf("must be '%s'", made[key])
		switch value, ok := job.Spec.Template.Labels[key]; {
		case !ok:
			errs = append(errs, field.Required(at, must))
		case value != made[key]:
			errs = append(errs, field.Invalid(at, value, must))
		}
	}
	if s, err := metav1.LabelSelectorAsSelector(job.Spec.Selector); err == nil && !s.Matches(made) {
		errs = append(errs, field.Invalid(spec.Child("selector"), job.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

// defaultJob makes a job that says neither how often nor how many at once run
// run one pod once.
func defaultJob(obj map[string]any) {
	if spec := object.Ensure(obj, "spec"); spec["completions"] == nil && spec["parallelism"] == nil {
		spec["completions"] = int64(1)
	}
}
