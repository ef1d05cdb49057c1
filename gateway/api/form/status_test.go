package form

import (
	"bytes"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/api/reply"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

func TestStatus_MT05(t *testing.T) {
	resp := reply.Error(apierrors.NewBadRequest("no"))
	Status(resp, "application/yaml", false, false)
	if resp.ContentType != encoding.TypeYAML || !bytes.Contains(resp.Body, []byte("message: \"no\"\n")) {
		t.Errorf("%s %s", resp.ContentType, resp.Body)
	}
	for _, other := range []*reply.Response{{Code: 404, ContentType: "text/plain", Body: []byte("not: found")}, {Code: 200, ContentType: encoding.TypeJSON, Body: []byte("{}")}} {
		body, media := string(other.Body), other.ContentType
		if Status(other, "application/yaml", false, false); string(other.Body) != body || other.ContentType != media {
			t.Errorf("what is no Status became %s %s", other.ContentType, other.Body)
		}
	}
	for _, accept := range []string{"", "application/json, application/yaml", "text/html"} {
		resp := reply.Error(apierrors.NewBadRequest("no"))
		Status(resp, accept, false, false)
		if resp.ContentType != encoding.TypeJSON {
			t.Errorf("%q: %s", accept, resp.ContentType)
		}
	}
}

// What a list says of its length is what it writes, however the items fall
// into pieces.
func TestBody_LengthIsWhatIsWritten(t *testing.T) {
	remaining := int64(4)
	for _, sizes := range [][]int{nil, {1}, {pieceSize}, {pieceSize * 2}, {10, pieceSize, 10}, {pieceSize - 40, 60, 1, pieceSize * 3, 5, 5}} {
		l := &encoding.List{APIVersion: "example.com/v1", Kind: "ThingList", ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: `a"b`, RemainingItemCount: &remaining}}
		head, tail, _ := encoding.JSON.Codec().Around(l, len(sizes), 0)
		b := sequence{media: encoding.JSON, head: head, tail: tail}
		want := `{"apiVersion":"example.com/v1","items":[`
		var all objects
		for i, n := range sizes {
			item := bytes.Repeat([]byte{byte('a' + i)}, n)
			all = append(all, encoding.Text(item))
			if i > 0 {
				want += ","
			}
			want += string(item)
		}
		want += `],"kind":"ThingList","metadata":{"continue":"a\"b","remainingItemCount":4,"resourceVersion":"9"}}` + "\n"
		b.items = all
		var got bytes.Buffer
		if err := b.write(&got); err != nil || got.String() != want || b.length() != len(want) {
			t.Errorf("%v: %d bytes, %d promised, %d wanted, %v", sizes, got.Len(), b.length(), len(want), err)
		}
		if err := b.write(broken{}); !errors.Is(err, errBroken) {
			t.Errorf("%v: a failed write went unnoticed: %v", sizes, err)
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// short is a writer that breaks after some bytes.
type short struct{ left int }

func (s *short) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// xs is an item of so many bytes.
func xs(of byte, n int) encoding.Object { return encoding.Text(bytes.Repeat([]byte{of}, n)) }

// A connection that breaks anywhere in a list is noticed, and nothing more is
// written to it.
func TestBody_AConnectionThatBreaks(t *testing.T) {
	b := sequence{head: []byte("["), tail: []byte("]"), media: encoding.JSON, items: objects{encoding.Text("1"), xs('x', pieceSize*3), xs('y', pieceSize), xs('z', pieceSize)}}
	for _, left := range []int{0, 1, pieceSize, pieceSize * 3, pieceSize * 4, b.length() - 1} {
		w := &short{left: left}
		if err := b.write(w); !errors.Is(err, errBroken) {
			t.Errorf("after %d of %d bytes: %v", left, b.length(), err)
		}
	}
	if err := b.write(&short{left: b.length()}); err != nil {
		t.Error(err)
	}
}
