// Runs Lua scripts on Redis by their digest.

import { createHash } from 'node:crypto';
import type { Redis } from './client.ts';
import { redisLibrary } from './library.ts';

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
    throwUnlessUnknown(error);
    return client[call]('eval', [source, keys.length, ...keys, ...args]);
  });
}

function throwUnlessUnknown(error: unknown): void {
  if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
}

/** The reply as it comes. */
const AS_BYTES = { replyEncoding: null };

/** A class for calls of a script with one text and no key. All but the text is prepared, and the library's work on arguments is left out. */
function textCallOf({ Command }: ReturnType<typeof redisLibrary>) {
  return class TextCall extends Command {
    readonly #head: string;

    constructor(head: string, text: string) {
      super('evalsha', [], AS_BYTES);
      this.#head = head;
      this.args.push(text);
    }

    override toWritable(): string {
      const text = this.args[0] as string;
      return `${this.#head}${Buffer.byteLength(text)}\r\n${text}\r\n`;
    }
  };
}

/** Prepares a script that takes one text and no key, and replies with bytes: for a script that runs in nearly every turn. */
export function createTextCall(client: Redis, { source, sha }: Script): (text: string) => Promise<unknown> {
  const TextCall = textCallOf(redisLibrary());
  const head = `*4\r\n$7\r\nevalsha\r\n$${sha.length}\r\n${sha}\r\n$1\r\n0\r\n$`;
  return function callWithText(text) {
    return (client.sendCommand(new TextCall(head, text)) as Promise<unknown>).catch((error: unknown) => {
      throwUnlessUnknown(error);
      return client.callBuffer('eval', [source, 0, text]);
    });
  };
}
