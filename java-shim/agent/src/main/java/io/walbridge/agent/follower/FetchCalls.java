// SPDX-License-Identifier: Apache-2.0
package io.walbridge.agent.follower;

import java.util.ArrayList;
import java.util.List;

/**
 * The fetches that one thread is answering: a stack, since reading for one can complete others that were parked
 * (ReplicaManager.readFromLog, Partition.updateFollowerFetchState, DelayedFetch.onComplete, readFromLog). A fetch's
 * offers are there between the end of its read and its response, which come one after the other on one thread. For that
 * thread alone.
 */
final class FetchCalls {
    /** One call of readFromLog. */
    static final class Call {
        final boolean marked;
        final int depth;
        private final Call outer;
        private final boolean ofFollower;
        private final List<Offer> offers = new ArrayList<>(0);
        private long bytes;
        private Object read;
        private long offset;

        private Call(Call outer, boolean ofFollower, boolean marked) {
            this.outer = outer;
            this.ofFollower = ofFollower;
            this.marked = marked;
            depth = outer == null ? 1 : outer.depth + 1;
        }

        /** Where the partition was read from, if this call has just read it; -1 otherwise. Once for each reading. */
        long takeRead(Object partition) {
            boolean justRead = read == partition;
            read = null;
            return justRead ? offset : -1;
        }

        /** The bytes that are offered. */
        long bytes() {
            return bytes;
        }

        void offer(Offer offer) {
            offers.add(offer);
            offer.pointers().forEach(pointer -> bytes += pointer.length());
        }
    }

    private Call top;
    /** The call whose response is made next, if one is. */
    private Call answered;

    Call top() {
        return top;
    }

    /** readFromLog begins. */
    Call begin(boolean ofFollower, boolean marked) {
        answered = null;
        top = new Call(top, ofFollower, marked);
        return top;
    }

    /** It has read a partition from the offset, and asks next whether to keep the records back. */
    void partitionRead(Object partition, long offset) {
        if (top != null && top.ofFollower) {
            top.read = partition;
            top.offset = offset;
        }
    }

    /** readFromLog ends; with an exception there is no response. */
    void end(Call call, boolean returned) {
        top = call.outer;
        answered = returned && !call.offers.isEmpty() ? call : null;
    }

    /** The offers for the response that is made now. */
    List<Offer> take() {
        Call call = answered;
        answered = null;
        return call == null ? List.of() : call.offers;
    }
}
