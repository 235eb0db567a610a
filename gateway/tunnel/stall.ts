// Limits pauses in the body of an answer: an upstream that stalls occupies the connections on both sides. The deadline is put off while
// the client is slow to read.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { startDeadline } from '../shared/deadline.ts';

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
  const deadline = startDeadline(idleMs, expire);
  const progress = () => deadline.restart();

  function expire(): void {
    if (response.writableNeedDrain) deadline.restart();
    else {
      stop();
      onStall();
    }
  }

  function stop(): void {
    deadline.stop();
    response.off('drain', progress);
  }

  incoming.on('data', progress);
  response.on('drain', progress);
  incoming.once('end', stop);
  incoming.once('close', stop);
  return stop;
}
