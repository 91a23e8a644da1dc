package backends

import (
	"fmt"
	"strings"
)

// CheckName returns nil where name may name an object, or an error that wraps ErrName and tells what is wrong. It is
// what keeps a name from outside (a cluster id, an object to inspect) from leaving its bucket.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: it is empty", ErrName)
	}
	return CheckDir(name)
}

// CheckDir is CheckName for the dir of a List, which may be empty.
func CheckDir(dir string) error {
	if dir == "" {
		return nil
	}
	if len(dir) > MaxName {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrName, len(dir), MaxName)
	}
	for part := range strings.SplitSeq(dir, "/") {
		switch {
		case part == "":
			return fmt.Errorf("%w %q: empty part", ErrName, dir)
		case part[0] == '.':
			return fmt.Errorf("%w %q: part %q starts with a dot", ErrName, dir, part)
		}
		for i := range len(part) {
			if c := part[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
				return fmt.Errorf("%w %q: character %q", ErrName, dir, c)
			}
		}
	}
	return nil
}
