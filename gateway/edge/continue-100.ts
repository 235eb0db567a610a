// Sends 100 Continue in its place among the answers of a connection.

import type { ServerResponse } from 'node:http';

/**
 * Delays `writeContinue` of an answer until the earlier answers on the connection are complete. Node queues it by itself, but puts the head
 * of the answer before it, so that clients would read it as the beginning of the body. It is dropped if the answer has begun by then,
 * because the client no longer needs it (RFC 9110 section 10.1.1).
 */
export function sendContinueInOrder(response: ServerResponse): void {
  // The connection already belongs to this answer, as in nearly all cases.
  if (response.socket !== null) return;
  const { writeContinue } = response;
  response.writeContinue = (callback) => {
    const write = () => {
      if (!response.headersSent) writeContinue.call(response, callback);
    };
    if (response.socket === null) response.once('socket', write);
    else write();
  };
}
