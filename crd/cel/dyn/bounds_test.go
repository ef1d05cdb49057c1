package dyn

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/library"
)

// bound nests definitions, each of which uses the one before some times.
func bound(first, each string, levels int, last string) string {
	text := last
	for i := levels; i >= 1; i-- {
		text = fmt.Sprintf("cel.bind(v%d, %s, %s)", i, strings.ReplaceAll(each, "v", fmt.Sprintf("v%d", i-1)), text)
	}
	return fmt.Sprintf("cel.bind(v0, %s, %s)", first, text)
}

// tooLarge are expressions of which one step would take hours, or all memory.
func tooLarge() map[string]string {
	long := `"` + strings.Repeat("x", 1000) + `"`
	eight := strings.TrimSuffix(strings.Repeat("v + ", 8), " + ")
	parts := "[" + strings.TrimSuffix(strings.Repeat("v, ", 8), ", ") + "]"
	return map[string]string{
		"a replacement":          "cel.bind(a, " + long + ", cel.bind(b, a.replace('x', a), b.replace('x', b)))",
		"sums of lists":          bound("[0, 0]", eight, 12, "v12"),
		"how long a sum is":      bound("[0, 0]", "v + v", 60, "v60.size()"),
		"a sum's sum":            bound("[0, 0]", eight, 12, "v12.sum()"),
		"parts of parts":         bound("[0, 0]", parts, 20, "v20"),
		"parts that are equal":   bound("[0, 0]", parts, 20, "dyn(v20) == dyn(v19)"),
		"parts that differ":      bound("[0, 0]", parts, 20, "dyn(v20) != dyn(v19)"),
		"parts in parts":         bound("[0, 0]", parts, 20, "dyn(v19) in dyn(v20)"),
		"parts of an optional":   bound("[0, 0]", parts, 20, "optional.of(dyn(v20)) == optional.of(dyn(v19))"),
		"parts of a map":         bound("{'a': 0}", "{'a': v, 'b': v}", 60, "v60"),
		"parts that are flat":    bound("[0, 0]", parts, 20, "v20.flatten(30)"),
		"a list in its place":    "cel.bind(v, [], [v + [0, 0]" + strings.Repeat(", v + v", 40) + "])",
		"a range":                "lists.range(10000000000).size()",
		"different ones":         "lists.range(99999).distinct()",
		"sets":                   "sets.contains(lists.range(99999), lists.range(99999))",
		"sets that meet":         "sets.intersects(lists.range(99999), lists.range(99999))",
		"equal sets":             "sets.equivalent(lists.range(99999), lists.range(99999))",
		"texts that are joined":  bound(long, "v + v", 11, "lists.range(5000).map(i, v11).join()"),
		"what stands between":    bound(long, "v + v", 11, "lists.range(5000).map(i, '').join(v11)"),
		"sums of texts":          bound(long, "v + v", 40, "v40.size()"),
		"quotes":                 bound(`"\""`, "strings.quote(v)", 100, "v100.size()"),
		"a sum that is counted":  bound("[0, 0]", parts, 20, "dyn(v20).sum()"),
		"a place that is":        bound("[0, 0]", parts, 20, "dyn(v20).indexOf(1)"),
		"JSON of parts":          bound("[0, 0]", parts, 7, "json.encode(v7)"),
		"JSON of texts":          bound(long, "v + v", 12, "json.encode([v12, v12])"),
		"encodings":              bound("b'a'", "bytes(base64.encode(v))", 200, "v200.size()"),
		"a format":               "'%.999999999f'.format([1.0])",
		"a format of a list":     "cel.bind(v, lists.range(90000).map(i, 1e300), '%s'.format([v]))",
		"formats":                bound(long, "'%s%s%s%s%s%s%s%s'.format([v, v, v, v, v, v, v, v])", 12, "v12.size()"),
		"a pattern":              bound(long, "v + v", 11, "v11.matches('(x?){1000}(x?){1000}(x?){1000}y')"),
		"a pattern that is made": bound(long, "v + v", 11, "v11.matches('(x?){1000}(x?){1000}(x?){1000}y' + self.list[0])"),
		"what is found":          bound(long, "v + v", 11, "v11.find('(x?){1000}(x?){1000}(x?){1000}y')"),
		"a place":                bound(long, "v + v", 11, "v11.indexOf(v10 + 'y')"),
		"the last place":         bound(long, "v + v", 11, "v11.lastIndexOf('y' + v10)"),
	}
}

// Whoever may write an expression may not take the process with it, nor hold a core.
func TestStepsAreBounded(t *testing.T) {
	var before, after runtime.MemStats
	for name, text := range tooLarge() {
		runtime.ReadMemStats(&before)
		_, _, err := Bounded(text).Maybe(Variables{Self: map[string]any{"list": []any{"z"}}})
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s can be evaluated", name)
			continue
		}
		if strings.Contains(err.Error(), "Syntax error") || strings.Contains(err.Error(), "undeclared") || strings.Contains(err.Error(), "no such") || strings.Contains(err.Error(), "no matching") {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 512<<20 {
			t.Errorf("%s takes %d MiB: %v", name, took>>20, err)
		}
	}
}

// What ordinary expressions do is what it was.
func TestBoundsLetThrough(t *testing.T) {
	self := map[string]any{"list": []any{"a", "b"}, "text": strings.Repeat("abc", 10_000), "long": strings.Repeat("abc", 1<<19), "many": make([]any, 50_000)}
	for _, text := range []string{
		"[1, 2] + [3] == [1, 2, 3]", "([1] + [2] + [3]).size() == 3", "self.list + ['c'] == ['a', 'b', 'c']", "[] + [1] == [1]", "[1] + [] == [1]",
		"self.list.map(x, x + x) == ['aa', 'bb']", "'a' in self.list", "!('c' in self.list)", "'a' in {'a': 1}", "1 != 2", "[1] != [2]", "!([1] != [1])", "b'a' + b'b' == b'ab'",
		"1 + 1 == 2", "1.5 + 1.0 == 2.5", "duration('1s') + duration('1s') == duration('2s')", "timestamp('2020-01-01T00:00:00Z') + duration('1h') == timestamp('2020-01-01T01:00:00Z')",
		"'a-b'.replace('-', '') == 'ab'", "'aaa'.replace('a', 'b', 2) == 'bba'", "'a'.replace('', '-') == '-a-'", "self.list.join() == 'ab'", "self.list.join('-') == 'a-b'", "'%s has %d of %.2f'.format(['x', 3, 1.5]) == 'x has 3 of 1.50'",
		"lists.range(3) == [0, 1, 2]", "[[1], [2]].flatten() == [1, 2]", "[1, 1, 2].distinct() == [1, 2]", "sets.contains([1, 2], [1])", "!sets.intersects([1], [2])", "sets.equivalent([1, 2], [2, 1])",
		"self.list.indexOf('b') == 1", "self.text.indexOf('c') == 2", "'abc'.lastIndexOf('c') == 2", "'abc'.indexOf('c', 1) == 2",
		"self.text.matches('^(abc){1000}')", "!self.text.matches('^[0-9]{1,63}$')", "self.text.find('[bc]+') == 'bc'", "'aab'.findAll('a') == ['a', 'a']", "'aab'.findAll('a', 1) == ['a']", "'x'.matches('x' + '')",
		"strings.quote('a') == '\"a\"'", "base64.encode(b'a') == 'YQ=='", "optional.of(1) == optional.of(1)", "{'a': [1]} == {'a': [1]}", "null == null", "self.text != self.list",
		"'%s'.format([self.long]).size() == self.long.size()", "'%s'.format([self.many]).size() > 100000", "'%x'.format([self.long]).size() > self.long.size()",
		"dyn(1).matches('x' + '') || true", "dyn(1).matches('x') || true", "[1, 'x'].exists(x, dyn(x).matches('x' + ''))", "!(dyn(1).find('x' + '') == 'x' && false)",
		"dyn(1).replace('a', 'b') == 'x' || true", "dyn(1).indexOf('b' + '') == 1 || true", "dyn(1).join() == 'x' || true", "dyn(1).sum() == 1 || true", "(1 in dyn(2)) || true",
	} {
		if ok, err := Bounded(text).True(Variables{Self: self}); err != nil || !ok {
			t.Errorf("%s: %t, %v", text, ok, err)
		}
	}
	for _, text := range []string{"'a' + 1", "dyn('a') + dyn(1)", "dyn(true) + dyn(true)", "dyn(1) in dyn(2)", "dyn(1).replace('a', 'b')", "self.none + 'a'", "'a'.matches('(')", "lists.range(-1)[0]"} {
		if _, err := Bounded(text).Eval(Variables{Self: self}); err == nil {
			t.Errorf("%s can be evaluated", text)
		}
	}
}

// What the library does at once is not looked at whole: thousands of lookups in a map of
// thousands would be a look at each of its parts each.
func TestLookupsAreNotWeighed(t *testing.T) {
	many := map[string]any{}
	for i := range 400_000 {
		many[strconv.Itoa(i)] = int64(i)
	}
	some := make([]any, 2000)
	for i := range some {
		some[i] = strconv.Itoa(i)
	}
	parts := 0
	for _, text := range []string{"self.some.all(k, k in self.many)", "self.some.all(k, self.many != null)", "self.some.all(k, self.many != self.some)", "self.some.all(k, '7' in self.some)"} {
		begun := testing.AllocsPerRun(1, func() {
			if ok, err := Bounded(text).True(Variables{Self: map[string]any{"many": many, "some": some}}); err != nil || !ok {
				t.Errorf("%s: %t, %v", text, ok, err)
			}
		})
		if parts = int(begun); parts > 20_000_000 {
			t.Errorf("%s: %d allocations", text, parts)
		}
	}
}

// manySteps are expressions each step of which is let through, and which the library
// counts little of.
func manySteps() map[string]string {
	parts := "[" + strings.TrimSuffix(strings.Repeat("v, ", 8), ", ") + "]"
	return map[string]string{
		"texts that are replaced": "lists.range(20).map(i, 'x'.replace('x', self.big)).size() > 0",
		"texts of a format":       "lists.range(20).map(i, '%s'.format([self.text])).size() > 0",
		"encodings":               "lists.range(20).map(i, base64.encode(self.bytes)).size() > 0",
		"JSON":                    "lists.range(20).map(i, json.encode(self.big)).size() > 0",
		"sums of unknown types":   "lists.range(20).map(i, dyn(self.big) + dyn(self.big)).size() > 0",
		"sums of lists":           "lists.range(20).all(i, (self.list + self.list).size() > 0)",
		"lists of numbers":        "lists.range(20).all(i, lists.range(50000).size() > 0)",
		"parts that are equal":    bound("[0, 0]", parts, 5, "lists.range(20).all(i, v5 == v5)"),
		"parts that are refused":  bound("[0, 0]", parts, 8, "lists.range(20).all(i, v8 == v8 || true)"),
		"what is merged":          "lists.range(20).all(i, merge(self.map, self.map) != null)",
	}
}

// What the steps of one evaluation make and look at is bounded, too.
func TestManyStepsAreBounded(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	list := make([]any, 40_000)
	for i := range list {
		list[i] = int64(i)
	}
	self := map[string]any{"big": big, "text": big[:800<<10], "bytes": []byte(big), "list": list, "map": map[string]any{"list": list}}
	for name, text := range manySteps() {
		e := Bounded(text)
		e.units = costLimit / 40
		if _, err := e.True(Variables{Self: self}); err == nil || !strings.Contains(err.Error(), "cost limit exceeded") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What small values and texts cost is what the library counts.
func TestCostsOfGuardedSteps(t *testing.T) {
	self := map[string]any{"text": strings.Repeat("x", 10_000), "list": []any{"a", "b"}, "bytes": []byte("abc")}
	own, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	cost := func(env *cel.Env, text string) uint64 {
		ast, issues := env.Compile(text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := env.Program(ast, cel.EvalOptions(cel.OptOptimize), cel.CostTracking(&library.CostEstimator{}))
		if err != nil {
			t.Fatal(err)
		}
		out, details, err := program.Eval(&variables{Self: self})
		if err != nil || out != types.True {
			t.Fatalf("%s: %v, %v", text, out, err)
		}
		return *details.ActualCost()
	}
	for _, text := range []string{
		"'a' == 'a'", "self.text == self.text", "self.text + 'x' != self.text", "[1, 2] == [1, 2]", "{'a': [1]} != {'a': [2]}", "dyn('a') + dyn('b') == 'ab'",
		"self.list + self.list != self.list", "'a' in self.list", "'a' in ['a', 'b']", "[1] in [[1], [2]]", "!([1] in [self.list])", "'a' in {'a': 1}", "optional.of(self.text) == optional.of(self.text)",
		"self.text.replace('x', 'y') != ''", "'%s'.format(['a']) == 'a'", "sets.contains([1], [1])", "self.list.join() == 'ab'", "[3, 4].indexOf(4) == 1 && [1].isSorted()",
		"lists.range(3).size() == 3", "'abc'.indexOf('c') == 2 && 'a'.matches('a')", "[1, 2].sum() == 3 && [1, 2].max() == 2", "strings.quote(self.text) != ''", "base64.encode(self.bytes) != ''",
		"self.text.matches('x+') && self.text.find('x') == 'x'", "[1, 1].distinct() == [1]", "[[1]].flatten() == [1]", "lists.range(3000).map(x, x).size() == 3000", "self.list.map(x, x + 'a').all(x, x in ['aa', 'ba'])",
	} {
		if got, want := cost(own, text), cost(theirs, text); got != want {
			t.Errorf("%s costs %d, want %d", text, got, want)
		}
	}
}

// An evaluation that is to end does so between steps, outside of loops, too.
func TestStepsLookForAnEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	list := make([]any, 100_000)
	for i := range list {
		list[i] = int64(i)
	}
	_, err := Bounded("self == oldSelf").True(Variables{Self: list, Old: slices.Clone(list), Within: ctx})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
