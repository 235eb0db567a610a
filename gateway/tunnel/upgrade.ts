// Passes one WebSocket through a tunnel: the handshake has a deadline, then bytes pass both ways until both sides have ended. Frames are
// not changed. Throws upstream_* codes; if the upstream refuses the upgrade, its answer is passed on.

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../errors.ts';
import { createFrames, GOING_AWAY, NOT_ALLOWED } from './frames.ts';
import type { ProxiedRequest } from './http-proxy.ts';
import { isFinal, type ProxyRequestOptions } from './proxy-request.ts';
import { watchForStall } from './stall.ts';
import { tunnelAnswerHeaders } from './tunnel-headers.ts';
import { createWaiting, KEEP_ALIVE_MS, tooLong } from './waiting.ts';
import { failIfCut } from './whole.ts';

export interface UpgradeOptions extends ProxyRequestOptions {
  readonly socket: Socket;
  /** Bytes that the client sent after the head of its request. */
  readonly head: Buffer;
  /** Must write the refusal synchronously, because the library closes the connection right after an error. */
  refuse(error: GatewayError): void;
  /** Of an operation: the refusal in place of the upstream's own answer, which a tunnel passes on. */
  readonly operation?: {
    refusalOf(status: number, headers: IncomingHttpHeaders, body: Buffer): GatewayError;
    /** No answer came: with the error, or without one if the client has left. */
    failed(error: GatewayError | undefined): void;
  };
}

/** Longer refusals of the upstream of an operation are not read. */
const REFUSAL_BYTES_MAX = 65_536;
/** Time in which a client whose credential ended may answer the Close frame. */
const NOT_ALLOWED_MS = 400;

/** Time for the last bytes of one side to reach the other after the connection has closed. */
const LINGER_MS = 1000;

/** Resolves when the client's connection is over. Never rejects. */
export function upgrade(options: UpgradeOptions): Promise<void> {
  const { admitted, socket, proxy, toFailure } = options;
  const { request, response, trail, carried } = admitted;
  const waiting = createWaiting({
    ...options,
    request,
    onTooLong: (what) => fail(tooLong(what === 'connecting' ? what : 'answering')),
    onTooMany: (error) => fail(toFailure(error)),
  });
  const origin = options.target.origin;
  const sentAt = performance.now();
  let outgoing: ClientRequest | undefined;
  let settled = false;
  let bytesIn = 0;
  let bytesOut = 0;

  function settle(): boolean {
    if (settled) return false;
    settled = true;
    waiting.over();
    return true;
  }

  function fail(error: GatewayError): void {
    if (!settle()) return;
    options.operation?.failed(socket.destroyed ? undefined : error);
    if (socket.destroyed) trail.status = 499;
    else if (response.headersSent) options.cutOff(admitted);
    else options.refuse(error);
    outgoing?.destroy();
  }

  function addBytesOut(bytes: Buffer): void {
    bytesOut += bytes.length;
    trail.bytesOut = bytesOut;
  }

  function note(status: number): void {
    trail.upstreamStatus = status;
    trail.upstreamMs = performance.now() - sentAt;
    trail.status = status;
    options.onAnswer(status);
  }

  const proxied: ProxiedRequest = {
    target: options.target,
    tls: options.tls,
    isolate: options.isolate,
    unasked: options.unasked,
    begun(tried) {
      outgoing = tried;
      if (settled) {
        tried.destroy();
        return;
      }
      tried.once('close', () => fail(toFailure(new Error('the connection was closed without an answer'))));
      // The library's listener writes the 101 with the headers that `granted` has set, whatever protocol the upstream switched to.
      const library = tried.listeners('upgrade');
      tried.removeAllListeners('upgrade');
      tried.once('upgrade', (incoming: IncomingMessage, upstream: Socket, head: Buffer) => {
        upstream.on('error', () => undefined);
        if (granted(incoming, upstream)) for (const pass of library) pass.call(tried, incoming, upstream, head);
        else upstream.destroy();
      });
      waiting.begun(tried, () => {});
    },
    answered: refusedByUpstream,
    failed: (error) => fail(toFailure(error)),
  };

  /** Returns false if the upgrade must not be passed on. */
  function granted(incoming: IncomingMessage, upstream: Socket): boolean {
    // The client would treat any 101 as a WebSocket (RFC 6455 section 4.1).
    if (incoming.headers.upgrade?.toLowerCase() !== 'websocket') {
      fail(toFailure(new Error('the upstream has switched to another protocol')));
      return false;
    }
    if (!settle()) return false;
    note(101);
    response.detachSocket(socket);
    const { rawHeaders } = incoming;
    const raw = options.operation === undefined ? rawHeaders : handshakeHeaders(rawHeaders);
    const answerHeaders = tunnelAnswerHeaders({ raw, status: 101, origin, carried, hasPages: false });
    incoming.headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      ...grouped(answerHeaders),
    } as IncomingHttpHeaders;
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    upstream.setKeepAlive(true, KEEP_ALIVE_MS);
    // Waits until the library has piped both sides: an earlier listener would consume bytes.
    process.nextTick(() => join(upstream));
    return true;
  }

  /** Adds to the library: byte counts, detection of a side that closed without an end, and a clean close towards the client. */
  function join(upstream: Socket): void {
    const frames = createFrames();
    upstream.on('data', (bytes: Buffer) => {
      addBytesOut(bytes);
      frames.see(bytes);
    });
    socket.on('data', (bytes: Buffer) => {
      bytesIn += bytes.length;
      trail.bytesIn = bytesIn;
    });
    const ended = options.onStream((why) => {
      const isNotAllowed = why === 'credential';
      upstream.unpipe(socket);
      // The client's answer to this Close frame still reaches the upstream, which closes too.
      if (frames.atBoundary()) socket.write(isNotAllowed ? NOT_ALLOWED : GOING_AWAY);
      socket.end();
      upstream.resume();
      if (isNotAllowed) {
        socket.unpipe(upstream);
        socket.resume();
        setTimeout(() => socket.destroy(), NOT_ALLOWED_MS).unref();
      }
    });
    socket.once('close', () => {
      ended();
      letGo(upstream);
    });
    upstream.once('close', () => letGo(socket));
  }

  /** Reads the upstream's refusal, within the deadline of the handshake. */
  async function refuseInstead(
    incoming: IncomingMessage,
    refusalOf: NonNullable<UpgradeOptions['operation']>['refusalOf'],
  ): Promise<void> {
    const status = incoming.statusCode as number;
    note(status);
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
      // What arrived of it is enough.
    }
    fail(refusalOf(status, incoming.headers, Buffer.concat(body)));
  }

  /** Passes on the upstream's refusal, over the response that still owns the socket. */
  function refusedByUpstream(incoming: IncomingMessage): void {
    if (!isFinal(incoming.statusCode)) {
      incoming.on('error', () => undefined);
      fail(
        toFailure(
          new Error('the upstream answered 101 without switching protocols, or with the status of no final answer'),
        ),
      );
      return;
    }
    if (options.operation !== undefined) {
      void refuseInstead(incoming, options.operation.refusalOf);
      return;
    }
    if (!settle()) {
      incoming.resume();
      return;
    }
    const status = incoming.statusCode as number;
    note(status);
    const { hasPages } = options;
    response.writeHead(status, tunnelAnswerHeaders({ raw: incoming.rawHeaders, status, origin, carried, hasPages }));
    incoming.on('data', addBytesOut);
    incoming.on('error', () => undefined);
    failIfCut(incoming);
    incoming.once('close', () => {
      if (!incoming.complete) options.cutOff(admitted);
    });
    incoming.pipe(response);
    const stopWatch = watchForStall(incoming, response, options.idleMs, () => options.cutOff(admitted));
    response.once('close', stopWatch);
  }

  // A half-closed connection is meaningful only after both sides are joined.
  socket.once('end', () => {
    if (!settled) socket.destroy();
  });
  const over = new Promise<void>((resolve) => {
    // Runs before the listener that ends and logs the exchange.
    socket.prependOnceListener('close', () => {
      if (settle()) {
        trail.status = 499;
        options.operation?.failed(undefined);
        if (waiting.isOpen()) options.onAbandoned();
      }
      outgoing?.destroy();
      resolve();
    });
  });
  trail.forwardedAt = sentAt;
  proxy.upgrade(request, socket, options.head, proxied);
  return over;
}

/** The other side has closed: let pending bytes arrive, but wait no longer than LINGER_MS. */
function letGo(socket: Socket): void {
  if (socket.destroyed) return;
  socket.destroySoon();
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Headers in the library's form: a list for a repeated name. */
function grouped(flat: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const [name, value] = [flat[i] as string, flat[i + 1] as string];
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

/** Of the headers of an operation's upstream only those of the handshake cross. */
function handshakeHeaders(raw: readonly string[]): string[] {
  return raw.filter((_, index) => /^sec-websocket-/i.test(raw[index - (index % 2)] as string));
}
