// Package conversionreview owns the answer to ConversionReviews: objects by which a
// client asks for an object at another version, of whatever kind is served. It asks the
// converter that readers are served by, and the authorizer, and so it must not know
// modules, rules or webhooks, nor who decides.
package conversionreview
