/*
Package quorum makes one backends.Bucket of the buckets of N zones.

# Writing

A frame is committed when W zones have stored it, the majority unless Options says otherwise. [Tally] counts the
zones' votes and says committed, still possible or lost; everything else follows from it. Append hands the frame to
all zones that take part, returns nil at the W-th success, and returns an error as soon as W successes are out of
reach: it waits for no zone that cannot change the outcome. An error leaves the outcome unknown, as with any Writer.

Every zone of a Writer is one goroutine that opens, appends and closes. A zone leaves the object for good where

  - an append fails, or the zone finds there what this Writer has not written: another length, another owner, another
    object. The contract of a store has no length; one that finds another length than it wrote says so with an error;
  - it is not done with the last frame when the next one comes, or not with opening when the first one comes, and has
    been late for MaxLag;
  - it holds MaxLateBytes for callers that have left, or has MaxOps operations under way;
  - it is down.

A zone that has left never gets a later frame of that object and never votes on one. So a frame is at the same
position in every zone that has it, a zone has the frames from the first one up to some later one, possibly torn, and
nothing behind that. A Writer with fewer than W zones left fails at once. Missing copies are counted; nothing is
re-created under a used name.

Callers that leave, be it that they have their quorum or that their ctx ended, cancel nothing: what a zone does for
them goes on until its own timeout, which is how a zone that hangs becomes known, and is bounded by MaxLateBytes and
MaxOps. The bytes of an Append are counted from its return; those of Appends that still have a caller are the caller's
to bound. So a zone holds at most MaxLateBytes, and the Appends that were under way when it reached them.

A store should end an operation when its ctx ends. One that does not is given up, after its timeout and Grace: the
operation has failed, and its goroutine is counted as stuck until it comes back. A zone that has MaxOps operations
under way, stuck ones among them, is asked for nothing more, not even to close.

# Zones that are down

BreakerFailures consecutive failures of openings, appends, closes and reads break a zone: Status says that it is down,
and no write goes there. Only an append that succeeds proves a zone well. Deletes and listings count for nothing, and
neither do reads that a zone asks to slow down: clearing up and catching up must not take a zone from the writers.
[Bucket.Run] probes broken zones every ProbeInterval by writing and deleting a small object, and they come back by
themselves.

Zones that are down, or too far behind, are kept in reserve and are asked as soon as the others cannot make a quorum.
So if more than N-W zones are down every write tries them. It may take such a write, which would fail anyway, up to
ZoneTimeout; in return the first one after W zones work again succeeds. A zone that stores it is up again.

# Reading

See [Bucket.ReadAt] and [Bucket.ReadChecked]. What was committed is in W zones, so any N-W+1 zones have it among them:
a read needs one good copy, and may say that there is none when N-W+1 zones say so.

# Creating as mutual exclusion

Of all who Create a name at most one succeeds, together with its first Append: W is more than N/2, so two of them
would have to own the object in a common zone. It can be that none does: with N zones and as many creators each may
get one. All of them fail with ErrExists then, and take another name. Within one Bucket that does not happen: while a
name has a Writer here a second Create fails without asking any zone.
*/
package quorum
