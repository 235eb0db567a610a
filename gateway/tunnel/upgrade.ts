// Passes the handshake of one WebSocket through a tunnel, within a deadline; then bytes pass both ways, unchanged, until both sides have
// ended (joined-sockets.ts). Throws upstream_* codes; if the upstream refuses the upgrade, its answer is passed on.

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../catalogue/errors.ts';
import { toUpstreamFailure } from '../catalogue/upstream-failure.ts';
import { cutOff } from '../sockets/linger.ts';
import { failIfCut, watchForStall } from './answer-guards.ts';
import { joinSockets, keepJoinedAlive } from './joined-sockets.ts';
import { isFinal, ProxiedExchange, type ProxyRequestOptions } from './proxied-exchange.ts';
import { tunnelAnswerHeaders } from './tunnel-headers.ts';
import { tooLong, type Wait } from './waiting.ts';

export interface UpgradeOptions extends ProxyRequestOptions {
  readonly socket: Socket;
  /** Bytes that the client sent after the head of its request. */
  readonly head: Buffer;
  /** Refuses the upgrade. It must write synchronously, because the library closes the connection right after an error. */
  refuse(error: GatewayError): void;
  /** Makes the refusal that replaces the answer of the upstream; undefined for a tunnel, which passes that answer on. */
  readonly operation?: {
    refusalOf(status: number, headers: IncomingHttpHeaders, body: Buffer): GatewayError;
    /** Called if no answer came. `error` is undefined if the client has left. */
    failed(error: GatewayError | undefined): void;
  };
}

/** Longer refusals of the upstream of an operation are not read. */
const REFUSAL_BYTES_MAX = 65_536;

/** Resolves when the client's connection has ended. Never rejects. */
export function upgrade(options: UpgradeOptions): Promise<void> {
  return new Promise((resolve) => {
    new UpgradeExchange(options, resolve).send();
  });
}

class UpgradeExchange extends ProxiedExchange<UpgradeOptions> {
  #bytesIn = 0;
  #bytesOut = 0;
  /** The upstream may close the connection before its refusal is read. */
  #isRefused = false;

  constructor(options: UpgradeOptions, resolve: () => void) {
    super(options);
    const { socket } = options;
    // Before the two sides are joined, a client that closes its half has left.
    socket.once('end', () => {
      if (!this.isSettled) socket.destroy();
    });
    // Runs before the listener that ends and logs the exchange.
    socket.prependOnceListener('close', () => {
      this.#closed();
      resolve();
    });
  }

  send(): void {
    const { proxy, admitted, socket, head } = this.options;
    proxy.upgrade(admitted.request, socket, head, this);
  }

  protected began(tried: ClientRequest): void {
    tried.once('close', () => {
      if (!this.#isRefused) this.failFor('the connection was closed without an answer');
    });
    // The library's listener writes the 101 with the headers that `#isGranted` has set, and does not check the protocol.
    const library = tried.listeners('upgrade');
    tried.removeAllListeners('upgrade');
    tried.once('upgrade', (incoming: IncomingMessage, upstream: Socket, head: Buffer) => {
      upstream.on('error', () => undefined);
      if (this.#isGranted(incoming, upstream)) for (const pass of library) pass.call(tried, incoming, upstream, head);
      else upstream.destroy();
    });
    this.waiting.begun(tried, () => {});
  }

  failed(error: unknown): void {
    this.fail(toUpstreamFailure(error));
  }

  protected tooLong(what: Wait): void {
    this.fail(tooLong(what === 'connecting' ? what : 'answering'));
  }

  protected fail(error: GatewayError): void {
    const { admitted, socket, operation, refuse } = this.options;
    if (!this.settle()) return;
    operation?.failed(socket.destroyed ? undefined : error);
    if (socket.destroyed) admitted.trail.status = 499;
    else if (admitted.response.headersSent) cutOff(socket);
    else refuse(error);
    this.outgoing?.destroy();
  }

  /** Called when the client's connection has closed. */
  #closed(): void {
    const { admitted, operation, onAbandoned } = this.options;
    if (this.settle()) {
      admitted.trail.status = 499;
      operation?.failed(undefined);
      if (this.waiting.isOpen()) onAbandoned();
    }
    this.outgoing?.destroy();
  }

  /** Makes the client's answer. Returns false if the upgrade must not be passed on. */
  #isGranted(incoming: IncomingMessage, upstream: Socket): boolean {
    const { admitted, socket, operation } = this.options;
    // The client would treat any 101 as a WebSocket (RFC 6455 section 4.1).
    if (incoming.headers.upgrade?.toLowerCase() !== 'websocket') {
      this.failFor('the upstream has switched to another protocol');
      return false;
    }
    if (!this.settle()) return false;
    this.noteAnswer(101);
    admitted.response.detachSocket(socket);
    const { rawHeaders } = incoming;
    const raw = operation === undefined ? rawHeaders : handshakeHeaders(rawHeaders);
    incoming.headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      ...groupHeaders(this.#answerHeaders(raw, 101, false)),
    } as IncomingHttpHeaders;
    keepJoinedAlive(socket, upstream);
    process.nextTick(() => this.#join(upstream));
    return true;
  }

  #join(upstream: Socket): void {
    const { admitted, socket, onStream } = this.options;
    joinSockets({
      client: socket,
      upstream,
      onBytesIn: (bytes) => {
        this.#bytesIn += bytes.length;
        admitted.trail.bytesIn = this.#bytesIn;
      },
      onBytesOut: (bytes) => this.#countOut(bytes),
      onStream,
    });
  }

  #countOut(bytes: Buffer): void {
    this.#bytesOut += bytes.length;
    this.options.admitted.trail.bytesOut = this.#bytesOut;
  }

  #answerHeaders(raw: readonly string[], status: number, hasPages: boolean): string[] {
    return tunnelAnswerHeaders({
      raw,
      status,
      origin: this.target.origin,
      commonHeaders: this.options.admitted.commonHeaders,
      hasPages,
    });
  }

  /** Called when the upstream has refused the upgrade. */
  answered(incoming: IncomingMessage): void {
    const { operation } = this.options;
    if (!isFinal(incoming.statusCode)) {
      incoming.on('error', () => undefined);
      this.failFor('the upstream answered 101 without switching protocols, or with the status of no final answer');
    } else if (operation !== undefined) void this.#refuseInstead(incoming, operation);
    else if (this.settle()) this.#passOn(incoming);
    else incoming.resume();
  }

  /** Reads the refusal of an operation's upstream, within the deadline of the handshake. */
  async #refuseInstead(incoming: IncomingMessage, operation: NonNullable<UpgradeOptions['operation']>): Promise<void> {
    const status = incoming.statusCode as number;
    this.#isRefused = true;
    this.noteAnswer(status);
    const body: Buffer[] = [];
    let bytes = 0;
    incoming.on('error', () => undefined);
    try {
      for await (const chunk of incoming as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > REFUSAL_BYTES_MAX) break;
        body.push(chunk);
      }
    } catch {
      // The status and the head are enough. The body may be incomplete.
    }
    this.fail(operation.refusalOf(status, incoming.headers, Buffer.concat(body)));
  }

  /** Passes on the upstream's refusal, over the response that still owns the socket. */
  #passOn(incoming: IncomingMessage): void {
    const { admitted, socket, hasPages, idleMs } = this.options;
    const { response } = admitted;
    const status = incoming.statusCode as number;
    this.noteAnswer(status);
    response.writeHead(status, this.#answerHeaders(incoming.rawHeaders, status, hasPages));
    incoming.on('data', (bytes: Buffer) => this.#countOut(bytes));
    incoming.on('error', () => undefined);
    failIfCut(incoming);
    incoming.once('close', () => {
      if (!incoming.complete) cutOff(socket);
    });
    incoming.pipe(response);
    const stopWatch = watchForStall(incoming, response, idleMs, () => cutOff(socket));
    response.once('close', stopWatch);
  }
}

/** Converts headers to the library's form, in which a repeated name has a list. */
function groupHeaders(flat: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const [name, value] = [flat[i] as string, flat[i + 1] as string];
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

/** Returns the headers of the handshake. For an operation, no other headers of the upstream cross. */
function handshakeHeaders(raw: readonly string[]): string[] {
  return raw.filter((_, index) => /^sec-websocket-/i.test(raw[index - (index % 2)] as string));
}
