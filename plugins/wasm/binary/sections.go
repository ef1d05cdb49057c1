package binary

func (m *Module) readTypes(r *reader) {
	n := r.count("types", 3, MaxTypes)
	m.Types = make([]FuncType, 0, n)
	values := 0
	for ; n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != 0x60 {
			r.malformed("a type has the unknown form 0x%02x", form)
		}
		t := FuncType{Params: r.valueTypes("parameters"), Results: r.valueTypes("results")}
		values += len(t.Params) + len(t.Results)
		r.within("parameters and results of all types", values, MaxTypeValues)
		m.Types = append(m.Types, t)
	}
}

func (r *reader) valueTypes(what string) []byte {
	types := r.bytes(what+" of a type", MaxParams)
	for _, t := range types {
		r.checkValueType(t)
	}
	return types
}

func (r *reader) valueType() byte {
	t := r.byte()
	r.checkValueType(t)
	return t
}

func (r *reader) checkValueType(t byte) {
	if (t < V128 || t > I32) && !isRef(t) {
		r.malformed("0x%02x is no value type", t)
	}
}

func isRef(t byte) bool { return t == FuncRef || t == ExternRef }

func (r *reader) refType() byte {
	t := r.byte()
	if !isRef(t) {
		r.malformed("0x%02x is no reference type", t)
	}
	return t
}

func (m *Module) readImports(r *reader) {
	n := r.count("imports", 4, MaxImports)
	m.Imports = make([]Import, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		i := Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}
		switch i.Kind {
		case Func:
			m.Funcs = append(m.Funcs, r.index("type", len(m.Types)))
		case Table:
			m.addTable(r)
		case Memory:
			m.addMemory(r)
		case Global:
			m.Globals = append(m.Globals, r.globalType())
		default:
			r.malformed("an import is of the unknown kind %d", i.Kind)
			return
		}
		i.Index = uint32(m.imported[i.Kind])
		m.imported[i.Kind]++
		m.Imports = append(m.Imports, i)
	}
}

func (m *Module) readFunctions(r *reader) {
	n := r.count("functions", 1, MaxFunctions)
	r.within("functions", len(m.Funcs)+n, MaxFunctions)
	funcs := make([]uint32, 0, len(m.Funcs)+n)
	m.Funcs = append(funcs, m.Funcs...)
	for ; n > 0 && r.err == nil; n-- {
		m.Funcs = append(m.Funcs, r.index("type", len(m.Types)))
	}
}

// limits reads the size of a memory or table.
func (r *reader) limits() (l Limits) {
	flags := r.byte()
	if flags > 1 {
		r.malformed("a memory or table is shared or 64 bits wide, which is not supported")
	}
	l.Min = r.u32()
	if flags == 1 {
		l.Max, l.HasMax = r.u32(), true
		if r.err == nil && l.Max < l.Min {
			r.malformed("the maximum %d is below the minimum %d", l.Max, l.Min)
		}
	}
	return l
}

func (m *Module) readTables(r *reader) {
	for n := r.count("tables", 3, MaxTables); n > 0 && r.err == nil; n-- {
		m.addTable(r)
	}
}

func (m *Module) addTable(r *reader) {
	t := TableType{Elem: r.refType(), Limits: r.limits()}
	m.Tables = append(m.Tables, t)
	r.within("tables", len(m.Tables), MaxTables)
	entries := 0
	for _, t := range m.Tables {
		entries += int(t.Min)
	}
	r.within("entries of tables", entries, MaxTableEntries)
}

func (m *Module) readMemories(r *reader) {
	for n := r.count("memories", 2, 1); n > 0 && r.err == nil; n-- {
		m.addMemory(r)
	}
}

func (m *Module) addMemory(r *reader) {
	l := r.limits()
	m.Memories = append(m.Memories, l)
	r.within("memories", len(m.Memories), 1)
	if l.Min > MaxMemoryPages || l.HasMax && l.Max > MaxMemoryPages {
		r.malformed("a memory of more than %d pages", MaxMemoryPages)
	}
}

func (r *reader) globalType() GlobalType {
	g := GlobalType{Type: r.valueType()}
	switch b := r.byte(); b {
	case 0:
	case 1:
		g.Mutable = true
	default:
		r.malformed("0x%02x does not say whether a global is mutable", b)
	}
	return g
}

func (m *Module) readGlobals(r *reader) {
	n := r.count("globals", 4, MaxGlobals)
	r.within("globals", len(m.Globals)+n, MaxGlobals)
	for ; n > 0 && r.err == nil; n-- {
		g := r.globalType()
		m.constant(r)
		m.Globals = append(m.Globals, g)
	}
}

func (m *Module) readExports(r *reader) {
	n := r.count("exports", 3, MaxExports)
	m.Exports = make([]Export, 0, n)
	seen := make(map[string]struct{}, n)
	for ; n > 0 && r.err == nil; n-- {
		e := Export{Name: r.name(), Kind: Kind(r.byte())}
		switch e.Kind {
		case Func:
			e.Index = r.index("function", len(m.Funcs))
		case Table:
			e.Index = r.index("table", len(m.Tables))
		case Memory:
			e.Index = r.index("memory", len(m.Memories))
		case Global:
			e.Index = r.index("global", len(m.Globals))
		default:
			r.malformed("an export is of the unknown kind %d", e.Kind)
		}
		if _, twice := seen[e.Name]; twice {
			r.malformed("it exports %q twice", e.Name)
		}
		seen[e.Name] = struct{}{}
		m.Exports = append(m.Exports, e)
	}
}

func (m *Module) readStart(r *reader) {
	f := r.index("function", len(m.Funcs))
	if r.err != nil {
		return
	}
	if t := m.FuncType(f); len(t.Params)+len(t.Results) > 0 {
		r.malformed("the start function has parameters or results")
	}
	m.Start = int(f)
}
