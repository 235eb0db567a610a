// Reads a request's body up to a limit.
import type { IncomingMessage } from 'node:http';

/** Bytes of a body on `/api`. */
export const API_BODY_BYTES_MAX = 1_048_576;

/** The whole body, or undefined when it is longer; the rest is then never read. */
export async function readMailBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  // Left early, the loop must not destroy the connection that the answer is to be sent on.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
