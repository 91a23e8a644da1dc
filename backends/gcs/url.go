package gcs

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Parse returns the Options that a zone's URL stands for:
//
//	gs://bucket/prefix?mode=zonal&unfinalized=keep
//
// The prefix and both parameters may be left out; mode is an Options.Mode, unfinalized=keep is Options.KeepUnfinalized.
func Parse(u *url.URL) (Options, error) {
	o := Options{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	if u.Scheme != "gs" || u.User != nil || u.Fragment != "" || u.Port() != "" {
		return o, errors.New("must be gs://bucket/prefix")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return o, err
	}
	for key, values := range query {
		switch value := values[len(values)-1]; {
		case key == "mode":
			o.Mode = Mode(value)
		case key == "unfinalized" && value == "keep":
			o.KeepUnfinalized = true
		default:
			return o, fmt.Errorf("parameter %s=%s: must be mode=zonal, mode=regional or unfinalized=keep", key, value)
		}
	}
	return o.withDefaults()
}
