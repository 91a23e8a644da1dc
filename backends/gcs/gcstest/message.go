package gcstest

import (
	_ "cloud.google.com/go/storage" // registers the messages
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// message is one of the SDK's messages. Their Go types are internal to the SDK, and a second package for the same
// .proto file could not be registered beside them, so they are reached by reflection.
//
// A name that the SDK does not know is a mistake in this package and panics.
type message struct{ protoreflect.Message }

func newMessage(name string) message {
	t, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("google.storage.v2." + name))
	if err != nil {
		panic("gcstest: message " + name + ": " + err.Error())
	}
	return message{t.New()}
}

func (m message) field(name string) protoreflect.FieldDescriptor {
	f := m.Descriptor().Fields().ByName(protoreflect.Name(name))
	if f == nil {
		panic("gcstest: message " + string(m.Descriptor().FullName()) + " has no field " + name)
	}
	return f
}

func (m message) has(name string) bool        { return m.Has(m.field(name)) }
func (m message) int(name string) int64       { return m.Get(m.field(name)).Int() }
func (m message) uint32(name string) uint32   { return uint32(m.Get(m.field(name)).Uint()) }
func (m message) bool(name string) bool       { return m.Get(m.field(name)).Bool() }
func (m message) string(name string) string   { return m.Get(m.field(name)).String() }
func (m message) bytes(name string) []byte    { return m.Get(m.field(name)).Bytes() }
func (m message) message(name string) message { return message{m.Get(m.field(name)).Message()} }

func (m message) messages(name string) []message {
	list := m.Get(m.field(name)).List()
	all := make([]message, list.Len())
	for i := range all {
		all[i] = message{list.Get(i).Message()}
	}
	return all
}

// set sets a field and returns m.
func (m message) set(name string, v any) message {
	if v, ok := v.(message); ok {
		m.Set(m.field(name), protoreflect.ValueOfMessage(v.Message))
		return m
	}
	m.Set(m.field(name), protoreflect.ValueOf(v))
	return m
}

// add appends to a list and returns m.
func (m message) add(name string, v message) message {
	m.Mutable(m.field(name)).List().Append(protoreflect.ValueOfMessage(v.Message))
	return m
}
