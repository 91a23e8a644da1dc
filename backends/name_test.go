package backends

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true,
		"5L6g3nShT-eMCtK--X86sw/1/0000000001/20260102T0304/01ARZ3NDEKTSV4RRFFQ69G5FAV": true,
		"-x/_y":                  true,
		"a.b":                    true,
		strings.Repeat("a", 512): true,
		"":                       false,
		"/a":                     false,
		"a/":                     false,
		"a//b":                   false,
		"..":                     false,
		"a/../b":                 false,
		"a/.tmp":                 false,
		"a b":                    false,
		"a\x00":                  false,
		"a\\b":                   false,
		"é":                      false,
		strings.Repeat("a", 513): false,
	} {
		err := CheckName(name)
		if (err == nil) != ok {
			t.Errorf("CheckName(%q) = %v, want ok %v", name, err, ok)
		}
		if err != nil && !errors.Is(err, ErrName) {
			t.Errorf("CheckName(%q) = %v, want ErrName", name, err)
		}
	}
	if err := CheckDir(""); err != nil {
		t.Errorf("CheckDir of the whole bucket: %v", err)
	}
}
