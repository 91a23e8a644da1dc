package s3test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const metadataPrefix = "X-Amz-Meta-"

func (s *Server) createSession(w http.ResponseWriter) {
	n := s.last.Add(1)
	c := aws.Credentials{
		AccessKeyID: fmt.Sprintf("SESSION%d", n), SecretAccessKey: fmt.Sprintf("secret%d", n),
		SessionToken: fmt.Sprintf("token%d", n),
	}
	expires := s.now().Add(s.options.SessionLife)
	s.mu.Lock()
	s.sessions[c.SessionToken] = session{c, expires}
	s.mu.Unlock()
	writeXML(w, createSessionResult{Credentials: sessionCredentials{
		c.SessionToken, c.SecretAccessKey, c.AccessKeyID, expires.UTC().Format(time.RFC3339Nano),
	}})
}

func (s *Server) lifecycle(w http.ResponseWriter, r *http.Request) {
	if s.options.Lifecycle == "" {
		(&apiError{http.StatusNotFound, "NoSuchLifecycleConfiguration", "There is none."}).write(w, r)
		return
	}
	_, _ = io.WriteString(w, s.options.Lifecycle)
}

func (s *Server) put(w http.ResponseWriter, r *http.Request, q request, fault Kind) {
	content := make([]byte, max(r.ContentLength, 0))
	if _, err := io.ReadFull(r.Body, content); err != nil {
		return // the caller left: nothing is stored
	}
	s.wait(r, q.op)
	e := s.checkPut(r, content)
	if fault == Careless {
		e = nil
		r.Header.Del("If-None-Match")
	}
	if e == nil {
		e = s.create(r, q.key, content)
	}
	if e == nil && fault == SentTwice {
		e = s.create(r, q.key, content)
	}
	s.answer(w, r, fault, func() {
		if e != nil {
			e.write(w, r)
			return
		}
		w.Header().Set("X-Amz-Checksum-Crc32c", r.Header.Get("X-Amz-Checksum-Crc32c"))
	})
}

// checkPut checks what every PUT of a log's object should say.
func (s *Server) checkPut(r *http.Request, content []byte) *apiError {
	for name, want := range map[string]string{
		"If-None-Match": "*", "Content-Encoding": "", "Expect": "", "X-Amz-Write-Offset-Bytes": "",
	} {
		if got := r.Header.Get(name); got != want {
			s.options.Complain("s3test: PutObject with %s %q, want %q", name, got, want)
		}
	}
	sum := r.Header.Get("X-Amz-Checksum-Crc32c")
	if sum == "" {
		s.options.Complain("s3test: PutObject without its CRC-32C")
		return nil
	}
	crc := crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
	if base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc)) != sum {
		return &apiError{http.StatusBadRequest, "BadDigest", "The CRC32C you specified did not match."}
	}
	return nil
}

func (s *Server) create(r *http.Request, key string, content []byte) *apiError {
	metadata := make(http.Header)
	for name, values := range r.Header {
		if strings.HasPrefix(name, metadataPrefix) {
			metadata[name] = values
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[key]; ok && r.Header.Get("If-None-Match") == "*" {
		return &apiError{http.StatusPreconditionFailed, "PreconditionFailed", "The object exists."}
	}
	s.objects[key] = object{content, metadata}
	return nil
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, q request, fault Kind) {
	s.mu.Lock()
	o, ok := s.objects[q.key]
	s.mu.Unlock()
	if !ok {
		(&apiError{http.StatusNotFound, "NoSuchKey", "There is no such key."}).write(w, r)
		return
	}
	for name, values := range o.metadata {
		w.Header()[name] = values
	}
	content, status := o.content, http.StatusOK
	if ranged := r.Header.Get("Range"); ranged != "" && fault != NoRange {
		first, last, ok := parseRange(ranged, int64(len(content)))
		if !ok {
			(&apiError{http.StatusRequestedRangeNotSatisfiable, "InvalidRange", ranged}).write(w, r)
			return
		}
		if fault == WrongRange {
			first++
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(content)))
		content, status = content[first:last+1], http.StatusPartialContent
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	s.answer(w, r, fault, func() { send(w, r, status, content, fault) })
}

func parseRange(header string, size int64) (first, last int64, ok bool) {
	if n, _ := fmt.Sscanf(header, "bytes=%d-%d", &first, &last); n != 2 || first > last || first >= size {
		return 0, 0, false
	}
	return first, min(last, size-1), true
}

func send(w http.ResponseWriter, r *http.Request, status int, content []byte, fault Kind) {
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	switch fault {
	case Truncated:
		_, _ = w.Write(content[:len(content)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case Flipped:
		content = slices.Clone(content)
		content[len(content)/2] ^= 1
	}
	_, _ = w.Write(content)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	prefix := query.Get("prefix")
	if prefix != "" && !strings.HasSuffix(prefix, "/") || query.Has("start-after") || query.Has("delimiter") {
		s.options.Complain("s3test: a directory bucket cannot list %s", r.URL.RawQuery)
		(&apiError{http.StatusBadRequest, "InvalidRequest", r.URL.RawQuery}).write(w, r)
		return
	}
	type entry struct{ place, key string }
	var entries []entry
	result := listResult{Name: s.options.Bucket, Prefix: prefix, MaxKeys: s.options.PageSize}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.objects {
		e := entry{place(key), key}
		if strings.HasPrefix(key, prefix) && e.place > query.Get("continuation-token") {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.place, b.place) })
	if len(entries) > s.options.PageSize {
		entries = entries[:s.options.PageSize]
		result.IsTruncated, result.NextContinuationToken = true, entries[len(entries)-1].place
	}
	for _, e := range entries {
		result.Contents = append(result.Contents, listed{e.key, len(s.objects[e.key].content)})
	}
	result.KeyCount = len(entries)
	writeXML(w, result)
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request, fault Kind) {
	var in deleteRequest
	if err := xml.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Objects) > 1000 || len(in.Objects) == 0 {
		s.options.Complain("s3test: DeleteObjects of %d keys: %v", len(in.Objects), err)
		(&apiError{http.StatusBadRequest, "MalformedXML", "1 to 1000 keys"}).write(w, r)
		return
	}
	if !slices.ContainsFunc(slices.Collect(keysOf(r.Header)), func(name string) bool {
		return strings.HasPrefix(name, "X-Amz-Checksum-") || name == "Content-Md5"
	}) {
		s.options.Complain("s3test: DeleteObjects without a checksum")
	}
	var out deleteResult
	s.mu.Lock()
	for i, o := range in.Objects {
		switch {
		case i%2 == 1 && fault == Some:
			out.Errors = append(out.Errors, keyError{o.Key, "SlowDown", "Please reduce your request rate."})
		case i%2 == 1 && fault == SomeDenied:
			out.Errors = append(out.Errors, keyError{o.Key, "AccessDenied", "Access Denied"})
		case i%2 == 1 && fault == SomeForgotten:
		default:
			delete(s.objects, o.Key)
			out.Deleted = append(out.Deleted, keyOnly(o))
		}
	}
	s.mu.Unlock()
	s.answer(w, r, fault, func() { writeXML(w, out) })
}
