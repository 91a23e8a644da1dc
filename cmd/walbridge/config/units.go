package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Duration is a time.Duration written as in Go: 10ms, 2s, 1h30m. A bare number is refused, since it would not say of
// what.
type Duration time.Duration

// UnmarshalYAML reads the scalar.
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	text := node.GetToken().Value
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return wrong(node, "%q is not a duration: write a number and a unit, such as 10ms, 2s or 1h", text)
	}
	*d = Duration(v)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

// Bytes is a size, written as a number and one of the units B, KiB, MiB, GiB.
type Bytes int64

var byteUnits = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// UnmarshalYAML reads the scalar.
func (s *Bytes) UnmarshalYAML(node ast.Node) error {
	text := node.GetToken().Value
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.size {
			break
		}
		*s = Bytes(n * u.size)
		return nil
	}
	return wrong(node, "%q is not a size: write a whole number and one of B, KiB, MiB, GiB, such as 64MiB", text)
}

func (s Bytes) String() string {
	for _, u := range byteUnits {
		if int64(s)%u.size == 0 && (s != 0 || u.size == 1) {
			return strconv.FormatInt(int64(s)/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

func wrong(node ast.Node, format string, args ...any) error {
	return &yaml.SyntaxError{Message: fmt.Sprintf(format, args...), Token: node.GetToken()}
}

// Mode is a file mode, written in octal digits.
type Mode uint32

// UnmarshalYAML reads the scalar as it is written: 0660 and "0660" are the same.
func (m *Mode) UnmarshalYAML(node ast.Node) error {
	text := node.GetToken().Value
	v, err := strconv.ParseUint(text, 8, 32)
	if err != nil {
		return wrong(node, "%q is not a file mode: write octal digits, such as \"0660\"", text)
	}
	*m = Mode(v)
	return nil
}

func (m Mode) String() string { return fmt.Sprintf("%04o", uint32(m)) }
