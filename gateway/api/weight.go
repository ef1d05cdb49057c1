package api

// LargeReply is from how many bytes on a reply takes its time to be sent to a client that
// reads slowly, and takes memory meanwhile that is counted.
const LargeReply = 64 << 10

// Lists is about how many bytes the objects have, as they are stored, that a list is
// made of, also that of a collection that is deleted, or a watch that begins with what
// exists; 0 for every other request.
func (c *Call) Lists() int64 {
	if !c.weighed {
		c.weight, c.weighed = c.lists(), true
	}
	return c.weight
}

func (c *Call) lists() int64 {
	if c.resource == nil || c.Subresource != "" || c.Verb != "list" && c.Verb != "deletecollection" && (!c.Streams() || !c.Params.BeginsWithAll()) {
		return 0
	}
	objects, each := c.resource.Weigh(c.Namespace)
	if limit := c.Params.Limit(); limit > 0 {
		objects = min(objects, limit)
	}
	if c.Selected != "" { // it is found by its name
		objects = min(objects, 1)
	}
	return objects * each
}

// Watches reports whether the request is a watch that is told of whatever is written to
// what it names. Pods of a node are told of to few.
func (c *Call) Watches() bool {
	return c.Streams() && (c.Group != "" || c.Plural != "pods" || c.Params.Selected("spec.nodeName") == "")
}
