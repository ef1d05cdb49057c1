package api

import "k8s.io/apimachinery/pkg/runtime/schema"

// readBody reads the body. What somebody sends who may not do what is asked
// for never gets into memory.
func (h *Handler) readBody(r *Request, i *Info) (err error) {
	if r.ReadBody == nil {
		return nil
	}
	r.Body, err = r.ReadBody(h.bodyLimit(i))
	return err
}

// bodyLimit is how large the body of a request may be.
func (h *Handler) bodyLimit(i *Info) int {
	if i.Verb == "update" && i.Name != "" {
		gr := schema.GroupResource{Group: i.Group, Resource: i.Plural}
		if c := h.Contents[ContentPath{gr, i.Subresource}]; c != nil {
			return c.MaxBytes()
		}
	}
	return h.MaxBodyBytes
}
