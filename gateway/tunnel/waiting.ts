// How long is waited for an upstream: for the connection, for every piece of the request's body, and for the head of the answer, before
// which there may be so many interim answers.

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { GatewayError } from '../errors.ts';

/** `sending`: the client has not sent all of its body and lets the upstream wait. */
export type Wait = 'connecting' | 'sending' | 'answering';

export interface Waiting {
  /** To be called with every connection that is tried. `onOpen` is called once it is there. */
  begun(outgoing: ClientRequest, onOpen: () => void): void;
  /** Another piece of the body has come. */
  progress(): void;
  /** Nothing is waited for any more. */
  over(): void;
}

export interface WaitingOptions {
  readonly request: IncomingMessage;
  readonly connectMs: number;
  /** From the last piece of the body to the head of the answer. */
  readonly answerMs: number;
  /** Called once at most. */
  onTooLong(what: Wait): void;
  /** There are more interim answers than a service sends. Called once at most. */
  onTooMany(error: Error): void;
}

/** Of 1xx answers to one request: each takes a moment of the event loop, and an upstream could send them without end. */
const INTERIM_ANSWERS_MAX = 100;

/** Begins to wait. */
export function createWaiting({ request, connectMs, answerMs, onTooLong, onTooMany }: WaitingOptions): Waiting {
  let interimAnswers = 0;
  let outgoing: ClientRequest | undefined;
  let open = false;
  let timer = setTimeout(expire, connectMs);

  function expire(): void {
    if (!open) onTooLong('connecting');
    // While the upstream does not take what is there already, the client cannot send more.
    else if (request.readableEnded || outgoing?.writableNeedDrain) onTooLong('answering');
    else onTooLong('sending');
  }

  return {
    begun(tried, onOpen) {
      outgoing = tried;
      const opened = () => {
        open = true;
        clearTimeout(timer);
        timer = setTimeout(expire, answerMs);
        onOpen();
      };
      tried.on('information', () => {
        interimAnswers += 1;
        if (interimAnswers === INTERIM_ANSWERS_MAX + 1) onTooMany(new Error('there are too many interim answers'));
      });
      const socket = tried.socket as Socket;
      // Through idle times that are longer than what firewalls between here and there remember.
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      if (!socket.connecting) opened();
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', opened);
    },
    progress: () => void timer.refresh(),
    over: () => clearTimeout(timer),
  };
}

/** Idle time after which TCP asks whether the other side is still there. */
export const KEEP_ALIVE_MS = 60_000;

/** What the client is told when it took too long: request_timeout or upstream_timeout. */
export function tooLong(what: Wait): GatewayError {
  if (what === 'sending') return new GatewayError('request_timeout');
  const error = what === 'connecting' ? 'connection_timeout' : 'http_response_timeout';
  return new GatewayError('upstream_timeout', { headers: { 'Proxy-Status': `api-gateway; error=${error}` } });
}
