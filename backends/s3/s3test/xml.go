package s3test

import (
	"encoding/xml"
	"io"
	"iter"
	"maps"
	"net/http"
)

type createSessionResult struct {
	XMLName     xml.Name `xml:"CreateSessionResult"`
	Credentials sessionCredentials
}

type sessionCredentials struct{ SessionToken, SecretAccessKey, AccessKeyId, Expiration string }

type listResult struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	Name, Prefix          string
	MaxKeys, KeyCount     int
	IsTruncated           bool
	NextContinuationToken string `xml:",omitempty"`
	Contents              []listed
}

type listed struct {
	Key  string
	Size int
}

type deleteRequest struct {
	Objects []keyOnly `xml:"Object"`
}

type deleteResult struct {
	XMLName xml.Name   `xml:"DeleteResult"`
	Deleted []keyOnly  `xml:"Deleted"`
	Errors  []keyError `xml:"Error"`
}

type keyOnly struct{ Key string }

type keyError struct{ Key, Code, Message string }

func writeXML(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/xml")
	_, _ = io.WriteString(w, xml.Header)
	_ = xml.NewEncoder(w).Encode(v)
}

// apiError is an answer of S3's that says what is wrong.
type apiError struct {
	status        int
	code, message string
}

// write sends the error; the answer to a HEAD has no body.
func (e *apiError) write(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(e.status)
	if r.Method == http.MethodHead {
		return
	}
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: e.code, Message: e.message})
}

func keysOf(h http.Header) iter.Seq[string] { return maps.Keys(h) }
