package priority

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/wasmgate/wasmgate/excerpt"
)

// The identity of a review.
const (
	APIVersion = "wasmgate.dev/v1"
	ReviewKind = "VersionPriorityReview"
)

// MaxReplyBytes is the longest reply that is looked at: some thousand versions.
const MaxReplyBytes = 1 << 20

// Review is what a module gets, with Request set, and what it answers, with
// Response set.
type Review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *Request  `json:"request,omitempty"`
	Response   *Response `json:"response,omitempty"`
}

// Request asks for the order of a group's versions.
type Request struct {
	UID   string `json:"uid"`
	Group string `json:"group"`
	// Versions are those that are served, in the Kubernetes order.
	Versions []string `json:"versions"`
}

// Response is a module's answer: the versions of the request, the preferred one
// first.
type Response struct {
	UID      string   `json:"uid"`
	Versions []string `json:"versions"`
}

// Ask makes the request for a group. Its uid is derived from the rest, as the
// answer has to be.
func Ask(group string, versions []string) *Request {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q %q", group, versions)))
	return &Request{
		UID:   fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]),
		Group: group, Versions: versions,
	}
}

// Encode is the review that a module gets.
func (r *Request) Encode() ([]byte, error) {
	return json.Marshal(Review{APIVersion: APIVersion, Kind: ReviewKind, Request: r})
}

// Accept reads the reply to the request: it has to be of the same kind and uid,
// and its versions those of the request, each once.
func (r *Request) Accept(reply []byte) ([]string, error) {
	if len(reply) > MaxReplyBytes {
		return nil, fmt.Errorf("the reply has %d bytes, more than %d", len(reply), MaxReplyBytes)
	}
	var review Review
	if err := json.Unmarshal(reply, &review); err != nil {
		return nil, fmt.Errorf("the reply is not a %s: %w", ReviewKind, err)
	}
	if review.APIVersion != APIVersion || review.Kind != ReviewKind {
		return nil, fmt.Errorf("the reply is a %s of %s, not a %s of %s", quote(review.Kind), quote(review.APIVersion), ReviewKind, APIVersion)
	}
	if review.Response == nil {
		return nil, fmt.Errorf("the reply has no response")
	}
	if review.Response.UID != r.UID {
		return nil, fmt.Errorf("expected response.uid=%q, got %s", r.UID, quote(review.Response.UID))
	}
	return r.permutation(review.Response.Versions)
}

// permutation returns versions if they are those of the request.
func (r *Request) permutation(versions []string) ([]string, error) {
	missing := make(map[string]bool, len(r.Versions))
	for _, v := range r.Versions {
		missing[v] = true
	}
	for i, v := range versions {
		switch left, asked := missing[v]; {
		case !asked:
			return nil, fmt.Errorf("response.versions[%d] is %s, which is not one of the versions asked for", i, quote(v))
		case !left:
			return nil, fmt.Errorf("response.versions[%d]: %q is there twice", i, v)
		}
		missing[v] = false
	}
	for _, v := range r.Versions {
		if missing[v] {
			return nil, fmt.Errorf("response.versions lacks %q", v)
		}
	}
	return versions, nil
}

// quote shows what a module wrote, at a length fit for a message.
func quote(text string) string {
	return fmt.Sprintf("%q", excerpt.Of(text, 100))
}
