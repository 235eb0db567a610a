// Sends one request through a tunnel. Streams its body to the upstream and the answer to the client, with backpressure in both directions.
// Throws upstream_* codes and request_timeout.

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { GatewayError } from '../catalogue/errors.ts';
import { toUpstreamFailure } from '../catalogue/upstream-failure.ts';
import { cutOff } from '../sockets/linger.ts';
import { failIfCut, watchForStall, watchSent } from './answer-guards.ts';
import { isFinal, ProxiedExchange, type ProxyRequestOptions } from './proxied-exchange.ts';
import { tunnelAnswerHeaders } from './tunnel-headers.ts';
import { KEEP_ALIVE_MS, tooLong, type Wait } from './waiting.ts';

/**
 * Resolves when the answer has been delivered or the client has disconnected. The request's url and headers must already be made for the
 * upstream.
 */
export function proxyRequest(options: ProxyRequestOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  new RequestExchange(options, resolve, reject).send();
  return promise;
}

class RequestExchange extends ProxiedExchange {
  readonly #resolve: () => void;
  readonly #reject: (error: GatewayError) => void;
  readonly #onClose = () => this.#closed();
  #isSent = () => false;
  #isAnswering = false;
  #answer: IncomingMessage | undefined;
  #isRetried = false;
  #bytesIn = 0;
  /** Called when the answer has ended. */
  #ended = () => {};

  constructor(options: ProxyRequestOptions, resolve: () => void, reject: (error: GatewayError) => void) {
    super(options);
    this.#resolve = resolve;
    this.#reject = reject;
    // Runs before the listener that ends and logs the exchange.
    options.admitted.response.prependListener('close', this.#onClose);
  }

  send(): void {
    const { proxy, admitted } = this.options;
    proxy.send(admitted.request, admitted.response, this);
  }

  protected began(tried: ClientRequest): void {
    const { request, response, headers } = this.options.admitted;
    this.#isSent = watchSent(tried);
    tried.once('close', () => {
      if (tried === this.outgoing && !this.#isAnswering)
        this.failed(new Error('the connection was closed without an answer'));
    });
    this.waiting.begun(tried, () => {
      // The request may have been refused while the connection was opening.
      if (headers.has('expect') && !this.#isRetried && !response.headersSent) response.writeContinue();
    });
    // The listener is added only now, because a `data` listener starts the flow of the body, and nothing read the body before.
    if (!this.#isRetried) request.on('data', (chunk: Buffer) => this.#countIn(chunk));
  }

  #countIn(chunk: Buffer): void {
    this.#bytesIn += chunk.length;
    this.options.admitted.trail.bytesIn = this.#bytesIn;
    this.waiting.progress();
  }

  failed(error: unknown): void {
    const { request } = this.options.admitted;
    // The answer is complete, so the end of the upload does not matter.
    if (this.#answer?.complete) return;
    if (request.socket.destroyed || request.errored !== null) this.#closed();
    else if (this.#canRetry(error)) {
      this.#isRetried = true;
      this.outgoing = undefined;
      this.send();
    } else this.fail(toUpstreamFailure(error));
  }

  /** Whether the upstream closed a reused connection, so that it cannot have seen this request. */
  #canRetry(error: unknown): boolean {
    const { hasBody, method } = this.options.admitted;
    const { code } = error as NodeJS.ErrnoException;
    const isStale = this.outgoing?.reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
    const isFirst = !this.#isRetried && !this.isSettled && !this.#isAnswering;
    return isStale && isFirst && !hasBody && /^(GET|HEAD)$/.test(method);
  }

  protected tooLong(what: Wait): void {
    if (what === 'sending') this.#abandon();
    this.fail(tooLong(what));
  }

  protected fail(error: GatewayError): void {
    const { response, request } = this.options.admitted;
    if (!this.settle()) return;
    if (response.headersSent) cutOff(request.socket);
    this.#reject(error);
    this.outgoing?.destroy();
  }

  /** Called when the client's connection has closed. If the answer is not complete, the client has aborted the request. */
  #closed(): void {
    const { response, trail } = this.options.admitted;
    if (!this.settle()) return;
    if (!response.writableFinished) {
      trail.status = 499;
      this.#abandon();
      this.outgoing?.destroy();
    }
    this.#resolve();
  }

  /** Ends the exchange, because the client has left, or does not finish its request. */
  #abandon(): void {
    if (!this.#isAnswering && this.waiting.isOpen() && this.#isSent()) this.options.onAbandoned();
  }

  protected override settle(): boolean {
    if (!super.settle()) return false;
    this.options.admitted.response.off('close', this.#onClose);
    this.#ended();
    return true;
  }

  answered(incoming: IncomingMessage): void {
    this.#isAnswering = true;
    this.waiting.over();
    // The request has been refused in the meantime.
    if (this.isSettled || this.options.admitted.response.headersSent) {
      incoming.resume();
      return;
    }
    const isUnrequested = !this.#isSent();
    if (isUnrequested) this.onUnrequestedBytes();
    // For a status that it cannot write, Node throws in an event of its client, which would end the process.
    if (isUnrequested || !isFinal(incoming.statusCode)) {
      incoming.on('error', () => undefined);
      this.failFor('the answer came before the request was sent, or has the status of no final answer');
      return;
    }
    this.#answer = incoming;
    failIfCut(incoming);
    this.noteAnswer(incoming.statusCode as number);
    // This listener runs before the library's listener, which would close the client's connection without a report.
    incoming.once('error', (error) => this.fail(toUpstreamFailure(error)));
    incoming.once('close', () => {
      if (!incoming.complete) this.failFor('the answer is incomplete');
    });
    this.#passOn(incoming);
  }

  /** Sends the head of the answer, and pipes its body. */
  #passOn(incoming: IncomingMessage): void {
    const { admitted, hasPages, basePath, fileName, idleMs } = this.options;
    const { request, response, trail, commonHeaders } = admitted;
    const status = incoming.statusCode as number;
    const { rawHeaders: raw } = incoming;
    const { origin } = this.target;
    // The answer came before the request body was complete. The connection is closed, because the rest of the body is not read.
    if (!request.complete) response.shouldKeepAlive = false;
    response.writeHead(
      status,
      tunnelAnswerHeaders({ raw, status, origin, commonHeaders, hasPages, basePath, fileName }),
    );
    let begun = false;
    let bytesOut = 0;
    incoming.on('data', (chunk: Buffer) => {
      begun = true;
      bytesOut += chunk.length;
      trail.bytesOut = bytesOut;
    });
    incoming.pipe(response);
    // The body may come much later than the head. Usually both arrive together, so the head is flushed only if no data came in this turn.
    setImmediate(() => {
      if (!begun && !response.writableEnded) response.flushHeaders();
    });
    if (isEventStream(incoming)) this.#keepOpen(incoming);
    else this.#ended = watchForStall(incoming, response, idleMs, () => this.fail(tooLong('answering')));
  }

  #keepOpen(incoming: IncomingMessage): void {
    const { request, response } = this.options.admitted;
    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#ended = this.options.onStream(() => {
      incoming.unpipe(response);
      if (this.settle()) response.end(() => this.outgoing?.destroy());
      this.#resolve();
    });
  }
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}
