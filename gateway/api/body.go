package api

import "k8s.io/apimachinery/pkg/runtime/schema"

// readBody reads the body of a request that has a meaning for one. What
// somebody sends who may not do what is asked for, or along with a question,
// never gets into memory.
func (h *Handler) readBody(r *Request, i *Info) (err error) {
	read := r.ReadBody
	r.ReadBody = nil
	if read == nil || !i.Resource || !hasBody(i.Verb) {
		return nil
	}
	r.Body, err = read(h.bodyLimit(i))
	return err
}

// hasBody tells the verbs whose requests have one.
func hasBody(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
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
