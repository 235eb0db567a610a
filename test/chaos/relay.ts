// A way to a server that can be shut, slowed down, cut in the middle of an answer, reset, and made to send bytes that the server has not
// sent, while the server behind it lives on.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Relay {
  readonly port: number;
  /** Bytes in either direction arrive so much later. 0: at once. */
  delay(ms: number): void;
  /** Every connection ends, or is reset, in the middle of the answer, after so many bytes. Undefined: none does. */
  cutAfter(bytes: number | undefined, how?: 'end' | 'reset'): void;
  /** Every connection is reset, later ones too, until the fault ends. */
  reset(yes: boolean): void;
  /** These bytes come back in the place of each answer, and the connection ends behind them. Undefined: answers do. */
  garble(make: (() => Buffer) | undefined): void;
  /** These bytes follow each answer. Undefined: nothing does. */
  addBehind(make: ((token: string) => Buffer) | undefined): void;
  /** Damages what comes back. Undefined: nothing does. */
  spoil(how: ((bytes: Buffer) => Buffer) | undefined): void;
  /** Answers in the place of the server where it returns bytes. Undefined: the server answers all. */
  answerFor(how: ((question: Buffer) => Buffer | undefined) | undefined): void;
  /** Sends bytes on each idle connection. */
  interject(make: (token: string) => Buffer): void;
  /**
   * The interjected bytes, by token: a request may have crossed them on its way. No HTTP/1.1 client can tell such bytes from the answer to
   * that request.
   */
  crossed(): ReadonlySet<string>;
  /** Breaks every connection once. */
  breakAll(): void;
  /** The port has no listener any more. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** One connection through the relay. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Since when the last answer is whole, epoch milliseconds; undefined while a request is in progress, and before the first. */
  restsSince: number | undefined;
  interjected: { readonly token: string; readonly at: number } | undefined;
}

/** The targets answer in chunks, so an answer ends like this. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const RESTING_MS = 50;
/** For as long the bytes of a request may have been in progress. */
const CROSSING_MS = 5;

/** @param portBehind where the server listens on the loopback */
export async function startRelay(portBehind: number): Promise<Relay> {
  const pairs = new Set<Pair>();
  const crossed = new Set<string>();
  let tokens = 0;
  let delayMs = 0;
  let cut: { readonly bytes: number; readonly how: 'end' | 'reset' } | undefined;
  let resets = false;
  let garbage: (() => Buffer) | undefined;
  let behind: ((token: string) => Buffer) | undefined;
  let spoilt: ((bytes: Buffer) => Buffer) | undefined;
  let answer: ((question: Buffer) => Buffer | undefined) | undefined;

  const tokenOf = () => `unasked-${portBehind}-${tokens++}`;
  // Timers of the same length fire in the order in which they were set.
  const inTime = (send: () => void) => void (delayMs > 0 ? setTimeout(send, delayMs) : send());

  function toServer(pair: Pair, bytes: Buffer): void {
    const { interjected } = pair;
    if (interjected && Date.now() - interjected.at <= CROSSING_MS) crossed.add(interjected.token);
    pair.restsSince = undefined;
    const reply = answer?.(bytes);
    if (reply !== undefined) return void (pair.client.writable && pair.client.write(reply));
    inTime(() => pair.server.writable && pair.server.write(bytes));
  }

  /** Counts the bytes that have come back, for the cut. */
  function createToClient(pair: Pair): (bytes: Buffer) => void {
    const { client, server } = pair;
    let passed = 0;
    function send(whole: Buffer): void {
      if (!client.writable) return;
      const bytes = spoilt?.(whole) ?? whole;
      passed += bytes.length;
      if (cut !== undefined && passed > cut.bytes) {
        const { how } = cut;
        const kept = bytes.subarray(0, Math.max(0, bytes.length - (passed - cut.bytes)));
        client.write(kept, () => (how === 'reset' ? client.resetAndDestroy() : client.destroy()));
        server.destroy();
      } else if (garbage !== undefined) {
        client.end(garbage());
        server.destroy();
      } else {
        const isWhole = bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
        client.write(isWhole && behind ? Buffer.concat([bytes, behind(tokenOf())]) : bytes);
        if (isWhole) pair.restsSince = Date.now();
      }
    }
    return (bytes) => inTime(() => send(bytes));
  }

  function accept(client: Socket): void {
    if (resets) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const server = connect(portBehind, '127.0.0.1');
    const pair: Pair = { client, server, restsSince: undefined, interjected: undefined };
    pairs.add(pair);
    client.on('data', (bytes: Buffer) => toServer(pair, bytes));
    server.on('data', createToClient(pair));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        pairs.delete(pair);
        // The last write is still on its way.
        if (other.writableEnded) return;
        other.destroy();
      });
    }
  }

  async function listen(port: number): Promise<Server> {
    const server = createServer(accept).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  const breakAll = () => {
    for (const { client, server } of pairs) for (const socket of [client, server]) socket.resetAndDestroy();
  };
  let door = await listen(0);
  const { port } = door.address() as { port: number };
  return {
    port,
    delay(ms) {
      delayMs = ms;
    },
    cutAfter(bytes, how = 'end') {
      cut = bytes === undefined ? undefined : { bytes, how };
    },
    reset(yes) {
      resets = yes;
      if (yes) breakAll();
    },
    garble(make) {
      garbage = make;
    },
    spoil(how) {
      spoilt = how;
    },
    answerFor(how) {
      answer = how;
    },
    addBehind(make) {
      behind = make;
    },
    interject(make) {
      const now = Date.now();
      for (const pair of pairs) {
        if (pair.restsSince === undefined || now - pair.restsSince < RESTING_MS || !pair.client.writable) continue;
        const token = tokenOf();
        pair.interjected = { token, at: now };
        pair.client.write(make(token));
      }
    },
    crossed: () => crossed,
    breakAll,
    async shut() {
      const closed = once(door, 'close');
      door.close();
      breakAll();
      await closed;
    },
    async open() {
      door = await listen(port);
    },
  };
}
