package builtin

import (
	"errors"
	"testing"
)

// A file that is wrong is an error of all of them, whichever it is.
func TestAWrongFileIsNotLeftOut(t *testing.T) {
	wrong := errors.New("wrong")
	for bad := range 5 {
		all, err := onAllCores([]int{0, 1, 2, 3, 4}, func(i int) (int, error) {
			if i == bad {
				return 0, wrong
			}
			return 10 * i, nil
		})
		if !errors.Is(err, wrong) {
			t.Errorf("the one at %d: %v, %v", bad, all, err)
		}
	}
}
