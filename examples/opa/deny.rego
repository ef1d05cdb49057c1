# A policy of OPA: what has no label of those that data.required names is refused.
package kubernetes.admission

deny contains msg if {
	some label in data.required
	not input.request.object.metadata.labels[label]
	msg := sprintf("%s %s needs a label %q", [input.request.kind.kind, input.request.object.metadata.name, label])
}

warn contains msg if {
	input.request.object.metadata.labels.team == "none"
	msg := sprintf("nobody is responsible for %s", [input.request.object.metadata.name])
}
