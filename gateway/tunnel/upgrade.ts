// One WebSocket through a tunnel: the handshake with a deadline, then bytes both ways until both sides have ended. Frames are not
// touched. Throws upstream_* codes; where the upstream does not grant the upgrade, its answer is passed on.

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { GatewayError } from '../errors.ts';
import { createFrames, GOING_AWAY } from './frames.ts';
import { tunnelAnswerHeaders } from './headers.ts';
import type { ProxiedRequest } from './http-proxy.ts';
import type { ProxyRequestOptions } from './request.ts';
import { watchForStall } from './stall.ts';
import { createWaiting, KEEP_ALIVE_MS, tooLong } from './waiting.ts';
import { failIfCut } from './whole.ts';

export interface UpgradeOptions extends ProxyRequestOptions {
  readonly socket: Socket;
  /** What the client has sent after the head of its request. */
  readonly head: Buffer;
  /** Writes a refusal before this returns: the library ends the connection right after an error. */
  refuse(error: GatewayError): void;
}

/** How long what one side has said last may take to reach the other after the connection is gone. */
const LINGER_MS = 1000;

/** Resolves when the client's connection is over. Never rejects. */
export function upgrade(options: UpgradeOptions): Promise<void> {
  const { admitted, socket, line, toFailure } = options;
  const { request, response, trail, carried } = admitted;
  const waiting = createWaiting({
    ...options,
    request,
    onTooLong: (what) => fail(tooLong(what === 'connecting' ? what : 'answering')),
    onTooMany: (error) => fail(toFailure(error)),
  });
  const origin = options.target.origin;
  let outgoing: ClientRequest | undefined;
  let settled = false;

  function settle(): boolean {
    if (settled) return false;
    settled = true;
    waiting.over();
    return true;
  }

  function fail(error: GatewayError): void {
    if (!settle()) return;
    if (socket.destroyed) trail.status = 499;
    else if (response.headersSent) options.cutOff(admitted);
    else options.refuse(error);
    outgoing?.destroy();
  }

  function note(status: number): void {
    trail.upstreamStatus = status;
    trail.upstreamMs = performance.now() - (trail.forwardedAt as number);
    trail.status = status;
    options.onAnswer(status);
  }

  const passage: ProxiedRequest = {
    target: options.target,
    tls: options.tls,
    isolate: options.isolate,
    begun(tried) {
      outgoing = tried;
      if (settled) {
        tried.destroy();
        return;
      }
      tried.once('close', () => fail(toFailure(new Error('the connection was closed without an answer'))));
      // The library's own listener writes the head of a 101 from the headers as `granted` leaves them, whatever the upstream has switched to.
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

  /** False: it is not to be passed on. */
  function granted(incoming: IncomingMessage, upstream: Socket): boolean {
    // RFC 6455 section 4.1: to the client it would be a WebSocket.
    if (incoming.headers.upgrade?.toLowerCase() !== 'websocket') {
      fail(toFailure(new Error('the upstream has switched to another protocol')));
      return false;
    }
    if (!settle()) return false;
    note(101);
    response.detachSocket(socket);
    const raw = incoming.rawHeaders;
    const said = tunnelAnswerHeaders({ raw, status: 101, origin, carried, hasPages: false });
    incoming.headers = { Connection: 'Upgrade', Upgrade: 'websocket', ...grouped(said) } as IncomingHttpHeaders;
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    upstream.setKeepAlive(true, KEEP_ALIVE_MS);
    // Once the library has put both sides together: whoever listens earlier takes bytes away.
    process.nextTick(() => join(upstream));
    return true;
  }

  /** What the library does not do: counts, notices a side that is gone without an end, and can end the client's side in good form. */
  function join(upstream: Socket): void {
    const frames = createFrames();
    upstream.on('data', (bytes: Buffer) => {
      trail.bytesOut += bytes.length;
      frames.see(bytes);
    });
    socket.on('data', (bytes: Buffer) => {
      trail.bytesIn += bytes.length;
    });
    const ended = options.onStream(() => {
      upstream.unpipe(socket);
      // Its answer to this still goes to the upstream, which so learns the same.
      if (frames.atBoundary()) socket.write(GOING_AWAY);
      socket.end();
      upstream.resume();
    });
    socket.once('close', () => {
      ended();
      letGo(upstream);
    });
    upstream.once('close', () => letGo(socket));
  }

  /** What the upstream says instead, over the response that the socket still belongs to. */
  function refusedByUpstream(incoming: IncomingMessage): void {
    if (incoming.statusCode === 101) {
      incoming.on('error', () => undefined);
      fail(toFailure(new Error('the upstream has switched to no protocol')));
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
    incoming.on('data', (chunk: Buffer) => {
      trail.bytesOut += chunk.length;
    });
    incoming.on('error', () => undefined);
    failIfCut(incoming);
    incoming.once('close', () => {
      if (!incoming.complete) options.cutOff(admitted);
    });
    incoming.pipe(response);
    const stopWatch = watchForStall(incoming, response, options.idleMs, () => options.cutOff(admitted));
    response.once('close', stopWatch);
  }

  // Half an end means something only once both sides are joined.
  socket.once('end', () => {
    if (!settled) socket.destroy();
  });
  const over = new Promise<void>((resolve) => {
    // Before the listener that ends the exchange and has it logged.
    socket.prependOnceListener('close', () => {
      if (settle()) trail.status = 499;
      outgoing?.destroy();
      resolve();
    });
  });
  trail.forwardedAt = performance.now();
  line.upgrade(request, socket, options.head, passage);
  return over;
}

/** The other side is gone: what is still on its way may arrive, but nothing more is waited for. */
function letGo(socket: Socket): void {
  if (socket.destroyed) return;
  socket.destroySoon();
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** As the library writes them: a list for what is there several times. */
function grouped(flat: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (let i = 0; i < flat.length; i += 2) {
    const [name, value] = [flat[i] as string, flat[i + 1] as string];
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}
