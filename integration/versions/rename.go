package versions

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/walbridge/walbridge/integration/artifact"
)

// renaming changes names in class files: what a constant of a class file becomes.
type renaming func(constant string) string

// member renames methods and fields.
func member(from, to string) renaming {
	return func(constant string) string {
		if constant == from {
			return to
		}
		return constant
	}
}

// class renames a class and those within it, in the spelling of class files.
func class(from, to string) renaming {
	name := regexp.MustCompile(`(^|L)` + regexp.QuoteMeta(from) + `($|[;$])`)
	return func(constant string) string { return name.ReplaceAllString(constant, "${1}"+to+"${2}") }
}

// libs makes a copy of the version's jars in dir in which Kafka's core is renamed.
func (r renaming) libs(dir, version string) (string, error) {
	from, err := artifact.KafkaLibs(version)
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "libs")
	if err := os.Mkdir(to, 0o755); err != nil {
		return "", err
	}
	jars, err := os.ReadDir(from)
	if err != nil {
		return "", err
	}
	core := 0
	for _, jar := range jars {
		old, renamed := filepath.Join(from, jar.Name()), filepath.Join(to, jar.Name())
		if strings.HasPrefix(jar.Name(), "kafka_") {
			core++
			err = r.jar(old, renamed)
		} else {
			err = os.Symlink(old, renamed)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", jar.Name(), err)
		}
	}
	if core != 1 {
		return "", fmt.Errorf("%d jars of Kafka's core in %s", core, from)
	}
	return to, nil
}

// jar writes the jar with what its classes are called and call renamed. It fails where nothing is.
func (r renaming) jar(from, to string) error {
	return rewriteJar(from, to, func(entry *zip.File, out *zip.Writer) (changed bool, err error) {
		name, isClass := strings.CutSuffix(entry.Name, ".class")
		if !isClass {
			return false, out.Copy(entry)
		}
		old, err := contents(entry)
		if err != nil {
			return false, err
		}
		renamed, err := r.classFile(old)
		if err != nil {
			return false, fmt.Errorf("%s: %w", entry.Name, err)
		}
		w, err := out.CreateHeader(&zip.FileHeader{Name: r(name) + ".class", Method: zip.Deflate})
		if err != nil {
			return false, err
		}
		_, err = w.Write(renamed)
		return !bytes.Equal(old, renamed), err
	})
}

func contents(entry *zip.File) ([]byte, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// classFile applies the renaming to the UTF-8 constants of a class file; the Java Virtual Machine Specification, §4.4,
// has the format. Nothing else in a class file says where in it something is, so constants may change their lengths.
func (r renaming) classFile(class []byte) ([]byte, error) {
	const header, utf8, long, double = 10, 1, 5, 6
	// The sizes of the constants that have a fixed one, with their tag.
	sizes := map[byte]int{3: 5, 4: 5, long: 9, double: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3, 17: 5,
		18: 5, 19: 3, 20: 3}
	renamed := bytes.Clone(class[:header])
	at := header
	for n := int(binary.BigEndian.Uint16(class[header-2:])) - 1; n > 0; n-- {
		tag := class[at]
		size, known := sizes[tag]
		if tag == utf8 {
			size, known = 3+int(binary.BigEndian.Uint16(class[at+1:])), true
			constant := r(string(class[at+3 : at+size]))
			renamed = append(renamed, utf8)
			renamed = binary.BigEndian.AppendUint16(renamed, uint16(len(constant)))
			renamed = append(renamed, constant...)
		} else {
			renamed = append(renamed, class[at:at+size]...)
		}
		if !known {
			return nil, fmt.Errorf("a constant of unknown tag %d", tag)
		}
		if tag == long || tag == double {
			n-- // They take two numbers.
		}
		at += size
	}
	return append(renamed, class[at:]...), nil
}
