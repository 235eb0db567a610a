// 100 Continue in its place among the answers of a connection.

import type { ServerResponse } from 'node:http';

/**
 * Lets `writeContinue` of an answer wait until the answers before it on the connection are complete. Node keeps it in line by itself, but
 * puts the head of the answer in front of it, so that clients would take it for the beginning of the body. It is left out where the answer
 * has begun by then: nobody waits for it any more (RFC 9110 section 10.1.1).
 */
export function sendContinueInOrder(response: ServerResponse): void {
  // The connection is this answer's already, as it nearly always is.
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
