// Runs Lua scripts on Redis by their digest.

import { createHash } from 'node:crypto';
import type { Redis } from './client.ts';

/** A Lua script and its SHA-1 digest, by which a server runs it after the first time. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export function toScript(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/**
 * Runs a script by its digest, and sends the source again if the server was restarted or flushed. With `callBuffer`, text in the reply
 * comes as bytes.
 */
export function evaluate(
  client: Redis,
  { source, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
  call: 'call' | 'callBuffer' = 'call',
): Promise<unknown> {
  // In lower case, because the library looks the names of commands up in this form.
  return client[call]('evalsha', [sha, keys.length, ...keys, ...args]).catch((error: unknown) => {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client[call]('eval', [source, keys.length, ...keys, ...args]);
  });
}
