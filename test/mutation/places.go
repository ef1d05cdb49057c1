package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// edit puts a text in the place of a part of a file. In texts # stands for the number of
// the place.
type edit struct {
	from, to int
	text     string
	// of is where what is edited begins and ends, which tells at one offset what is
	// around what.
	of [2]int
}

// place is one that can be broken.
type place struct {
	number int
	file   string
	line   int
	what   string // of the line is broken
	edits  []edit
}

func (p *place) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.what) }

// source is a file whose places are looked for.
type source struct {
	path  string
	text  []byte
	lines []string
	set   *token.FileSet
	found []*place
}

// placesOf finds all places of the package in a directory, but for those in its tests.
func placesOf(dir string) (name string, sources []*source, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", nil, err
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		s := &source{path: path, set: token.NewFileSet()}
		if s.text, err = os.ReadFile(path); err != nil {
			return "", nil, err
		}
		file, err := parser.ParseFile(s.set, path, s.text, parser.SkipObjectResolution)
		if err != nil {
			return "", nil, err
		}
		name, s.lines = file.Name.Name, strings.Split(string(s.text), "\n")
		ast.Inspect(file, s.look)
		sources = append(sources, s)
	}
	return name, sources, nil
}

// look finds the places of a node, and tells whether there are more below it.
func (s *source) look(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.GenDecl:
		return x.Tok == token.VAR || x.Tok == token.TYPE
	case *ast.BinaryExpr:
		s.binary(x)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			s.wrap(x, x.Pos(), "!", "mutatedIs(#, ", ")")
		}
	case *ast.Ident:
		if x.Name == "true" || x.Name == "false" {
			s.wrap(x, x.Pos(), x.Name, "mutatedIs(#, ", ")")
		}
	case *ast.BranchStmt:
		if x.Tok == token.CONTINUE && x.Label == nil {
			at := s.offset(x.Pos())
			s.add(x.Pos(), "continue", edit{at, at, "if mutatedPlace == # { break }; ", [2]int{at, at}})
		}
	case *ast.ReturnStmt:
		if len(x.Results) != 1 {
			break
		}
		if name, ok := x.Results[0].(*ast.Ident); ok && name.Name == "err" {
			s.wrap(name, x.Pos(), "return err", "mutatedErr(#, ", ")")
		}
	}
	return true
}

// binary finds what can be wrong with an operator.
func (s *source) binary(x *ast.BinaryExpr) {
	from, to := s.offset(x.OpPos), s.offset(x.OpPos)+len(x.Op.String())
	one, _ := x.Y.(*ast.BasicLit)
	switch x.Op {
	case token.EQL, token.NEQ:
		s.wrap(x, x.OpPos, x.Op.String(), "mutatedIs(#, ", ")")
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		call := map[token.Token]string{token.LSS: "mutatedLess(#, ", token.LEQ: "mutatedMost(#, ", token.GTR: "!mutatedMost(#, ", token.GEQ: "!mutatedLess(#, "}[x.Op]
		s.wrap(x, x.OpPos, x.Op.String(), call, ")", edit{from, to, ",", [2]int{from, to}})
	case token.LAND, token.LOR:
		call := map[token.Token]string{token.LAND: "mutatedAnd(#, ", token.LOR: "mutatedOr(#, "}[x.Op]
		s.wrap(x, x.OpPos, x.Op.String(), call, ")})", edit{from, to, ", func() bool { return (", [2]int{from, to}}) // which may be in the next line
	case token.ADD, token.SUB:
		if one == nil || one.Value != "1" {
			return
		}
		call := map[token.Token]string{token.ADD: "mutatedMore(#, ", token.SUB: "mutatedFewer(#, "}[x.Op]
		s.wrap(x, x.OpPos, x.Op.String()+" 1", call, ")", edit{from, s.offset(x.End()), "", [2]int{from, from}})
	}
}

// wrap adds a place that is broken by a call around a node.
func (s *source) wrap(n ast.Node, at token.Pos, what, before, after string, inside ...edit) {
	from, to := s.offset(n.Pos()), s.offset(n.End())
	s.add(at, what, append(inside, edit{from, from, before, [2]int{from, to}}, edit{to, to, after, [2]int{from, to}})...)
}

// add adds a place, unless there is a text in its line: words are not judged.
func (s *source) add(at token.Pos, what string, edits ...edit) {
	line := s.set.Position(at).Line
	code, _, _ := strings.Cut(s.lines[line-1], "//")
	if strings.ContainsAny(code, "\"`") {
		return
	}
	s.found = append(s.found, &place{file: s.path, line: line, what: what + " in " + strings.TrimSpace(code), edits: edits})
}

func (s *source) offset(p token.Pos) int { return s.set.Position(p).Offset }
