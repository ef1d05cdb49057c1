// Package accept owns the quick way to find that a custom resource is valid, which
// nearly all are. Its contract: it accepts only what the library accepts. What it does
// not accept may be valid as well, so it never says why; whoever asks has the library
// judge then. Fuzzing compares the two.
//
// It must not know definitions, nor what is done with an object that is accepted.
package accept
