package linear

// plain is memory of Go's heap. Restore copies all of it.
type plain struct {
	most uint64
	data []byte
	kept []byte
	back bool // the next Reallocate shrinks it
	room taken
}

func newPlain(most uint64) Memory { return &plain{most: most} }

// Reallocate implements Memory.
func (m *plain) Reallocate(size uint64) []byte {
	if m.back {
		m.back, size = false, uint64(len(m.kept))
	}
	if size > m.most {
		return nil
	}
	if size > uint64(cap(m.data)) {
		// As much again as there is, so that adding pages one by one copies little.
		data := make([]byte, size, min(max(size, 2*uint64(len(m.data))), m.most))
		copy(data, m.data)
		m.data = data
	}
	m.data = m.data[:size]
	return m.data[:size:size]
}

// Free implements Memory.
func (m *plain) Free() {
	m.data, m.kept = nil, nil
	m.room.give()
}

// Keep implements Memory.
func (m *plain) Keep(shared *Shared) (err error) {
	if m.room, err = take(shared.Room, len(m.data)); err != nil {
		return err
	}
	m.kept = append(make([]byte, 0, len(m.data)), m.data...)
	return nil
}

// Restore implements Memory.
func (m *plain) Restore() (grown bool, err error) {
	if m.kept == nil {
		return false, errNotKept
	}
	m.back = len(m.data) != len(m.kept)
	clear(m.data[copy(m.data, m.kept):])
	return m.back, nil
}

// Resident implements Memory.
func (m *plain) Resident() int64 { return int64(cap(m.data) + len(m.kept)) }
