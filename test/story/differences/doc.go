// Package differences owns the lists of where a gateway answers a recorded
// request otherwise than kube-apiserver: for each row the reason and the
// gateway's own reply, which is compared as strictly as any other.
//
// A list is two files of a folder. differences.json has the reasons, each with
// its rows and the digests of the gateway's replies to them; replies.json has the
// replies by digest, so that a change can be told. Both are written by
//
//	go test ./test/e2e -run NAME -differences.take
//
// which takes from the list what agrees by now, takes over what is answered
// otherwise than before, and prints both replies of it for a review.
//
// A list may only shrink. "most" is how many rows without a row of the feature list
// it holds; it goes down with the list and never up by itself. A new
// difference is justified by a row of the feature list that says that ours
// departs from kube-apiserver's: it is added by
//
//	-differences.take -differences.row MT-18 -differences.why "the reason"
//
// and docs/conformance.md has to know the row. Where kube-apiserver's answers are
// recorded more fully than before, "most" is raised by hand, and the commit says why.
//
// It knows replies as text, and must not know what they mean.
package differences
