// Package componentstatus owns what is told of the parts of a control plane when
// somebody asks for ComponentStatuses: whether they are well, at that moment. The
// store is asked by a function; a scheduler and a controller manager are looked
// for where they listen beside an API server.
//
// It must not know who asks, nor in which form.
package componentstatus
