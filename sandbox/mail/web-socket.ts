// JMAP over WebSocket (RFC 8887): requests are answered, and any other message comes back as it was sent.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { Refused } from './answers.ts';
import type { AnswerJmap, JmapAccount, JmapResponse } from './jmap.ts';
import type { Pushes } from './pushes.ts';
import { REQUEST_BYTES_MAX } from './session.ts';

export interface WebSockets {
  /** Takes a connection over after its handshake was found good; `head` are bytes that came with it. */
  open(account: JmapAccount, request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends all of them. */
  close(): void;
}

const SUBPROTOCOL = 'jmap';
const HEARTBEAT_SECONDS = 60;
const IDLE_SECONDS_MAX = 600;
const GOING_AWAY = 1001;

/** Like the real server, it compares header values whole and with their case: `upgrade` and `keep-alive, Upgrade` are refused. */
export function opensWebSocket({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.connection === 'Upgrade' &&
    headers.upgrade === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    headers['sec-websocket-key'] !== undefined
  );
}

/** @param secondMs How long a second is; tests shorten it. */
export function createWebSockets(pushes: Pushes, answerJmap: AnswerJmap, secondMs: number): WebSockets {
  // A client that does not answer a close is disconnected after `closeTimeout`; the types of the library do not name it yet.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    maxPayload: REQUEST_BYTES_MAX,
    handleProtocols: () => SUBPROTOCOL,
    closeTimeout: secondMs,
  };
  const server = new WebSocketServer(options);
  server.on('headers', (lines, { headers }) => {
    // The subprotocol is answered although the client did not ask for one.
    if (headers['sec-websocket-protocol'] === undefined) lines.push(`Sec-WebSocket-Protocol: ${SUBPROTOCOL}`);
  });

  return {
    open(account, request, socket, head) {
      server.handleUpgrade(request, socket, head, (client) => {
        const end = converse(client, (text) => answerJmap(text, account), secondMs);
        const stop = pushes.listen(account.accountId, (_type, change) => client.send(JSON.stringify(change)));
        client.once('close', () => {
          end();
          stop();
        });
      });
    },
    close() {
      for (const client of server.clients) client.close(GOING_AWAY);
    },
  };
}

/** The conversation on one connection; the returned function ends its timers. */
function converse(client: WebSocket, answer: Answer, secondMs: number): () => void {
  const heartbeat = setInterval(() => client.ping(), HEARTBEAT_SECONDS * secondMs);
  const idle = setTimeout(() => client.close(GOING_AWAY), IDLE_SECONDS_MAX * secondMs);
  client.on('message', (message: RawData, isBinary) => {
    idle.refresh();
    const text = isBinary ? undefined : String(message);
    const id = text === undefined ? undefined : requestIdIn(text);
    // What is no request comes back at once.
    if (text === undefined || id === undefined) client.send(message, { binary: isBinary });
    else
      replyTo(text, id, answer).then(
        (reply) => client.send(reply),
        () => client.terminate(),
      );
  });
  // The library closes the connection with the code that fits; a client that is gone is no fault.
  client.on('error', () => undefined);
  return () => {
    clearInterval(heartbeat);
    clearTimeout(idle);
  };
}

type RequestId = Readonly<{ requestId?: string }>;
type Answer = (text: string) => Promise<JmapResponse>;

/** RFC 8887, section 4.3: requests and their answers carry a type and the client's own identifier. */
async function replyTo(text: string, id: RequestId, answer: Answer): Promise<string> {
  try {
    return JSON.stringify({ '@type': 'Response', ...id, ...(await answer(text)) });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return JSON.stringify({ '@type': 'RequestError', ...id, ...JSON.parse(error.answer.body) });
  }
}

/** Undefined for a message that is no JMAP request at all. */
function requestIdIn(text: string): RequestId | undefined {
  try {
    const { '@type': type, id } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (type !== 'Request') return undefined;
    return typeof id === 'string' ? { requestId: id } : {};
  } catch {
    return undefined;
  }
}
