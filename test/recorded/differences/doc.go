// Package differences owns the lists of where a gateway answers a recorded
// request otherwise than kube-apiserver: for each the reason and the gateway's own
// reply, which is compared as strictly as any other.
//
// A reason is a file, which says what it explains:
//
//	why what is wrong is named
//	most 32
//
//	story requests/requests-scales
//	PUT ~/x/scale {"spec":{"replicas":"x"}}
//	> 422 Invalid: …
//
// A request is named by its table, its story and its heading (package recorded), so
// that adding another renames none. The files are written by
//
//	go test ./test/e2e -run NAME -differences.take
//
// which takes from them what agrees by now, takes over what is answered otherwise
// than before, and prints both replies of it for a review. A difference that is
// not listed fails, as does one that is listed and is none.
//
// A list may only shrink. "most" is how many requests a reason explains; it goes
// down with them and never up by itself. A new difference is justified by a row of
// the feature list that says that ours departs from kube-apiserver's: it is added by
//
//	-differences.take -differences.row MT-18 -differences.why "the reason"
//
// and docs/conformance.md has to know the row. Where kube-apiserver's answers are
// recorded more fully than before, "most" is raised by hand, and the commit says why.
//
// It knows replies as text, and must not know what they mean.
package differences
