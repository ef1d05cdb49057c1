package jsonpatch

import (
	"errors"
	"strings"
	"testing"
)

func decoded(t *testing.T, text string) Patch {
	t.Helper()
	p, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOperationsAreCounted(t *testing.T) {
	many := strings.Repeat(`{"op":"remove","path":"/a"},`, MaxOperations-1) + `{"op":"remove","path":"/a"}`
	if p := decoded(t, "["+many+"]"); len(p) != MaxOperations {
		t.Errorf("%d operations", len(p))
	}
	_, err := Decode([]byte("[{}," + many + "]"))
	var tooMany *TooMany
	if !errors.As(err, &tooMany) || tooMany.Operations != MaxOperations+1 || err.Error() != "it has 10001 operations; 10000 are allowed" {
		t.Errorf("one more: %v", err)
	}
	if _, err := Decode([]byte("{}")); err == nil || errors.As(err, &tooMany) {
		t.Errorf("no list: %v", err)
	}
}

// Each copy of the list into itself doubles it.
func TestCopiesAreBounded_UPD05(t *testing.T) {
	text, double := `{"l":["`+strings.Repeat("x", 1000)+`"]}`, `{"op":"copy","from":"/l","path":"/l/0"}`
	if out, err := decoded(t, "["+double+"]").Apply([]byte(text)); err != nil || len(out) < 2000 {
		t.Errorf("one: %d bytes, %v", len(out), err)
	}
	out, err := decoded(t, "["+strings.Repeat(double+",", 13)+double+"]").Apply([]byte(text))
	if err == nil || !strings.Contains(err.Error(), "3145728") {
		t.Errorf("fourteen: %d bytes, %v", len(out), err)
	}
}

func TestAPanicOfTheLibraryIsAnError_UPD05(t *testing.T) {
	_, err := decoded(t, `[{"op":"test","path":"/l","value":[null]}]`).Apply([]byte(`{"l":[null]}`))
	if err == nil || !strings.HasPrefix(err.Error(), "a defect of the patch library") {
		t.Errorf("got %v", err)
	}
}
