package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// explain says of what the YAML library found wrong in the file where it stands, of which key, and what would be valid.
// It shows no lines of the file: they may have secrets.
func explain(path string, file *ast.File, err error) error {
	var found yaml.Error
	if !errors.As(err, &found) || found.GetToken() == nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	pos := found.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", path, pos.Line, pos.Column, explanation(file, pos, found))
}

func explanation(file *ast.File, pos *token.Position, found yaml.Error) string {
	_, unreadable := found.(*yaml.SyntaxError)
	if file == nil {
		return found.GetMessage() + ": must be YAML, indented with blanks; the keys of a section stand below its own line, " +
			"such as combine:"
	}
	at := find(file, pos)
	if at == nil {
		return found.GetMessage()
	}
	name := strings.TrimPrefix(at.GetPath(), "$.")
	if _, ok := found.(*yaml.UnknownFieldError); ok {
		i := strings.LastIndexByte(name, '.')
		return fmt.Sprintf("%s: %q: must be left out: there is no such key, but %s", name, shown(at),
			strings.Join(keysIn(name[:i+1]), ", "))
	}
	k, ok := key(at.GetPath())
	switch {
	case !ok:
		return fmt.Sprintf("%s: %q: must be a section with the keys %s", name, shown(at), strings.Join(keysIn(name+"."), ", "))
	case unreadable: // It is said already what cannot be read in it.
		return fmt.Sprintf("%s: %s; must be %s", name, found.GetMessage(), k.Valid)
	}
	return fmt.Sprintf("%s: %q: must be %s", name, shown(at), k.Valid)
}

// shown is a key's value as it may be shown.
func shown(at *ast.MappingValueNode) string {
	if k, ok := key(at.GetPath()); ok && k.Env != "" {
		return "(secret)"
	}
	value, _, _ := strings.Cut(at.Value.String(), "\n")
	return strings.Trim(value, `"'`)
}

// keysIn are the names of the keys below a prefix such as "combine.", or of all that stand below nothing.
func keysIn(prefix string) (names []string) {
	prefix = listIndex.ReplaceAllString(prefix, "[]")
	for _, k := range Keys {
		if rest, ok := strings.CutPrefix(k.Path, prefix); ok {
			name, _, _ := strings.Cut(rest, ".")
			if name = strings.TrimSuffix(name, "[]"); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// find returns the key of the file that begins at pos, or whose value does.
func find(file *ast.File, pos *token.Position) *ast.MappingValueNode {
	f := &finder{pos: pos}
	for _, d := range file.Docs {
		if d.Body != nil {
			ast.Walk(f, d.Body)
		}
	}
	return f.found
}

type finder struct {
	pos   *token.Position
	found *ast.MappingValueNode
}

// Visit implements ast.Visitor.
func (f *finder) Visit(n ast.Node) ast.Visitor {
	if m, ok := n.(*ast.MappingValueNode); ok && (f.begins(m.Key) || f.begins(m.Value)) {
		f.found = m
	}
	return f
}

func (f *finder) begins(n ast.Node) bool {
	t := n.GetToken()
	return t != nil && t.Position.Line == f.pos.Line && t.Position.Column == f.pos.Column
}
