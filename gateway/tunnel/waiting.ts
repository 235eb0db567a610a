// The deadlines of a tunnelled exchange, for the connection, for each piece of the request body, and for the head of the answer. Also
// limits the number of interim answers before that head.

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { GatewayError } from '../catalogue/errors.ts';
import { startDeadline } from '../shared/deadline.ts';

/** `sending`: the client has not sent its whole body, and the upstream waits for the rest. */
export type Wait = 'connecting' | 'sending' | 'answering';

export interface TunnelWait {
  /**
   * Begins the deadline of a connection. Call it for each connection that is tried. `onOpen` is called when the connection is established.
   */
  begun(outgoing: ClientRequest, onOpen: () => void): void;
  /** Restarts the deadline. Call it for each piece of the body. */
  progress(): void;
  /** Stops the deadline. */
  over(): void;
  /** Whether a connection is established, so that the upstream may have read the request. */
  isOpen(): boolean;
}

interface WaitingOptions {
  readonly request: IncomingMessage;
  readonly connectMs: number;
  /** From the last piece of the body to the head of the answer. */
  readonly answerMs: number;
  /** Called once at most. */
  onTooLong(what: Wait): void;
  /** Called, at most once, if the upstream sends too many interim answers. */
  onTooMany(error: Error): void;
}

/** The limit of 1xx answers per request, because each costs time on the event loop, and an upstream could send them without end. */
const INTERIM_ANSWERS_MAX = 100;

/** Starts the time to connect. */
export function createWaiting({ request, connectMs, answerMs, onTooLong, onTooMany }: WaitingOptions): TunnelWait {
  let interimAnswers = 0;
  let outgoing: ClientRequest | undefined;
  let open = false;
  let deadline = startDeadline(connectMs, expire);

  function expire(): void {
    if (!open) onTooLong('connecting');
    // While the upstream does not read, backpressure keeps the client from sending more.
    else if (request.readableEnded || outgoing?.writableNeedDrain) onTooLong('answering');
    else onTooLong('sending');
  }

  return {
    begun(tried, onOpen) {
      outgoing = tried;
      const noteOpen = () => {
        open = true;
        deadline.stop();
        deadline = startDeadline(answerMs, expire);
        onOpen();
      };
      tried.on('information', () => {
        interimAnswers += 1;
        if (interimAnswers === INTERIM_ANSWERS_MAX + 1) onTooMany(new Error('too many interim answers'));
      });
      const socket = tried.socket as Socket;
      // Keeps the connection alive in firewalls that forget idle connections.
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      if (!socket.connecting) noteOpen();
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', noteOpen);
    },
    progress: () => deadline.restart(),
    over: () => deadline.stop(),
    isOpen: () => open,
  };
}

/** Idle time before TCP sends keep-alive probes. */
export const KEEP_ALIVE_MS = 60_000;

/** Returns the refusal for an expired deadline: request_timeout or upstream_timeout. */
export function tooLong(what: Wait): GatewayError {
  if (what === 'sending') return new GatewayError('request_timeout');
  const error = what === 'connecting' ? 'connection_timeout' : 'http_response_timeout';
  return new GatewayError('upstream_timeout', { headers: { 'Proxy-Status': `api-gateway; error=${error}` } });
}
