package plugintest

import "github.com/wasmgate/wasmgate/plugins"

// KeptBytes is how long the first reply of each of [Keepers] is.
const KeptBytes = 5

// Keepers are modules that change something of themselves in each call of the
// converting hook, each something else: whose reply has another length than
// [KeptBytes], or fails, has seen what a call before left behind.
func Keepers() map[string]Guest {
	var (
		wide     = []byte{0xad}                                 // i64.extend_i32_u
		five     = ConstI64(KeptBytes)                          // the reply
		null     = []byte{0xd0, 0x70}                           // ref.null func
		fn       = []byte{0xd2, 0}                              // ref.func 0
		isFive   = Join([]byte{0xd1}, wide, five, []byte{0x7e}) // ref.is_null, as five or zero
		table    = List([]byte{0x70, 0, 2})
		declared = List([]byte{3, 0, 1, 0})
		passive  = List([]byte{1, 0, 1, 0})
	)
	global := func(kind byte, value []byte, read, change []byte) Guest {
		return keeping(map[byte][]byte{6: List(Join([]byte{kind, 1}, value, []byte{0x0b})), 9: declared},
			Join([]byte{0x23, 0}, read, change, []byte{0x24, 0}))
	}
	tables := func(elements []byte, code ...[]byte) Guest {
		return keeping(map[byte][]byte{4: table, 9: elements}, Join(code...))
	}
	// entry is five while the first entry of the table is null.
	entry := Join(ConstI32(0), []byte{0x25, 0}, isFive)
	return map[string]Guest{
		"an i32":      global(I32, ConstI32(5), wide, ConstI32(9)),
		"an i64":      global(I64, ConstI64(5), nil, ConstI64(9)),
		"an f32":      global(0x7d, []byte{0x43, 0, 0, 0xa0, 0x40}, []byte{0xaf}, []byte{0x43, 0, 0, 0x80, 0x3f}),
		"an f64":      global(0x7c, []byte{0x44, 0, 0, 0, 0, 0, 0, 0x14, 0x40}, []byte{0xb1}, []byte{0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}),
		"a v128":      global(0x7b, Join([]byte{0xfd, 12, 5}, make([]byte, 15)), []byte{0xfd, 0x1d, 0}, Join([]byte{0xfd, 12, 9}, make([]byte, 15))),
		"a reference": global(0x70, null, isFive, fn),

		"table.set":  tables(declared, entry, ConstI32(0), fn, []byte{0x26, 0}),
		"table.fill": tables(declared, entry, ConstI32(0), fn, ConstI32(1), []byte{0xfc, 17, 0}),
		"table.copy": tables(List([]byte{0, 0x41, 1, 0x0b, 1, 0}), entry, ConstI32(0), ConstI32(1), ConstI32(1), []byte{0xfc, 14, 0, 0}),
		"table.init": tables(passive, entry, ConstI32(0), ConstI32(0), ConstI32(1), []byte{0xfc, 12, 0, 0}),
		"table.grow": tables(declared, []byte{0xfc, 16, 0}, ConstI32(3), []byte{0x6a}, wide, null, ConstI32(1), []byte{0xfc, 15, 0, 0x1a}),
		"elem.drop":  tables(passive, five, ConstI32(0), ConstI32(0), ConstI32(1), []byte{0xfc, 12, 0, 0}, []byte{0xfc, 13, 0}),
		"data.drop": keeping(map[byte][]byte{11: List([]byte{1, 1, 7}), 12: {1}},
			Join(five, ConstI32(0), ConstI32(0), ConstI32(1), []byte{0xfc, 8, 0, 0}, []byte{0xfc, 9, 0})),

		"memory":      keeping(nil, Join(five, ConstI32(64), []byte{0x28, 2, 0}, wide, []byte{0x7c}, ConstI32(64), ConstI32(9), []byte{0x36, 2, 0})),
		"memory.grow": keeping(nil, Join([]byte{0x3f, 0}, ConstI32(3), []byte{0x6a}, wide, ConstI32(1), []byte{0x40, 0, 0x1a})),
		"memory that was added": keeping(nil, Join(ConstI32(1), []byte{0x40, 0, 0x1a}, five, ConstI32(2<<16), []byte{0x28, 2, 0}, wide, []byte{0x7c},
			ConstI32(2<<16), ConstI32(9), []byte{0x36, 2, 0})),
	}
}

// keeping is a module with sections and a hook of its own.
func keeping(sections map[byte][]byte, code []byte) Guest {
	g := Echo("").With(string(plugins.Convert), Hook(code...))
	g.Raw = sections
	return g
}
