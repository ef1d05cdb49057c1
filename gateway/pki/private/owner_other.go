//go:build !unix

package private

import "io/fs"

// owner is not known where files have no such number.
func owner(fs.FileInfo) (uid int, known bool) { return 0, false }
