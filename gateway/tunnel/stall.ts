// Limits pauses in the body of an answer: an upstream that stalls occupies the connections on both sides. The timer does not expire while
// the client is slow to read.

import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Watches an answer from its head to its last byte.
 *
 * @param idleMs longest time without a byte of the body
 * @param onStall called at most once
 * @returns a function that stops the watch
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
