package sdk

import (
	"errors"
	"strings"
	"testing"
)

func init() {
	mark := func(o *Object) error { return o.At("via").SetBool(true) }
	// From b the way to d is the second one, and the first leads back; x and
	// y lead to each other only.
	maze := For("Maze")
	maze.Convert("a", "b", mark)
	maze.Convert("b", "a", mark)
	maze.Convert("b", "d", mark)
	maze.Convert("a", "x", mark)
	maze.Convert("x", "y", mark)
	maze.Convert("y", "x", mark)
}

func TestConversionsFindTheirWay(t *testing.T) {
	if _, err := Apply([]byte(`{"apiVersion":"g/a","kind":"Maze"}`), "g/d"); err != nil {
		t.Error(err)
	}
	if _, err := Apply([]byte(`{"apiVersion":"g/a","kind":"Maze"}`), "g/nowhere"); err == nil {
		t.Error("there is a way to nowhere")
	}
	if way := kindFor("Maze").route("a", "a"); way != nil {
		t.Errorf("%d steps from a version to itself", len(way))
	}
}

func TestWhatIsNoReviewIsAnsweredAsFailed_CRD14(t *testing.T) {
	const (
		noReview  = "the request is not a ConversionReview"
		noObject  = "an element of objects is not an object"
		noVersion = "the request has no desiredAPIVersion"
		noWay     = "Maze : this module has no conversion from a to nowhere"
	)
	request := func(rest string) string { return `{"request":{"uid":"u1","desiredAPIVersion":"g/nowhere"` + rest }
	for text, want := range map[string]string{
		``:                            noReview,
		`5`:                           noReview,
		`{"request":[`:                noReview,
		`{"request":{}`:               noReview,
		`{"request":5}`:               noReview,
		`{"request":{]}}`:             noReview,
		request(`]}`):                 noReview,
		request(`}`):                  noReview,
		request(``):                   noReview,
		request(` 5}}`):               noReview,
		request(`,"objects"`):         noReview,
		request(`,"objects":{}}}`):    noReview,
		request(`,"objects":5}}`):     noReview,
		request(`,"objects":[{]}}`):   noReview,
		request(`,"objects":[{"a":1`): noReview,
		request(`,"objects":[5]}}`):   noObject,
		request(`,"objects":[[]]}}`):  noObject,
		request(`,"objects":[{"kind":"Maze","apiVersion":"g/a"}]}}`):     noWay,
		request(`,"objects":[{"kind":"Maze","apiVersion":"g/a"}] "x"}}`): noWay,
		`{"request":{"uid":"u1","objects":[]}}`:                          noVersion,
		`{"request":{"uid":"u1","objects":[],"desiredAPIVersion":""}}`:   noVersion,
	} {
		got := string(HandleConversion([]byte(text)))
		if !strings.HasPrefix(got, `{"kind":"ConversionReview","response":{"result":{"status":"Failed","message":"`+want+`"}`) {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		if strings.Contains(text, "u1") != strings.Contains(got, `"uid":"u1"`) {
			t.Errorf("%s\nis answered without its uid: %s", text, got)
		}
	}
	for _, text := range []string{`{}`, `{"request":{}}`, `{"request":{"desiredAPIVersion":"g/v1","objects":[]}}`} {
		want := `{"kind":"ConversionReview","response":{"convertedObjects":[],"result":{"status":"Success"},"uid":""},"apiVersion":"apiextensions.k8s.io/v1"}`
		if got := string(HandleConversion([]byte(text))); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestWhatNeedsNoConversionIsLeftAsItIs_CRD14(t *testing.T) {
	const spaced = `{ "apiVersion" : "g/d" , "kind":"Maze" }`
	got := string(HandleConversion([]byte(`{"request":{"desiredAPIVersion":"g/d","objects":[{"apiVersion":"g/b","kind":"Maze"},` + spaced + `]}}`)))
	if !strings.Contains(got, `{"apiVersion":"g/d","kind":"Maze","via":true},`+spaced+`]`) {
		t.Errorf("got %s", got)
	}
}

func TestOnlyObjectsAreConverted(t *testing.T) {
	for _, text := range []string{``, `[]`, `1`, `{} {}`, `{"a":`, `{} x`} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is parsed", text)
		}
		if _, err := Apply([]byte(text), "g/d"); err == nil {
			t.Errorf("%q is converted", text)
		}
	}
	// It says neither what it is nor at which version.
	_, err := Apply([]byte(`{}`), "v1")
	if err == nil || !strings.HasSuffix(err.Error(), "this module has no conversion from  to v1") {
		t.Errorf("got %v", err)
	}
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	o, err := Parse([]byte(`{"l":[{},{},{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	stop, seen := errors.New("stop"), 0
	err = o.At("l").Each(func(i int, _ *Object) error {
		if seen++; i == 1 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || seen != 2 {
		t.Errorf("got %v after %d elements", err, seen)
	}
}

func TestFloatsAreNumbersOnly(t *testing.T) {
	o, err := Parse([]byte(`{"n":-1.5e2,"s":"1","b":true,"z":null,"l":[1]}`))
	if err != nil {
		t.Fatal(err)
	}
	if x, ok := o.At("n").Float(); x != -150 || !ok {
		t.Errorf("got %v %v", x, ok)
	}
	for _, name := range []string{"s", "b", "z", "l", "none"} {
		if _, ok := o.At(name).Float(); ok {
			t.Errorf("%s is a number", name)
		}
	}
}
