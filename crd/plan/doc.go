// Package plan owns what a kind's file says of the fields of its Go type:
// defaults, what values must be, what an update may not change. It works on
// trees. What is said of a Go type counts wherever the type occurs; what is
// said of a path counts there only.
//
// It must not know which kinds there are, nor how they are stored or served.
package plan
