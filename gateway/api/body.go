package api

import "k8s.io/apimachinery/pkg/runtime/schema"

// readBody reads the body of a request that has a meaning for one. What
// somebody sends who may not do what is asked for, or along with a question,
// never gets into memory. What is decoded later is weighed.
func (h *Handler) readBody(c *call) (err error) {
	read := c.ReadBody
	c.ReadBody = nil
	if read == nil || !c.Resource || !hasBody(c.Verb) {
		return nil
	}
	content := h.contentOf(&c.Info)
	if content != nil {
		c.Body, err = read(content.MaxBytes())
		return err
	}
	if c.Body, err = read(h.MaxBodyBytes); err != nil {
		return err
	}
	return c.weigh()
}

// hasBody tells the verbs whose requests have one.
func hasBody(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// contentOf is what receives the body of a request as it is; nil when it is
// decoded.
func (h *Handler) contentOf(i *Info) Content {
	if i.Verb != "update" || i.Name == "" {
		return nil
	}
	gr := schema.GroupResource{Group: i.Group, Resource: i.Plural}
	return h.Contents[ContentPath{gr, i.Subresource}]
}
