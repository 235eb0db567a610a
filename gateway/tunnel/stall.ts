// How long the body of an answer may pause: an upstream that stalls in the middle of it holds the connections on both sides. While the
// client does not read what is there, the clock stands.

import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Watches an answer from its head to its last byte.
 *
 * @param idleMs without a byte of the body
 * @param onStall called once at most
 * @returns ends the watch
 */
export function watchForStall(
  incoming: IncomingMessage,
  response: ServerResponse,
  idleMs: number,
  onStall: () => void,
): () => void {
  const timer = setTimeout(expire, idleMs);
  const progress = () => void timer.refresh();

  function expire(): void {
    if (response.writableNeedDrain) timer.refresh();
    else {
      stop();
      onStall();
    }
  }

  function stop(): void {
    clearTimeout(timer);
    response.off('drain', progress);
  }

  incoming.on('data', progress);
  response.on('drain', progress);
  incoming.once('end', stop);
  incoming.once('close', stop);
  return stop;
}
