// Package admitting owns admission in this process: the webhook configurations
// and policies in force, compiled once for each of their changes, and the
// stages of a write in which they are asked: mutating policies, mutating
// webhooks, validating policies, validating webhooks.
//
// It must not know HTTP beyond the client that it is given, nor what a webhook
// or a policy decides: rules, order and answers are admission's.
package admitting
