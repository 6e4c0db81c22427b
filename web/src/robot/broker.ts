/** A connection to the broker through the server's own port: the key that opens the API opens it, too. */

import type { IClientOptions, MqttClient } from "mqtt";

import { ROOT } from "~/api/client";
import { useKey } from "~/api/key";
import { newId } from "~/ids";

const RETRY_MS = 2_000;
const KEEPALIVE_S = 30;

const address = new URL("v1/mqtt", ROOT);
address.protocol = address.protocol.replace("http", "ws");

interface BrokerOptions {
  will?: IClientOptions["will"];
  /** Told why the server has closed the connection, if it says so. */
  refused: (reason: string) => void;
}

/** The library is fetched with the first connection: most who open the studio have no terminal. */
export async function connectBroker({ will, refused }: BrokerOptions): Promise<MqttClient> {
  const { default: mqtt } = await import("mqtt");
  return mqtt.connect(address.href, {
    protocolVersion: 4,
    clientId: newId().slice(0, 23), // the most that every broker takes,
    clean: true,
    keepalive: KEEPALIVE_S,
    reconnectPeriod: RETRY_MS,
    connectTimeout: 10_000,
    resubscribe: false,
    timerVariant: "native", // the other one starts a worker from a blob, which our policy forbids
    createWebsocket: () => opened(refused),
    will,
  });
}

function opened(refused: (reason: string) => void): WebSocket {
  const key = useKey.getState().key;
  const socket = new WebSocket(address, ["mqtt", ...(key ? [`bearer.${key}`] : [])]);
  socket.addEventListener("close", ({ reason }) => reason && refused(reason));
  return socket;
}
