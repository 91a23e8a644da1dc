package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Changes returns the keys in which b differs from a: those that a running daemon can take, and those that wait for a
// restart.
func Changes(a, b *Config) (applied, waiting []string) {
	before, after := map[string]string{}, map[string]string{}
	flatten(reflect.ValueOf(*a), "", before)
	flatten(reflect.ValueOf(*b), "", after)
	for path, value := range after {
		if before[path] == value {
			continue
		}
		if k, _ := key(path); k.Reload {
			applied = append(applied, path)
		} else {
			waiting = append(waiting, path)
		}
	}
	slices.Sort(applied)
	slices.Sort(waiting)
	return applied, waiting
}

// flatten puts every value of v below its key's path. A list is one value.
func flatten(v reflect.Value, path string, into map[string]string) {
	if v.Kind() != reflect.Struct {
		into[strings.TrimPrefix(path, ".")] = fmt.Sprint(v.Interface())
		return
	}
	for i := range v.NumField() {
		flatten(v.Field(i), path+"."+v.Type().Field(i).Tag.Get("yaml"), into)
	}
}
