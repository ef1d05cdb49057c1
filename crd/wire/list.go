package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// List is the outside of a list in its envelope: all that comes before and
// after its items.
type List struct{ Head, Tail []byte }

// NewList makes the outside of a list whose items take size bytes together,
// each as [Message.AppendItem] appends it. kind is that of the list.
func NewList(apiVersion, kind string, m metav1.ListMeta, size int) (List, error) {
	metadata, err := m.Marshal()
	if err != nil {
		return List{}, err
	}
	head := appendOpening(nil, apiVersion, kind, 1+protowire.SizeBytes(len(metadata))+size)
	head = protowire.AppendTag(head, objectMetadata, protowire.BytesType)
	return List{Head: protowire.AppendBytes(head, metadata), Tail: []byte(envelopeTail)}, nil
}

// ItemSize is how many bytes AppendItem appends.
func (m Message) ItemSize() int { return 1 + protowire.SizeBytes(m.Size()) }

// AppendItem appends the message as an item of a list.
func (m Message) AppendItem(dst []byte) []byte {
	dst = protowire.AppendTag(dst, listItems, protowire.BytesType)
	return m.AppendTo(protowire.AppendVarint(dst, uint64(m.Size())))
}
