package frame

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/walbridge/walbridge/backends"
)

const formatDoc = "../../docs/format.md"

// The example ends the document.
func TestFormatExampleIsFresh(t *testing.T) {
	const marker = "<!-- Made by go test ./server/frame -update -->\n"
	prose, _, ok := strings.Cut(string(read(t, formatDoc)), marker)
	if !ok {
		t.Fatalf("%s has no line %q", formatDoc, marker)
	}
	checkGolden(t, formatDoc, []byte(prose+marker+example(t)))
}

func example(t *testing.T) string {
	f := sampleFrame(t)
	extent := f.Extent(sampleObject, 4096)
	one, two := "12345", "6789"

	var s strings.Builder
	fmt.Fprintf(&s, "\nThe object:\n\n    %s\n", extent.Object.Name(sampleIdentity.ClusterID))
	fmt.Fprintf(&s, "\nThe extent:\n\n%s", dumpExtent(marshal(t, extent)))
	fmt.Fprintf(&s, "\nThe frame:\n\n%s", dumpFrame(f))
	fmt.Fprintf(&s, "\nChecksums:\n\n")
	for _, run := range []string{"", one, two, one + two} {
		fmt.Fprintf(&s, "    CRC-32C of %-11q = %08x\n", run, backends.Checksum([]byte(run)))
	}
	shifted := CombineChecksums(backends.Checksum([]byte(one)), 0, int64(len(two)))
	fmt.Fprintf(&s, "    shift(%08x, %d) = %08x, ^ %08x = %08x\n", backends.Checksum([]byte(one)), len(two), shifted,
		backends.Checksum([]byte(two)), shifted^backends.Checksum([]byte(two)))
	return s.String()
}

// dump is bytes with what they mean, 16 to a line.
type dump struct {
	strings.Builder
	offset int
}

func (d *dump) field(b []byte, format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	for len(b) > 0 {
		n := min(len(b), 16)
		d.WriteString(strings.TrimRight(fmt.Sprintf("    %4d  %-32x  %s", d.offset, b[:n], note), " ") + "\n")
		b, note, d.offset = b[n:], "", d.offset+n
	}
}

func dumpExtent(b []byte) string {
	var d dump
	d.field(b[:1], "version")
	d.field(b[1:4], "reserved")
	d.field(b[4:8], "broker")
	d.field(b[8:12], "incarnation")
	d.field(b[12:28], "ULID")
	d.field(b[28:36], "position")
	d.field(b[36:40], "length")
	d.field(b[40:44], "frame CRC")
	d.field(b[44:], "extent CRC")
	return d.String()
}

func dumpFrame(f *Frame) string {
	var d dump
	b := f.Bytes
	d.field(b[:4], "magic")
	d.field(b[4:5], "version")
	d.field(b[5:6], "flags")
	d.field(b[6:8], "reserved")
	d.field(b[8:12], "index length: %d", f.Header.IndexLength)
	d.field(b[12:16], "index CRC")
	d.field(b[16:24], "data length: %d", f.Header.DataLength)
	d.field(b[24:28], "reserved")
	d.field(b[28:32], "header CRC")
	d.message(b[HeaderSize:f.Header.IndexEnd()], f.Index.ProtoReflect().Descriptor(), "")
	for i := range f.Index.Entries {
		d.field(f.Entry(i), "entry %d: %q", i, f.Entry(i))
	}
	return d.String()
}

func (d *dump) message(b []byte, desc protoreflect.MessageDescriptor, path string) {
	seen := map[protowire.Number]int{}
	for len(b) > 0 {
		number, kind, tag := protowire.ConsumeTag(b)
		n := tag + protowire.ConsumeFieldValue(number, kind, b[tag:])
		field := desc.Fields().ByNumber(number)
		name := path + string(field.Name())
		if field.IsList() {
			name += fmt.Sprintf("[%d]", seen[number])
			seen[number]++
		}
		value, _ := protowire.ConsumeBytes(b[tag:])
		switch {
		case field.Message() != nil:
			d.field(b[:n-len(value)], "%s: %d bytes", name, len(value))
			d.message(value, field.Message(), name+".")
		case field.Kind() == protoreflect.StringKind:
			d.field(b[:n], "%s: %q", name, value)
		case kind == protowire.BytesType:
			d.field(b[:n], "%s", name)
		case field.Name() == "crc32c":
			d.field(b[:n], "%s", name)
		case kind == protowire.Fixed32Type:
			v, _ := protowire.ConsumeFixed32(b[tag:])
			d.field(b[:n], "%s: %d", name, v)
		default:
			v, _ := protowire.ConsumeVarint(b[tag:])
			d.field(b[:n], "%s: %d", name, v)
		}
		b = b[n:]
	}
}
