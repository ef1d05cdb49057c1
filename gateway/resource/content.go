package resource

import "io"

// Content is what a subresource keeps that is bytes and no object.
type Content struct {
	ContentType string
	// Digest names the bytes, among all that there are.
	Digest string
	// Size is how many they are.
	Size int
	// Write reads and writes them, piece by piece. It is called once the request is
	// over, or not at all.
	Write func(io.Writer) error
}
