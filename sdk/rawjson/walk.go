package rawjson

// Walk goes over the members of one object or the elements of one array. The
// zero value is not useful; see [Open].
//
//	w, err := rawjson.Open(data, 0, false)
//	for w.Next() {
//		w.Key()   // objects only
//		w.Value() // or w.At and w.Resume to look inside
//	}
//	err = w.Err()
type Walk struct {
	data    []byte
	pos     int
	trusted bool
	object  bool
	started bool
	done    bool
	key     []byte
	err     error
}

// Open starts a walk over the object or array that begins at i. With trusted
// the text is known to be JSON (see [Pass]), else it is checked on the way.
func Open(data []byte, i int, trusted bool) (Walk, error) {
	i = Space(data, i)
	if i >= len(data) {
		return Walk{}, ErrEnd
	}
	if data[i] != '{' && data[i] != '[' {
		return Walk{}, ErrSyntax
	}
	return Walk{data: data, pos: i + 1, trusted: trusted, object: data[i] == '{'}, nil
}

// IsObject says whether the walk goes over an object.
func (w *Walk) IsObject() bool { return w.object }

// Next moves to the next member or element, whose value must be passed with
// [Walk.Value] or [Walk.Resume] before the next call. It returns false at the
// end and on the first error.
func (w *Walk) Next() bool {
	if w.done || w.err != nil {
		return false
	}
	i := Space(w.data, w.pos)
	if i >= len(w.data) {
		return w.fail(i, ErrEnd)
	}
	end := byte(']')
	if w.object {
		end = '}'
	}
	if w.data[i] == end {
		w.pos, w.done = i+1, true
		return false
	}
	if w.started {
		if w.data[i] != ',' {
			return w.fail(i, ErrSyntax)
		}
		i = Space(w.data, i+1)
	}
	w.started = true
	if w.object {
		return w.readKey(i)
	}
	if i >= len(w.data) {
		return w.fail(i, ErrEnd)
	}
	w.pos = i
	return true
}

func (w *Walk) readKey(i int) bool {
	if i >= len(w.data) {
		return w.fail(i, ErrEnd)
	}
	if w.data[i] != '"' {
		return w.fail(i, ErrSyntax)
	}
	var end int
	if w.trusted {
		end = passString(w.data, i)
	} else {
		var err error
		if end, err = skipString(w.data, i); err != nil {
			return w.fail(end, err)
		}
	}
	colon := Space(w.data, end)
	if colon >= len(w.data) || end < i+2 {
		return w.fail(colon, ErrEnd)
	}
	if w.data[colon] != ':' {
		return w.fail(colon, ErrSyntax)
	}
	w.key = w.data[i+1 : end-1]
	w.pos = Space(w.data, colon+1)
	return true
}

func (w *Walk) fail(i int, err error) bool {
	w.pos, w.err = i, err
	return false
}

// Key is the text between the quotes of the current member's key, escapes not
// resolved (see [Equal]). It is a part of the walked text.
func (w *Walk) Key() []byte { return w.key }

// At is the position where the current value starts.
func (w *Walk) At() int { return w.pos }

// Value passes the current value and returns its text, a part of the walked
// text, or nil after an error.
func (w *Walk) Value() []byte {
	start := w.pos
	end, err := start, error(nil)
	if w.trusted {
		if end = Pass(w.data, start); end == start {
			err = ErrSyntax
		}
	} else {
		end, err = Skip(w.data, start)
	}
	if err != nil {
		w.fail(end, err)
		return nil
	}
	w.pos = end
	return w.data[start:end]
}

// Resume continues after a value that the caller passed by other means; end is
// the position just after it.
func (w *Walk) Resume(end int) { w.pos = end }

// End is, after Next returned false without an error, the position just after
// the closing bracket.
func (w *Walk) End() int { return w.pos }

// Err is the error that ended the walk, or nil.
func (w *Walk) Err() error { return w.err }
