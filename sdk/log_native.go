//go:build !wasip1

package sdk

import "os"

// Log writes a line to the gateway's log of this module. What was logged last
// is also shown when a call fails. Outside of a module it goes to standard
// error.
func Log(line string) {
	_, _ = os.Stderr.WriteString(line + "\n")
}
