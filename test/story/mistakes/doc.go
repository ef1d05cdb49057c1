// Package mistakes owns a table of wrong objects of the built-in kinds: from a
// valid one, each field is taken away, emptied, doubled, and set to what few
// fields allow, and each field that it lacks is set; then come the combinations
// that kinds.yaml lists. A server is asked to create each of them, to update the
// valid one to some of them, and to write it as a status, keeping nothing but the
// valid object while a kind's story is told. kube-apiserver's answers are in
// test/recorded, a file a story; test/cmd/record writes them.
//
// It must not know which of them is wrong, nor what is said of it.
package mistakes
