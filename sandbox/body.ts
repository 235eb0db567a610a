// Reads a request's body up to 1 MiB. Throws body_too_large.
import type { IncomingMessage } from 'node:http';
import { SandboxRefusal } from './refusals.ts';

const BODY_BYTES_MAX = 1_048_576;

export async function readRecordBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge(request);
  const chunks: Buffer[] = [];
  let size = 0;
  // Left early, the loop must not destroy the connection that the refusal is to be sent on.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw tooLarge(request);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** The rest of the body is not worth reading, so the connection ends with the answer. */
function tooLarge(request: IncomingMessage): SandboxRefusal {
  request.resume();
  return new SandboxRefusal('body_too_large', { headers: { connection: 'close' } });
}
