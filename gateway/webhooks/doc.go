// Package webhooks owns admission by webhooks in this process: the
// configurations in force, compiled once for each of their changes, and the
// stages of a write in which they are asked.
//
// It must not know HTTP beyond the client that it is given, nor what a webhook
// decides: rules, order and answers are admission's.
package webhooks
