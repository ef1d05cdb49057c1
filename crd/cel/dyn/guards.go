package dyn

import (
	"fmt"
	"math"
	"reflect"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// What one step of an evaluation may make, and do.
const (
	maxText  = 4 << 20 // bytes of a text
	maxItems = 100_000 // of a list that is put together
	maxSteps = 64 << 20
	// maxSearch is of searches, a step of which is short.
	maxSearch = 1 << 30
)

// What a call takes is told in bytes that it makes: a part that is looked at, an item of a
// list that is made, and how many bytes of texts are looked at for one that is made. A value
// of few parts takes nothing.
const perPart, perItem, looked, fewParts = 16, 16, 64, 16

// guards look at what functions are called with, before they are, and say what that takes,
// if they let it through or not.
var guards = map[string]func(args []ref.Val) (takes int, err error){
	"_+_": adds, "_==_": compared, "_!=_": compared, "@in": contained,
	"replace": replaces, "join": joins, "format": formats,
	"strings.quote": free, "base64.encode": free, "json.encode": encodes,
	"lists.range": ranges, "flatten": weighed, "distinct": distinct,
	"sets.contains": pairs, "sets.intersects": pairs, "sets.equivalent": pairs,
	"indexOf": seeks, "lastIndexOf": seeks,
	"includes": weighed, "isSorted": weighed, "sum": weighed, "max": weighed, "min": weighed, // what they cost is counted part by part
	"labels": weighed, "labelSelector": weighed, "quantityText": weighed, "merge": weighed, "selects": weighed, "someOf": weighed,
	"matches": search, "find": search, "findAll": search,
}

// free is for what makes at most some times what it is given.
func free(args []ref.Val) (int, error) { return 2 * length(args[0]), nil }

func searches(function string) bool {
	return function == "matches" || function == "find" || function == "findAll"
}

// length is how long a text is, 0 for what is none.
func length(v ref.Val) int {
	switch x := v.(type) {
	case types.String:
		return len(x)
	case types.Bytes:
		return len(x)
	}
	return 0
}

// items is how many items a list has, 0 for what is none.
func items(v ref.Val) int {
	if l, ok := v.(traits.Lister); ok {
		n, _ := l.Size().(types.Int)
		return int(n)
	}
	return 0
}

func tooMuch(what string, n, most int) error {
	return fmt.Errorf("%s: %d, and may be %d", what, n, most)
}

func within(n, most int, what string) error {
	if n > most {
		return tooMuch(what, n, most)
	}
	return nil
}

func adds(args []ref.Val) (int, error) {
	if _, ok := args[0].(traits.MutableLister); ok && items(args[1]) <= 1 { // what a comprehension fills, item by item
		return 0, nil
	}
	n, bytes := items(args[0])+items(args[1]), length(args[0])+length(args[1])
	if err := within(n, maxItems, "items of a list"); err != nil {
		return 0, err
	}
	return perItem*n + bytes, within(bytes, maxText, "bytes of a text")
}

// add makes a list of two that is as flat as they are: the library's keeps both, and
// asks each for its length whenever it is asked for its own.
func add(args ...ref.Val) ref.Val {
	x, ok := args[0].(traits.Adder)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	sum := x.Add(args[1])
	if reflect.TypeOf(sum) != both() {
		return sum
	}
	all := sum.(traits.Lister)
	out := make([]ref.Val, 0, items(args[0])+items(args[1]))
	for it := all.Iterator(); it.HasNext() == types.True; {
		out = append(out, it.Next())
	}
	return types.NewRefValList(types.DefaultTypeAdapter, out)
}

// both is the type of the library's lists that keep two others.
var both = sync.OnceValue(func() reflect.Type {
	one := types.NewRefValList(types.DefaultTypeAdapter, []ref.Val{types.True})
	return reflect.TypeOf(one.(traits.Adder).Add(one))
})

// compared is for two values, which the library compares part by part only if they are of
// one kind and size.
func compared(args []ref.Val) (int, error) {
	a, b := args[0], args[1]
	if !holds(a) || !holds(b) || a.Type() != b.Type() {
		return 0, nil
	}
	x, sized := a.(traits.Sizer)
	y, _ := b.(traits.Sizer)
	if sized && y != nil && x.Size() != y.Size() {
		return 0, nil
	}
	return weighed(args)
}

// contained is for a value in a map, which is looked up, or in a list, each item of which
// it is compared with.
func contained(args []ref.Val) (int, error) {
	if _, ok := args[1].(traits.Mapper); ok || !holds(args[0]) {
		return 0, nil
	}
	return weighed(args)
}

// holds tells that a value may have parts.
func holds(v ref.Val) bool {
	switch v.(type) {
	case traits.Mapper, traits.Lister, *types.Optional, *mutation.JSONPatchVal:
		return true
	}
	return false
}

func weighed(args []ref.Val) (takes int, err error) {
	for _, v := range args {
		w, err := weigh(v)
		if takes += w.takes(); err != nil {
			return takes, err
		}
	}
	return takes, nil
}

func replaces(args []ref.Val) (int, error) {
	text, _ := args[0].(types.String)
	old, _ := args[1].(types.String)
	with, _ := args[2].(types.String)
	n := strings.Count(string(text), string(old))
	if len(args) > 3 {
		if most, ok := args[3].(types.Int); ok && most >= 0 {
			n = min(n, int(most))
		}
	}
	n = len(text) + times(n, len(with)-len(old))
	return len(text)/looked + min(n, maxText), within(n, maxText, "bytes of a text")
}

func joins(args []ref.Val) (int, error) {
	w, err := weigh(args[0])
	if err == nil && len(args) > 1 {
		err = within(w.bytes+times(items(args[0]), length(args[1])), maxText, "bytes of a text")
	}
	return w.takes(), err
}

// formats reckons what a text becomes, where each verb takes one value: of numbers as
// long as any is, of texts, and of items of lists, as they are. Where quotes or digits make
// it longer than it may be, that is seen when it is made.
func formats(args []ref.Val) (int, error) {
	w, err := weigh(args[1])
	if err != nil {
		return w.takes(), err
	}
	text := string(stringOf(args[0]))
	verbs := times(strings.Count(text, "%"), 400+longestNumber(text))
	return w.takes(), within(len(text)+w.bytes+times(w.parts, 2)+verbs, maxText, "bytes of a text")
}

// encodes is for a text of JSON, for which the library makes a value of its own for each part.
func encodes(args []ref.Val) (int, error) {
	w, err := weigh(args[0])
	if err == nil {
		err = within(w.bytes+times(w.parts, 8), maxText, "bytes of a text")
	}
	return perItem * w.takes(), err
}

// longestNumber is the largest number that a text has after a point.
func longestNumber(text string) (most int) {
	for _, part := range strings.Split(text, ".")[1:] {
		n := 0
		for _, c := range []byte(part) {
			if c < '0' || c > '9' {
				break
			}
			n = min(10*n+int(c-'0'), maxText)
		}
		most = max(most, n)
	}
	return most
}

func ranges(args []ref.Val) (int, error) {
	n, _ := args[0].(types.Int)
	if err := within(int(n), maxItems, "items of a list"); err != nil {
		return 0, err
	}
	return perItem * max(int(n), 0), nil
}

func distinct(args []ref.Val) (int, error) {
	w, err := weigh(args[0])
	comparisons := times(items(args[0]), w.parts)
	if err == nil {
		err = within(comparisons, maxSteps, "comparisons")
	}
	return w.takes() + min(comparisons, maxSteps), err
}

func pairs(args []ref.Val) (int, error) {
	a, err := weigh(args[0])
	if err != nil {
		return a.takes(), err
	}
	b, err := weigh(args[1])
	comparisons := times(items(args[0]), b.parts) + times(items(args[1]), a.parts)
	if err == nil {
		err = within(comparisons, 2*maxSteps, "comparisons")
	}
	return a.takes() + b.takes() + min(comparisons, 2*maxSteps), err
}

// seeks is for lists and for texts, whose search goes on from each place anew.
func seeks(args []ref.Val) (int, error) {
	takes, err := weighed(args[:2])
	if err != nil {
		return takes, err
	}
	steps := times(length(args[0]), length(args[1]))
	return takes, within(steps, maxSearch, "steps of a search")
}

// search reckons with the steps of the program that a pattern is made to, each of which
// may be looked at for each byte.
func search(args []ref.Val) (int, error) {
	text, pattern := length(args[0]), string(stringOf(args[1]))
	if times(text, 1000*len(pattern)) <= maxSearch { // a repetition stands for 1,000 at the most
		return 0, nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, nil // the search says so
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, nil
	}
	return 0, within(times(text, len(program.Inst)), maxSearch, "steps of a search")
}

func stringOf(v ref.Val) types.String {
	s, _ := v.(types.String)
	return s
}

// times is a product, or as much as there is.
func times(a, b int) int {
	if a > 0 && b > math.MaxInt32*1024/a {
		return math.MaxInt32 * 1024
	}
	return a * b
}
