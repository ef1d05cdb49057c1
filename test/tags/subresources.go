package tags

// Whole has rules for itself, and none for subresources.
type Whole struct {
	Kind string `json:"kind"`

	// +k8s:minimum=1
	Replicas int `json:"replicas"`
}

// +k8s:supportsSubresource="/status"
// +k8s:supportsSubresource="/scale"

// Served has rules that are those of its subresources, too.
type Served struct {
	Kind string `json:"kind"`

	// +k8s:minimum=1
	Replicas int `json:"replicas"`
}

// +k8s:isSubresource="/scale"

// Scale has rules for a subresource only.
type Scale struct {
	Kind string `json:"kind"`

	// +k8s:minimum=1
	Replicas int `json:"replicas"`
}
