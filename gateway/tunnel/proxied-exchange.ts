// The common part of requests and WebSockets through a tunnel: one exchange with the upstream, which ends once.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../catalogue/errors.ts';
import { toUpstreamFailure } from '../catalogue/upstream-failure.ts';
import type { Admitted } from '../exchange/exchange.ts';
import type { StreamEnd } from '../exchange/findings.ts';
import type { HttpProxy, ProxiedRequest, TunnelTls } from './http-proxy.ts';
import { createWaiting, type TunnelWait, type Wait } from './waiting.ts';

/** An exchange with the classes of node:http that the library needs. */
export interface NodeAdmitted extends Admitted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface ProxyRequestOptions extends Pick<ProxiedRequest, 'target' | 'tls' | 'isolate' | 'onUnrequestedBytes'> {
  readonly admitted: NodeAdmitted;
  readonly proxy: HttpProxy;
  readonly connectMs: number;
  readonly answerMs: number;
  /** Longest pause in the body of an answer; event streams are exempt. */
  readonly idleMs: number;
  /** The prefix of the locations for clients, if the upstream got the path without it. */
  readonly basePath?: string | undefined;
  /** The name of the file that the client requested, if the upstream got another name. */
  readonly fileName?: string | undefined;
  /** Whether the upstream serves HTML pages, which load their own scripts and styles. */
  readonly hasPages: boolean;
  /** Called before the head of the answer is sent to the client. */
  onAnswer(status: number): void;
  /** Called if the client has left before the answer, or does not finish its request, and the upstream may have read it. */
  onAbandoned(): void;
  /** Registers an answer without a natural end, and the function that ends it cleanly. Call the returned function when it has ended. */
  onStream(end: (why?: StreamEnd) => void): () => void;
}

export abstract class ProxiedExchange<Options extends ProxyRequestOptions = ProxyRequestOptions>
  implements ProxiedRequest
{
  readonly target: URL;
  readonly tls: TunnelTls | undefined;
  readonly isolate: boolean;
  readonly onUnrequestedBytes: () => void;
  protected readonly options: Options;
  protected readonly waiting: TunnelWait;
  /** The request on the connection that is tried. */
  protected outgoing: ClientRequest | undefined;
  protected isSettled = false;
  readonly #sentAt = performance.now();

  constructor(options: Options) {
    const { admitted, target, tls, isolate, onUnrequestedBytes } = options;
    this.options = options;
    this.target = target;
    this.tls = tls;
    this.isolate = isolate;
    this.onUnrequestedBytes = onUnrequestedBytes;
    this.waiting = createWaiting({
      ...options,
      request: admitted.request,
      onTooLong: (what) => this.tooLong(what),
      onTooMany: (error) => this.fail(toUpstreamFailure(error)),
    });
    admitted.trail.forwardedAt = this.#sentAt;
  }

  abstract answered(incoming: IncomingMessage): void;
  abstract failed(error: unknown): void;
  /** The request has a connection and has not been sent. */
  protected abstract began(tried: ClientRequest): void;
  protected abstract tooLong(what: Wait): void;
  protected abstract fail(error: GatewayError): void;

  begun(tried: ClientRequest): void {
    this.outgoing = tried;
    if (this.isSettled) tried.destroy();
    else this.began(tried);
  }

  /** Fails the exchange for a fault of the upstream's HTTP. */
  protected failFor(fault: string): void {
    this.fail(toUpstreamFailure(new Error(fault)));
  }

  protected noteAnswer(status: number): void {
    const { trail } = this.options.admitted;
    trail.upstreamStatus = status;
    trail.upstreamMs = performance.now() - this.#sentAt;
    trail.status = status;
    this.options.onAnswer(status);
  }

  /** Ends the exchange. Returns false if it had ended before. */
  protected settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.waiting.over();
    return true;
  }
}

/** Whether a status is final. Node's parser accepts any number, and an unrequested 101. */
export function isFinal(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status <= 999;
}

/** Whether the request has ended while it waited, because the client has left, or was refused for a body that took too long. */
export function hasEndedWaiting({ request, response, trail }: NodeAdmitted): boolean {
  if (request.socket.destroyed) trail.clientLeft();
  return request.socket.destroyed || response.writableEnded;
}

/** Replaces url and headers of the request, so that the upstream receives only the checked path and the headers made here. */
export function setUpstreamRequest(
  { request, query }: NodeAdmitted,
  path: string,
  headers: Record<string, string>,
): void {
  request.url = query === '' ? path : `${path}?${query}`;
  request.headers = headers;
}
