package transport

import (
	"net"
	"sync"
)

// recordSize is what a TLS record can hold.
const recordSize = 16 << 10

// records divides what is sent into records of TLS: little is gathered until there is
// enough for one, much goes from where it is.
type records struct {
	conn net.Conn
	// gathered, if not nil, is the memory of the record that is being filled, n bytes.
	gathered *[recordSize]byte
	n        int
	failed   error
}

var recordPool = sync.Pool{New: func() any { return new([recordSize]byte) }}

// add sends p, now or with what follows.
func (r *records) add(p []byte) {
	for len(p) > 0 && r.failed == nil {
		if whole := len(p) / recordSize * recordSize; r.n == 0 && whole > 0 {
			r.release() // nobody may have memory while a client that does not read is waited for
			_, r.failed = r.conn.Write(p[:whole])
			p = p[whole:]
			continue
		}
		if r.gathered == nil {
			r.gathered = recordPool.Get().(*[recordSize]byte)
		}
		n := copy(r.gathered[r.n:], p)
		r.n += n
		if p = p[n:]; r.n == recordSize {
			r.write()
		}
	}
}

func (r *records) write() {
	if r.n > 0 && r.failed == nil {
		_, r.failed = r.conn.Write(r.gathered[:r.n])
	}
	r.n = 0
}

func (r *records) release() {
	if r.gathered != nil {
		recordPool.Put(r.gathered)
		r.gathered = nil
	}
}

// flush sends what was added and is not sent yet.
func (r *records) flush() error {
	r.write()
	r.release()
	return r.failed
}
