package rawjson

import "math/bits"

// Enter is for text that is known to be JSON, as [Pass] is: it returns the
// position just after the bracket that opens the object or array at i, 0 when
// there is neither.
func Enter(data []byte, i int) (inside int, object bool) {
	i = Space(data, i)
	if i >= len(data) || data[i] != '{' && data[i] != '[' {
		return 0, false
	}
	return i + 1, data[i] == '{'
}

// Member finds the next member of an object, or element of an array, in text
// that is known to be JSON. i is the position after the opening bracket or
// after the value before, which [Pass] finds. A key is data[key:keyEnd], without
// its quotes and with its escapes; the value begins at value. At the end of the
// container value is 0, and key the position after it; both are 0 where the
// text turns out to be no JSON.
//
// It is [Walk] for modules, in which a struct costs more than all of this.
func Member(data []byte, i int, object bool) (key, keyEnd, value int) {
	if i < len(data) && data[i] == ',' {
		i++
	}
	if !object || i >= len(data) || data[i] != '"' {
		return member(data, i, object)
	}
	key = i + 1
	for i = key; i+8 <= len(data); i += 8 {
		q := firstQuote(load(data, i))
		if q == 0 {
			continue
		}
		i += bits.TrailingZeros64(q) / 8
		if i+2 < len(data) && data[i+1] == ':' && data[i+2] > ' ' && data[i-1] != '\\' {
			return key, i, i + 2
		}
		break
	}
	return member(data, key-1, object)
}

// member is Member wherever there is white space, an escape, or an end.
func member(data []byte, i int, object bool) (key, keyEnd, value int) {
	i = Space(data, i)
	if i < len(data) && data[i] == ',' {
		i = Space(data, i+1)
	}
	switch {
	case i >= len(data):
		return 0, 0, 0
	case object && data[i] == '}', !object && data[i] == ']':
		return i + 1, 0, 0
	case !object:
		return 0, 0, i
	case data[i] != '"': // the wrong bracket, or anything else
		return 0, 0, 0
	}
	end := passString(data, i)
	colon := Space(data, end)
	if end < i+2 || colon >= len(data) || data[colon] != ':' {
		return 0, 0, 0
	}
	return i + 1, end - 1, Space(data, colon+1)
}
