// Package resourcequota owns what objects use of a ResourceQuota: which resources a kind
// counts towards, how much of them an object uses, and which objects a quota is
// about. What follows from that for a write is the library's, in kube-apiserver's
// words.
//
// It must not know who stores or serves objects, nor how writes agree on what is
// used.
package resourcequota
