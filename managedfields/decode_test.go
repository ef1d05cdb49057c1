package managedfields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// FuzzManagedFields reads anything that a client can send. What is read is
// written in one way, whatever it was written like, and is what apimachinery
// reads.
func FuzzManagedFields(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `[{}]`, `{}`, `[null]`, `[[]]`, `[{"manager":1}]`,
		`[{"manager":"a","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{".":{},"f:b":{}}},"subresource":"status"}]`,
		`[{"manager":"<\u2028\u0000é","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:\u003c\"\\":{},"v:1":{},"v:\"x\"":{},"k:{\"a\":true,\"b\":null,\"c\":1.5}":{},"i:-3":{},"q:":{}}}]`,
		`[{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:b":{},"f:a":{},"f:b":{"f:c":null}}}]`,
		`[{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:b":` + strings.Repeat(`{"f:a":`, 50) + `{}` + strings.Repeat("}", 50) + `}}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := readManaged(raw, false)
		if _, trusted := readManaged(raw, true); err == nil && trusted != nil {
			t.Fatalf("trusted, it cannot be read: %v", trusted)
		}
		if err != nil {
			return
		}
		if !json.Valid(raw) && len(bytes.TrimSpace(raw)) > 0 {
			t.Fatal("accepted what is not JSON")
		}
		es, err := decode(list)
		if err != nil {
			return
		}
		out := es.encode()
		again, err := readLive(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if !sameOwners(again, es) || !bytes.Equal(again.encode(), out) {
			t.Fatalf("%s is written again as %s", out, again.encode())
		}
		var entries []metav1.ManagedFieldsEntry
		if err := json.Unmarshal(out, &entries); err != nil && len(out) > 0 {
			t.Fatalf("%s: %v", out, err)
		}
		if err := managedfields.ValidateManagedFields(entries); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if printed := inOrder(t, entries); len(out) > 0 && !bytes.Equal(printed, out) {
			t.Fatalf("written %s, apimachinery writes %s", out, printed)
		}
	})
}

// inOrder is the JSON of entries with their members in order.
func inOrder(t *testing.T, entries []metav1.ManagedFieldsEntry) []byte {
	t.Helper()
	out, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	var members []map[string]json.RawMessage
	if err := json.Unmarshal(out, &members); err != nil {
		t.Fatal(err)
	}
	if out, err = json.Marshal(members); err != nil {
		t.Fatal(err)
	}
	return out
}

// FuzzFieldSet compares reading a set with apimachinery's reading.
func FuzzFieldSet(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"f:a":{}}`, `{"f:b":{},"f:a":{".":{}}}`, `{".":{}}`, `{"f:a":{"f:b":null,".":1}}`, `{"f:":{}}`, `{"f":{}}`, `{"":{}}`,
		`{"k:{\"b\":1,\"a\":\"\\u003c\"}":{".":{},"f:x":{}}}`, `{"v:1":{},"v:2.0":{},"v:\"\"":{}}`, `{"i:0":{},"i:x":{}}`, `{"z:":{"f:a":[]}}`, `{"v:1 1":{}}`, `{"k:{}":{}}`,
		`{"f:a":{},"f:a":{"f:b":{}}}`, `{"f:a":{}} x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) || bytes.ContainsRune(raw, '\ufffd') {
			return // the list that it is in was no JSON
		}
		ours, err := readSet(raw)
		their := &fieldpath.Set{}
		theirErr := their.FromJSON(bytes.NewReader(raw))
		if (err == nil) != (theirErr == nil) {
			t.Fatalf("ours: %v; theirs: %v", err, theirErr)
		}
		if err != nil {
			return
		}
		out, _, err := encodeSet(ours)
		if err != nil {
			t.Fatal(err)
		}
		want, err := their.ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		if want = appendHTMLSafe(nil, want); !bytes.Equal(out, want) {
			t.Fatalf("ours: %s; theirs: %s", out, want)
		}
	})
}

func TestSetsOfClientsAreBounded(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat(`{"f:a":`, n) + `{}` + strings.Repeat(`}`, n)) }
	if _, err := readSet(nested(maxSetDepth)); err != nil {
		t.Error(err)
	}
	if _, err := readSet(nested(maxSetDepth + 1)); err != errSetDepth {
		t.Errorf("too deep: %v", err)
	}
	for _, raw := range []string{`{} {}`, `{"q:":tru}`, `{"f:a":nul}`, `{"f:a":{}`, `{".":x}`} {
		if _, err := readSet([]byte(raw)); err == nil {
			t.Errorf("%s is a set", raw)
		}
	}
	broken := fieldpath.NewSet(fieldpath.Path{{}})
	if _, exact, err := encodeSet(broken); err == nil || exact {
		t.Error("a set of nothing is written")
	}
	if _, err := sets.of(broken); err == nil {
		t.Error("a set of nothing is remembered")
	}
}

// Memory does not grow with the sets that were ever seen, and what is used
// stays.
func TestRememberedSetsAreBounded(t *testing.T) {
	c := &fieldSets{}
	kept := []byte(`{"f:kept":{}}`)
	first, err := c.decode(kept)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("x", 10_000)
	for i := range 1000 {
		if _, err := c.decode(fmt.Appendf(nil, `{"f:%s%d":{}}`, name, i)); err != nil {
			t.Fatal(err)
		}
		if again, _ := c.decode(kept); again.fieldSet != first.fieldSet {
			t.Fatalf("forgotten after %d", i)
		}
		size := 0
		for raw := range c.young {
			size += len(raw)
		}
		if size != c.bytes || size > maxRemembered {
			t.Fatalf("%d bytes are remembered, counted %d", size, c.bytes)
		}
	}
	if n := len(c.young) + len(c.old); n > 2*maxRemembered/10_000+2 {
		t.Errorf("%d sets are remembered", n)
	}
	big := fmt.Appendf(nil, `{"f:%s":{}}`, strings.Repeat("x", maxRememberedSet))
	if _, err := c.decode(big); err != nil {
		t.Fatal(err)
	}
	if c.get(big).fieldSet != nil {
		t.Error("a set that is too long is remembered")
	}
	exact := fmt.Appendf(nil, `{"f:%s":{}}`, strings.Repeat("x", maxRememberedSet-len(`{"f:":{}}`)))
	if _, err := c.decode(exact); err != nil || c.get(exact).fieldSet == nil {
		t.Errorf("the longest set is not remembered: %v", err)
	}
}

// Sets of large objects are remembered, and short ones outlive them.
func TestLongSetsAreRememberedApart(t *testing.T) {
	c := &fieldSets{long: &fieldSets{}}
	long := func(i int) []byte { return fmt.Appendf(nil, `{"f:%s%d":{}}`, strings.Repeat("x", 200_000), i) }
	kept, err := c.decode([]byte(`{"f:kept":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		one, err := c.decode(long(i))
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := c.decode(long(i)); again.fieldSet != one.fieldSet {
			t.Fatalf("a long set is not remembered, after %d", i)
		}
	}
	if len(c.young) != 1 || len(c.old) != 0 || c.get(kept.raw).fieldSet != kept.fieldSet {
		t.Errorf("%d and %d short sets are remembered", len(c.young), len(c.old))
	}
	if n := len(c.long.young) + len(c.long.old); n < 2 || n > 2*maxRemembered/200_000 {
		t.Errorf("%d long sets are remembered", n)
	}
}

func TestEntriesAreWrittenInOrder_SSA05(t *testing.T) {
	in := `[{"manager":"b","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:02Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}},` +
		`{"manager":"a","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:02Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"subresource":"status"},` +
		`{"manager":"a","operation":"Update","apiVersion":"v2","time":"2026-01-01T00:00:02Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}},` +
		`{"manager":"a","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:02.9+00:00","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}},` +
		`{"manager":"z","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:01Z","fieldsType":"FieldsV1"},` +
		`{"manager":"z","operation":"Apply","apiVersion":"v1","time":"0001-01-01T00:00:00Z","fieldsType":"FieldsV1"},` +
		`{"manager":"twice","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1"},` +
		`{"manager":"twice","operation":"Apply","apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{"f:x":{}}},` +
		`{"operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:09Z","fieldsType":"FieldsV1"}]`
	want := `[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{},"manager":"z","operation":"Apply","time":null},` +
		`{"apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{"f:x":{}},"manager":"twice","operation":"Apply"},` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{},"operation":"Apply","time":"2026-01-01T00:00:09Z"},` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{},"manager":"z","operation":"Update","time":"2026-01-01T00:00:01Z"},` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"manager":"a","operation":"Update","time":"2026-01-01T00:00:02Z"},` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"manager":"a","operation":"Update","subresource":"status","time":"2026-01-01T00:00:02Z"},` +
		`{"apiVersion":"v2","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"manager":"a","operation":"Update","time":"2026-01-01T00:00:02Z"},` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}},"manager":"b","operation":"Update","time":"2026-01-01T00:00:02Z"}]`
	es, err := readLive([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(es.encode()); got != want {
		t.Errorf("got\n%s\nnot\n%s", got, want)
	}
	if (entries{}).encode() != nil {
		t.Error("no entries are something")
	}
}

// Of many entries with one identity the last one counts, too.
func TestManyEntriesOfOneIdentity(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `,{"manager":"m%d","operation":"Apply","apiVersion":"v%d","fieldsType":"FieldsV1"}`, i%20, i)
	}
	es, err := readLive([]byte("[" + b.String()[1:] + "]"))
	if err != nil || len(es) != 20 {
		t.Fatalf("%d entries: %v", len(es), err)
	}
	for i, e := range es {
		if e.id.manager != fmt.Sprint("m", i) || e.version != fmt.Sprint("v", i+20) {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
}

func TestIdentitiesAreOrderedByTheirText(t *testing.T) {
	for _, test := range []struct {
		id   identity
		want string
	}{
		{identify("a", opUpdate, "v1", ""), `{"manager":"a","operation":"Update","apiVersion":"v1"}`},
		{identify("a<\"", opApply, "v1", "status"), `{"manager":"a\u003c\"","operation":"Apply","subresource":"status"}`},
		{identify("", opUpdate, "v1", "status"), `{"operation":"Update","apiVersion":"v1","subresource":"status"}`},
	} {
		if got := test.id.text(); got != test.want {
			t.Errorf("%s, not %s", got, test.want)
		}
	}
}

func TestOwnersAreTheSame(t *testing.T) {
	at := time.Unix(1, 0)
	e := func(manager, version, fields string) entry {
		f, err := sets.decode([]byte(fields))
		if err != nil {
			t.Fatal(err)
		}
		return entry{id: identify(manager, opUpdate, "v1", ""), version: version, fields: f.fieldSet, altered: f.altered}
	}
	a, b := e("a", "v1", `{"f:a":{}}`), e("b", "v1", `{"f:a":{}}`)
	later := a
	later.at = &at
	lossy := e("a", "v1", `{"v:9007199254740993":{}}`)
	above, below := e("a", "v1", `{"v:9007199254740993":{"f:a":{}}}`), e("a", "v1", `{"f:a":{"v:9007199254740993":{}}}`)
	for _, test := range []struct {
		read, now entries
		want      bool
	}{
		{entries{a, b}, entries{later, b}, true},
		{entries{a, b}, entries{b, a}, false},
		{entries{a, b}, entries{a}, false},
		{entries{a}, entries{e("a", "v2", `{"f:a":{}}`)}, false},
		{entries{a}, entries{e("a", "v1", `{"f:b":{}}`)}, false},
		{entries{a}, entries{e("a", "v1", ` { "f:a" : {} } `)}, true},
		{entries{e("a", "v1", ` { "f:a" : {} } `)}, entries{a}, true},
		{entries{lossy}, entries{lossy}, false},
		{entries{above}, entries{above}, false},
		{entries{below}, entries{below}, false},
	} {
		if got := sameOwners(test.read, test.now); got != test.want {
			t.Errorf("%v and %v: %v", test.read, test.now, got)
		}
	}
}

// Names of keys are escaped like all others.
func TestKeysWithOddNamesAreWritten_SSA18(t *testing.T) {
	for _, name := range []string{"plain", `quo"ted`, "<tag>", `back\slash`, "é", ""} {
		set := &fieldpath.Set{}
		set.Insert(fieldpath.MakePathOrDie("list", fieldpath.KeyByFields(name, "x", "z", 1)))
		raw, exact, err := encodeSet(set)
		if err != nil || !exact {
			t.Fatal(name, exact, err)
		}
		want, err := set.ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		var escaped bytes.Buffer
		json.HTMLEscape(&escaped, want)
		if !bytes.Equal(raw, escaped.Bytes()) {
			t.Errorf("%s, not %s", raw, escaped.Bytes())
		}
		if again, err := readSet(raw); err != nil || !again.Equals(set) {
			t.Errorf("%s is read as %v, %v", raw, again, err)
		}
	}
}

// Entries of a client that are not JSON stand for nothing, wherever the mistake is: those
// that were there stay.
func TestEntriesThatAreNotJSONAreThoseThatWereThere(t *testing.T) {
	entry := func(manager, more string) string {
		return `[{"manager":"` + manager + `","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}` + more + `}]`
	}
	for more, taken := range map[string]bool{"": true, `,"x":{"y":[1]}`: true, `,"x":01`: false, `,"x":{"y":[1}`: false, `,"x":tru`: false, `,"x":"\x"`: false} {
		live, managed := (&Kind{}).start(&Change{LiveManaged: []byte(entry("live", "")), NewManaged: []byte(entry("client", more))})
		if len(live) != 1 || len(managed) != 1 || (managed[0].id != live[0].id) != taken {
			t.Errorf("%s: %+v", more, managed)
		}
	}
}
