/**
 * The one web socket of a tab. It comes back by itself, asks for what it missed, and sends again what was not answered:
 * an input with the same id is answered once, so nothing is said twice, and its words go on where they broke off.
 */

export interface Frame {
  event: string;
  id?: string;
  session_id?: string | null;
  input_id?: string | null;
  data: Record<string, unknown>;
}

/** A turn as it is sent: the body of `POST /v1/chat`, with an id that makes sending it again harmless. */
export interface ChatMessage {
  input_id: string;
  soul_id?: string;
  session_id?: string;
  text?: string;
  user_id?: string;
  replaces?: number;
  terminal_id?: string;
  character_id?: string;
  background_id?: string;
  template_id?: string;
}

export interface Subscription {
  soul_id: string;
  user_id?: string;
  nodes?: boolean;
}

export type Connection = "connecting" | "open" | "down";

export interface SocketHandlers {
  frame: (frame: Frame) => void;
  connection: (connection: Connection, retryAt: number | null) => void;
  /** The reply of a turn begins anew: it was sent again before a word of it was heard, or its words were lost. */
  resent: (inputId: string) => void;
}

const FIRST_RETRY_MS = 300;
const LAST_RETRY_MS = 5000;
const PING_MS = 20_000;
const SILENCE_MS = 10_000;
/** Whoever looks at the page again waits for its answer. */
const LOOKING_SILENCE_MS = 3_000;
const LAST_EVENTS = new Set(["done", "error"]);

export class LiveSocket {
  private socket: WebSocket | null = null;
  private retryMs = FIRST_RETRY_MS;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pinging: ReturnType<typeof setInterval> | undefined;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private lastEventId: string | undefined;
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly unanswered = new Map<string, ChatMessage>();
  /** The id of the last event of each turn. */
  private readonly heard = new Map<string, string>();
  private sent = new Set<string>();

  constructor(
    private readonly address: URL,
    private readonly protocols: () => string[],
    private readonly handlers: SocketHandlers,
    private readonly make: (url: URL, protocols: string[]) => WebSocket = (url, protocols) =>
      new WebSocket(url, protocols),
  ) {}

  open(): void {
    this.close();
    this.handlers.connection("connecting", null);
    const socket = this.make(this.address, this.protocols());
    this.socket = socket;
    socket.onopen = () => this.opened();
    socket.onmessage = (message) => this.received(JSON.parse(String(message.data)) as Frame);
    socket.onclose = () => this.lost(socket);
  }

  close(): void {
    clearTimeout(this.timer);
    clearInterval(this.pinging);
    clearTimeout(this.silence);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  /** The device says that it has no network. A server on the same machine is found again before anybody notices. */
  networkLost(): void {
    if (this.socket) this.lost(this.socket);
  }

  /** The device has a network again, or somebody looks at the page again: a connection may have died unnoticed. */
  check(): void {
    if (this.isOpen) this.ping(LOOKING_SILENCE_MS);
    else this.open();
  }

  /** Hear of this soul from now on, also after the connection was lost and found again. */
  listen(subscription: Subscription): void {
    this.subscriptions.set(subscription.soul_id, subscription);
    this.send({ type: "listen", ...subscription });
  }

  unlisten(soulId: string): void {
    if (this.subscriptions.delete(soulId)) this.send({ type: "unlisten", soul_id: soulId });
  }

  /** Say something: at once, or as soon as there is a connection. */
  chat(message: ChatMessage): void {
    this.unanswered.set(message.input_id, message);
    if (this.isOpen) this.sent.add(message.input_id);
    this.send({ type: "chat", ...message });
  }

  /** Do not send this turn again; one that runs already goes on without us. */
  /** Only now: a turn that the server does not have yet is not there to be stopped. */
  stop(turn: Pick<ChatMessage, "session_id" | "user_id" | "input_id">): void {
    if (this.isOpen) this.send({ type: "stop", ...turn });
  }

  forget(inputId: string): void {
    this.unanswered.delete(inputId);
    this.heard.delete(inputId);
  }

  private get isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  private opened(): void {
    this.retryMs = FIRST_RETRY_MS;
    this.handlers.connection("open", null);
    for (const subscription of this.subscriptions.values()) {
      this.send({ type: "listen", ...subscription, ...(this.lastEventId && { after: this.lastEventId }) });
    }
    for (const [inputId, message] of this.unanswered) {
      const after = this.heard.get(inputId);
      if (this.sent.has(inputId) && !after) this.handlers.resent(inputId);
      this.sent.add(inputId);
      this.send({ type: "chat", ...message, ...(after && { after }) });
    }
    this.pinging = setInterval(() => this.ping(), PING_MS);
  }

  private received(frame: Frame): void {
    clearTimeout(this.silence);
    if (frame.id && frame.input_id) this.heard.set(frame.input_id, frame.id);
    else if (frame.id) this.lastEventId = frame.id;
    if (frame.event === "restart" && frame.input_id) this.handlers.resent(frame.input_id);
    if (frame.event === "listening" && !this.lastEventId) this.lastEventId = String(frame.data.last_event_id);
    if (LAST_EVENTS.has(frame.event) && frame.input_id) {
      this.forget(frame.input_id);
      this.sent.delete(frame.input_id);
    }
    this.handlers.frame(frame);
  }

  /** A connection can be dead without having been closed: then nothing answers a ping. */
  private ping(patience = SILENCE_MS): void {
    this.send({ type: "ping" });
    clearTimeout(this.silence);
    const socket = this.socket;
    // Not its own close event: without a network that would come after a minute.
    this.silence = setTimeout(() => socket && this.lost(socket), patience);
  }

  private lost(socket: WebSocket): void {
    if (socket !== this.socket) return;
    this.close();
    this.handlers.connection("down", Date.now() + this.retryMs);
    this.timer = setTimeout(() => this.open(), this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, LAST_RETRY_MS);
  }

  private send(message: object): void {
    if (this.isOpen) this.socket?.send(JSON.stringify(message));
  }
}
