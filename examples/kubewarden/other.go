//go:build !wasip1

package main

import "errors"

// hostCall is there for tests of the policy: outside of a host nobody answers.
func hostCall(_, _, _ string, _ []byte) ([]byte, error) { return nil, errors.New("there is no host") }
