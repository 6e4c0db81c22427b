import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { type Connection, type Frame, LiveSocket } from "./socket";

/** A web socket whose other end is the test. */
class FakeSocket {
  readyState: number = WebSocket.CONNECTING;
  sent: Record<string, unknown>[] = [];
  onopen = () => {};
  onmessage = (_: { data: string }) => {};
  onclose = () => {};

  open() {
    this.readyState = WebSocket.OPEN;
    this.onopen();
  }

  tell(frame: Frame) {
    this.onmessage({ data: JSON.stringify(frame) });
  }

  send(text: string) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.onclose();
  }
}

describe("the socket of a tab", () => {
  let made: FakeSocket[];
  let frames: Frame[];
  let connections: Connection[];
  let resent: string[];
  let socket: LiveSocket;
  const last = () => made.at(-1)!;

  beforeEach(() => {
    vi.useFakeTimers();
    [made, frames, connections, resent] = [[], [], [], []];
    socket = new LiveSocket(
      new URL("ws://localhost/v1/chat/ws"),
      () => ["soulgraph"],
      {
        frame: (frame) => frames.push(frame),
        connection: (connection) => connections.push(connection),
        resent: (inputId) => resent.push(inputId),
      },
      () => {
        made.push(new FakeSocket());
        return last() as unknown as WebSocket;
      },
    );
    socket.open();
  });

  afterEach(() => {
    socket.close();
    vi.useRealTimers();
  });

  it("comes back by itself, later and later, and at once after it was there", () => {
    last().close();
    expect(connections.at(-1)).toBe("down");
    vi.advanceTimersByTime(300);
    expect(made).toHaveLength(2);
    last().close();
    vi.advanceTimersByTime(300);
    expect(made).toHaveLength(2);
    vi.advanceTimersByTime(300);
    expect(made).toHaveLength(3);
    last().open();
    last().close();
    vi.advanceTimersByTime(300);
    expect(made).toHaveLength(4);
  });

  it("asks for what it missed since the last event that can be told again", () => {
    socket.listen({ soul_id: "s" });
    last().open();
    expect(last().sent).toEqual([{ type: "listen", soul_id: "s" }]);
    last().tell({ event: "listening", data: { soul_id: "s", last_event_id: "p-1", missed: false } });
    last().tell({ event: "state_changed", id: "p-7", data: { soul_id: "s" } });
    last().tell({ event: "emotion_update", data: {} });
    last().close();
    vi.advanceTimersByTime(300);
    last().open();
    expect(last().sent).toEqual([{ type: "listen", soul_id: "s", after: "p-7" }]);
  });

  it("says again what was not answered, under the same id, and tells that the words begin anew", () => {
    last().open();
    socket.chat({ input_id: "one", text: "hi" });
    last().tell({ event: "token", input_id: "one", data: { text: "he" } });
    last().close();
    vi.advanceTimersByTime(300);
    last().open();
    expect(last().sent).toEqual([{ type: "chat", input_id: "one", text: "hi" }]);
    expect(resent).toEqual(["one"]);
  });

  it("lets words go on after the last event of their turn, which is no place in what happens to souls", () => {
    socket.listen({ soul_id: "s" });
    last().open();
    last().tell({ event: "state_changed", id: "p-7", data: { soul_id: "s" } });
    socket.chat({ input_id: "one", text: "hi" });
    last().tell({ event: "token", id: "turn_1.1.2.9f", input_id: "one", data: { text: "he" } });
    last().close();
    vi.advanceTimersByTime(300);
    last().open();
    expect(last().sent).toEqual([
      { type: "listen", soul_id: "s", after: "p-7" },
      { type: "chat", input_id: "one", text: "hi", after: "turn_1.1.2.9f" },
    ]);
    expect(resent).toEqual([]);
  });

  it("tells that words begin anew when the server says so", () => {
    last().open();
    socket.chat({ input_id: "one", text: "hi" });
    last().tell({ event: "token", id: "turn_1.1.2.9f", input_id: "one", data: { text: "he" } });
    last().tell({ event: "restart", id: "turn_2.0.0.00", input_id: "one", data: { reason: "lost" } });
    expect(resent).toEqual(["one"]);
    last().close();
    vi.advanceTimersByTime(300);
    last().open();
    expect(last().sent).toEqual([{ type: "chat", input_id: "one", text: "hi", after: "turn_2.0.0.00" }]);
  });

  it("keeps what is said while nobody answers, and does not call that said again", () => {
    socket.chat({ input_id: "one", text: "hi" });
    last().open();
    expect(last().sent).toEqual([{ type: "chat", input_id: "one", text: "hi" }]);
    expect(resent).toEqual([]);
  });

  it.each(["done", "error"])("says nothing again after %s", (event) => {
    last().open();
    socket.chat({ input_id: "one", text: "hi" });
    last().tell({ event, input_id: "one", data: {} });
    last().close();
    vi.advanceTimersByTime(300);
    last().open();
    expect(last().sent).toEqual([]);
    expect(frames.at(-1)?.event).toBe(event);
  });

  it("does not hear of a soul any more that nobody looks at", () => {
    socket.listen({ soul_id: "s" });
    last().open();
    socket.unlisten("s");
    expect(last().sent.at(-1)).toEqual({ type: "unlisten", soul_id: "s" });
    last().close();
    vi.advanceTimersByTime(300);
    last().open();
    expect(last().sent).toEqual([]);
  });

  it("takes a connection for lost that does not answer a ping", () => {
    last().open();
    vi.advanceTimersByTime(20_000);
    expect(last().sent).toEqual([{ type: "ping" }]);
    last().tell({ event: "pong", data: {} });
    vi.advanceTimersByTime(19_000);
    expect(made).toHaveLength(1);
    vi.advanceTimersByTime(1_000 + 10_000);
    expect(connections).toContain("down");
  });

  it("is down as soon as the device has no network, also if nothing closes, and back as soon as it has one", () => {
    last().open();
    socket.chat({ input_id: "one", text: "hi" });
    const dead = last();
    dead.close = () => {};
    socket.networkLost();
    expect(connections.at(-1)).toBe("down");
    socket.check();
    expect(made).toHaveLength(2);
    last().open();
    expect(last().sent).toEqual([{ type: "chat", input_id: "one", text: "hi" }]);
    dead.onclose();
    expect(connections.at(-1)).toBe("open");
  });

  it("finds out soon whether a connection is alive that was not looked at", () => {
    last().open();
    socket.check();
    expect(last().sent).toEqual([{ type: "ping" }]);
    last().tell({ event: "pong", data: {} });
    vi.advanceTimersByTime(3_000);
    expect(connections.at(-1)).toBe("open");
    last().close = () => {};
    socket.check();
    vi.advanceTimersByTime(3_000);
    expect(connections.at(-1)).toBe("down");
  });
});
