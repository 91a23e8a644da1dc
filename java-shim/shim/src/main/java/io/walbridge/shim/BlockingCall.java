package io.walbridge.shim;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusException;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * One call of any kind, driven by the thread that made it. Both ways are bounded: {@link #send} waits while the
 * transport is not ready for more, and at most {@link #AHEAD} replies are held for {@link #next}. All waiting ends with
 * the call, at its deadline at the latest, also that of a caller that has gone away.
 *
 * <p>Of a method whose type says that the client sends one message, the messages go all at once, at the half close:
 * grpc wakes its thread and calls the kernel for each message of a client's stream, and once for those together.
 *
 * <p>{@link #close} may be called by any thread, the other methods by one at a time.
 */
final class BlockingCall<Q, R> implements AutoCloseable {

    /** One reply being read, and one on its way. */
    static final int AHEAD = 2;

    private final ClientCall<Q, R> call;
    private final boolean atOnce;
    private final Deque<R> replies = new ArrayDeque<>(AHEAD);
    private Status end;
    private Metadata trailers;
    /** The caller needs no replies before the end. */
    private boolean awaitsEnd;

    BlockingCall(Channel channel, MethodDescriptor<Q, R> method, Duration timeout, Trace trace) {
        call = channel.newCall(method, CallOptions.DEFAULT.withDeadlineAfter(timeout));
        atOnce = method.getType().clientSendsOneMessage();
        call.start(new Replies(), trace.headers());
        if (!atOnce) {
            call.request(AHEAD);
        }
    }

    /** Sends the only message of a call that has one. */
    void ask(Q message) {
        call.sendMessage(message);
        halfClose();
    }

    /**
     * Sends one message, as soon as the transport takes it, or puts it to those that go at once; then it must be small.
     * False if the call has ended; {@link #next} says why.
     */
    boolean send(Q message) throws InterruptedException {
        synchronized (this) {
            while (end == null && !atOnce && !call.isReady()) { // Of what goes at once grpc never tells that it is ready.
                wait();
            }
            if (end != null) {
                return false;
            }
        }
        call.sendMessage(message);
        return true;
    }

    /** Tells the server that no more messages follow. */
    void halfClose() {
        call.halfClose();
        if (atOnce) {
            call.request(AHEAD);
        }
    }

    /** Returns the next reply, or null after the last one. */
    R next() throws InterruptedException, StatusException {
        R reply;
        boolean open;
        synchronized (this) {
            while (end == null && replies.isEmpty()) {
                wait();
            }
            reply = replies.poll();
            if (reply == null) {
                throwIfFailed();
                return null;
            }
            open = end == null;
        }
        if (open) {
            call.request(1);
        }
        return reply;
    }

    /** Returns the only reply of a call that has one, once that has ended well; null if there was none. */
    synchronized R only() throws InterruptedException, StatusException {
        awaitsEnd = true;
        while (end == null) {
            wait();
        }
        throwIfFailed();
        if (replies.size() > 1) {
            throw Status.INTERNAL.withDescription("more than one reply").asException();
        }
        return replies.poll();
    }

    private void throwIfFailed() throws StatusException {
        if (!end.isOk()) {
            throw end.asException(trailers);
        }
    }

    /** Cancels the call if it has not ended, and drops the replies that nobody has taken. */
    @Override
    public void close() {
        synchronized (this) {
            replies.clear();
            if (end != null) {
                return;
            }
        }
        call.cancel("closed by the caller", null);
    }

    private final class Replies extends ClientCall.Listener<R> {
        @Override
        public void onReady() {
            synchronized (BlockingCall.this) {
                BlockingCall.this.notifyAll();
            }
        }

        @Override
        public void onMessage(R reply) {
            synchronized (BlockingCall.this) {
                replies.add(reply);
                if (!awaitsEnd) {
                    BlockingCall.this.notifyAll();
                }
            }
        }

        @Override
        public void onClose(Status status, Metadata metadata) {
            synchronized (BlockingCall.this) {
                end = status;
                trailers = metadata;
                if (!status.isOk()) {
                    // The whole call has failed, and its caller may never come for them.
                    replies.clear();
                }
                BlockingCall.this.notifyAll();
            }
        }
    }
}
