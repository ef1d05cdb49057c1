package wire

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ObjectMeta decodes the metadata, with the resourceVersion; nothing else is
// decoded. What it returns belongs to the caller.
func (m Message) ObjectMeta() (*metav1.ObjectMeta, error) {
	meta := &metav1.ObjectMeta{}
	if err := meta.Unmarshal(m.raw[m.start:m.end]); err != nil {
		return nil, err
	}
	if meta.ResourceVersion = ""; m.revision > 0 {
		meta.ResourceVersion = strconv.FormatInt(m.revision, 10)
	}
	return meta, nil
}
