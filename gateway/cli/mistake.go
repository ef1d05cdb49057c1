package cli

import "os"

// mistake is an error about the command line itself, which nothing was tried for: a flag,
// an argument, an environment variable, or a file that one of these names.
type mistake struct{ error }

// Unwrap returns what is wrong.
func (m mistake) Unwrap() error { return m.error }

// named reads a file that the command line names.
func named(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, mistake{err}
	}
	return text, nil
}
