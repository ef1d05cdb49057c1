// Package pod owns the subresources of pods that are no part of the object:
// binding to a node, eviction, and what only a kubelet could answer. This
// server has none, so it says what a kube-apiserver says of a pod that no node
// runs.
//
// It must not know how pods are stored.
package pod
