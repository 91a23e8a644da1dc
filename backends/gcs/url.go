package gcs

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ParseURL returns the Options that a zone's URL stands for:
//
//	gs://bucket/prefix?mode=zonal&unfinalized=keep
//
// The prefix and both parameters may be left out; mode is an Options.Mode, unfinalized=keep is Options.KeepUnfinalized.
func ParseURL(zoneURL string) (Options, error) {
	o, err := parse(zoneURL)
	if err != nil {
		return Options{}, fmt.Errorf("zone %q: %w", zoneURL, err)
	}
	return o, nil
}

func parse(zoneURL string) (Options, error) {
	u, err := url.Parse(zoneURL)
	if err != nil {
		return Options{}, err
	}
	if u.Scheme != "gs" || u.Host == "" || u.User != nil || u.Fragment != "" || u.Port() != "" {
		return Options{}, errors.New("a Cloud Storage zone is gs://bucket/prefix")
	}
	o := Options{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/")}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Options{}, err
	}
	for key, values := range query {
		switch value := values[len(values)-1]; {
		case key == "mode":
			o.Mode = Mode(value)
		case key == "unfinalized" && value == "keep":
			o.KeepUnfinalized = true
		default:
			return Options{}, fmt.Errorf("parameter %s=%s: must be mode=zonal, mode=regional or unfinalized=keep", key, value)
		}
	}
	_, err = o.withDefaults()
	return o, err
}
