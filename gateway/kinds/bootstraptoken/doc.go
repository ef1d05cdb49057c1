// Package bootstraptoken believes tokens that are kept in Secrets of the type
// bootstrap.kubernetes.io/token, by which machines join that have no identity yet, and
// deletes them when they have expired.
//
// It owns which Secrets count as such. It must not know what their users may do.
package bootstraptoken
