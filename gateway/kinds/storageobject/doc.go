// Package storageobject owns that volumes, the claims for them and the classes of
// their attributes outlive what uses them: the finalizer that each gets when it is
// created goes when it is being deleted and nobody uses it any more. The
// finalizers are those of the admission plugin StorageObjectInUseProtection, and who
// uses what is decided as kube-controller-manager decides it, so that either may
// take them away.
//
// It must not know HTTP nor the store: but for kind.go, which joins it to the gateway,
// it sees objects through interfaces.
package storageobject
