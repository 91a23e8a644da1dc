package frame

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/walbridge/walbridge/backends"
)

// maxCluster leaves room in backends.MaxName for the rest of a name and for a prefix, and is what a file system takes.
const maxCluster = 255

// minuteLayout is the time-partitioned directory. Stores that list without order and without a start can then still be
// listed minute by minute.
const minuteLayout = "20060102T1504"

// maxTime is the first millisecond that minuteLayout cannot show: the year 10000.
var maxTime = uint64(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())

// ObjectID names an object within a cluster. It takes 24 bytes of an extent.
type ObjectID struct {
	Broker      int32     // the broker whose daemon writes the object
	Incarnation uint32    // the start of that daemon
	ULID        ulid.ULID // unique; its time is when the object was opened
}

// Name returns the object's name within a bucket:
// <cluster>/<broker>/<incarnation, 10 digits>/<yyyymmddThhmm, UTC, of the ULID>/<ulid>.
// It is a valid name where CheckCluster accepts cluster and the id is one that ParseName or ParseExtent returns.
func (id ObjectID) Name(cluster string) string {
	return MinuteDir(cluster, id.Broker, id.Incarnation, ulid.Time(id.ULID.Time())) + "/" + id.ULID.String()
}

// Validate returns nil or an *InvalidError.
func (id ObjectID) Validate() error {
	if id.Broker < 0 {
		return invalid("broker", "%d", id.Broker, "0 or more")
	}
	if ms := id.ULID.Time(); ms >= maxTime {
		return invalid("time of the ULID", "%d ms", ms, "a time before the year 10000")
	}
	return nil
}

// Dir is the directory of a broker's objects. The directory of a cluster's is the cluster id.
func Dir(cluster string, broker int32) string {
	return cluster + "/" + strconv.FormatInt(int64(broker), 10)
}

// IncarnationDir is the directory of what one daemon wrote between a start and the next.
func IncarnationDir(cluster string, broker int32, incarnation uint32) string {
	return fmt.Sprintf("%s/%010d", Dir(cluster, broker), incarnation)
}

// MinuteDir is the directory of the objects that were opened in the minute of t.
func MinuteDir(cluster string, broker int32, incarnation uint32, t time.Time) string {
	return IncarnationDir(cluster, broker, incarnation) + "/" + t.UTC().Format(minuteLayout)
}

// ParseName is the inverse of Name. It accepts only what Name returns: a directory that contradicts the ULID, a leading
// zero too many, or a lower case ULID is an error.
func ParseName(name string) (cluster string, id ObjectID, err error) {
	cluster, id, err = parseName(name)
	if err != nil {
		return "", ObjectID{}, fmt.Errorf("object name %.600q: %w", name, err)
	}
	return cluster, id, nil
}

func parseName(name string) (string, ObjectID, error) {
	parts := strings.Split(name, "/")
	if len(parts) != 5 {
		return "", ObjectID{}, errors.New("want <cluster>/<broker>/<incarnation>/<yyyymmddThhmm>/<ulid>")
	}
	if err := CheckCluster(parts[0]); err != nil {
		return "", ObjectID{}, err
	}
	broker, err := strconv.ParseInt(parts[1], 10, 32)
	if err != nil {
		return "", ObjectID{}, fmt.Errorf("broker: %w", err)
	}
	incarnation, err := strconv.ParseUint(parts[2], 10, 32)
	if err != nil {
		return "", ObjectID{}, fmt.Errorf("incarnation: %w", err)
	}
	u, err := ulid.ParseStrict(parts[4])
	if err != nil {
		return "", ObjectID{}, err
	}
	id := ObjectID{Broker: int32(broker), Incarnation: uint32(incarnation), ULID: u}
	if err := id.Validate(); err != nil {
		return "", ObjectID{}, err
	}
	if canonical := id.Name(parts[0]); canonical != name {
		return "", ObjectID{}, fmt.Errorf("want %q", canonical)
	}
	return parts[0], id, nil
}

// CheckCluster returns nil where a cluster id can be the first directory of a name, and an *InvalidError otherwise.
func CheckCluster(cluster string) error {
	if len(cluster) > maxCluster || strings.Contains(cluster, "/") || backends.CheckName(cluster) != nil {
		return invalid("cluster id", "%.300q", cluster,
			fmt.Sprintf("1 to %d of a-z A-Z 0-9 . _ -, not starting with a dot", maxCluster))
	}
	return nil
}
