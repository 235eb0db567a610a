// Runs Lua scripts on Redis by their digest. Question and reply are sealed with a checksum, because the protocol has none, and the gateway
// would otherwise act on a record with a damaged byte, or miss a record. See docs/decisions/0040-sealed-replies.md.

import { createHash, hash, randomBytes } from 'node:crypto';
import type { Redis } from './client.ts';
import { dropGarbled, GarbledReply } from './garbled.ts';

/** A sealed Lua script and its SHA-1 digest, by which a server runs it after the first time. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

const DIGEST_LENGTH = 40;
/** The first word of the error with which a script refuses a damaged question. Such a script has written nothing. */
const REFUSED = 'GARBLED';
/** Distinguishes the questions of this process from the questions of other processes behind the same proxy. */
const PROCESS = randomBytes(6).toString('base64url');

/**
 * Adds the seal to a script. The last argument is a name for the call, and the digest of all other arguments and keys, so that a damaged
 * question is not run. The reply contains the result, and the digest of this name and the rendered result. `renderedOf` renders the same
 * text.
 */
const seal = (source: string): string => `
local function run(KEYS, ARGV)
${source}
end
local function render(value, into)
  local kind = type(value)
  if kind == 'table' then
    if value.ok then return render(value.ok, into) end
    local count = 0
    while value[count + 1] ~= nil do count = count + 1 end
    into[#into + 1] = '*' .. count .. '\\n'
    for index = 1, count do render(value[index], into) end
  elseif kind == 'string' then
    into[#into + 1] = '$' .. #value .. '\\n'
    into[#into + 1] = value
  elseif kind == 'number' then
    into[#into + 1] = string.format(':%d\\n', value)
  else
    into[#into + 1] = value and ':1\\n' or '_\\n'
  end
end
local name, digest = string.match(table.remove(ARGV), '^(%S+) (%x+)$')
local question = (name or '') .. '\\n' .. table.concat(KEYS, '\\n') .. '\\n' .. table.concat(ARGV, '\\n')
if redis.sha1hex(question) ~= digest then return redis.error_reply('${REFUSED} the question was damaged') end
local result = run(KEYS, ARGV)
if type(result) == 'table' and result.err then return result end
local text = { name }
render(result, text)
return { redis.sha1hex(table.concat(text)), result }
`;

/** Adds the seal to a script that takes one text and returns one text. */
const sealedText = (source: string): string => `
local function run(ARGV)
${source}
end
local text = string.sub(ARGV[1], ${DIGEST_LENGTH + 1})
if redis.sha1hex(text) ~= string.sub(ARGV[1], 1, ${DIGEST_LENGTH}) then
  return redis.error_reply('${REFUSED} the question was damaged')
end
local result = run({ text })
return result .. redis.sha1hex(result)
`;

export function toScript(source: string): Script {
  return scriptOf(seal(source));
}

function scriptOf(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

let calls = 0;

/**
 * Runs a script by its digest, and sends the source if the server does not know the digest. If the question or the reply is damaged, drops
 * the connection and rejects with GarbledReply; a damaged question was not run. Text is UTF-8.
 */
export async function evaluate(
  client: Redis,
  { source, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  calls += 1;
  const name = `${PROCESS}${calls}`;
  const prefix = client.options.keyPrefix ?? '';
  const question = `${name}\n${keys.map((key) => prefix + key).join('\n')}\n${args.join('\n')}`;
  const call = [keys.length, ...keys, ...args, `${name} ${hash('sha1', question)}`];
  // The library needs the names of commands in lower case.
  const reply = await client
    .call('evalsha', [sha, ...call])
    .catch((error: unknown) => {
      if (isUnknown(error)) return client.call('eval', [source, ...call]);
      throw error;
    })
    .catch((error: unknown) => {
      throw isRefused(error) ? garbledReply(client) : error;
    });
  const [digest, result = null] = Array.isArray(reply) ? reply : [];
  if (digest !== hash('sha1', name + renderedOf(result))) throw garbledReply(client);
  return result;
}

function renderedOf(value: unknown): string {
  if (typeof value === 'string') return `$${Buffer.byteLength(value)}\n${value}`;
  if (Array.isArray(value)) return `*${value.length}\n${value.map(renderedOf).join('')}`;
  return value === null ? '_\n' : `:${value}\n`;
}

function garbledReply(client: Redis): GarbledReply {
  dropGarbled(client, 'a damaged reply');
  return new GarbledReply('Redis gave a damaged reply.');
}

/** Whether the server does not know the digest of the script. */
function isUnknown(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(REFUSED);
}

/**
 * A call of a script with one text and no key. It has the members of the library's `Command` that the library uses to send a command and to
 * take the reply. `Command` costs more, because V8 moved its waiting objects into old space with their texts and replies, 0.3 MB per
 * collection of new objects. A collection then took 3 ms instead of 1 ms (`--trace-gc`, V8 13.6).
 */
class TextCall {
  readonly name = 'evalsha';
  readonly args: readonly [string];
  /** Makes the library publish nothing about the call on diagnostics channels. */
  readonly isTraced = true;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly #head: string;

  constructor(head: string, text: string, resolve: (reply: unknown) => void, reject: (error: Error) => void) {
    this.args = [text];
    this.resolve = resolve;
    this.reject = reject;
    this.#head = head;
  }

  /** Does nothing, because the parser returns text as bytes already. */
  setReplyContext(): void {}

  toWritable(): string {
    const [text] = this.args;
    return `${this.#head}${Buffer.byteLength(text)}\r\n${text}\r\n`;
  }
}

/**
 * Prepares a script that takes one text and no key, and returns bytes. It is for a script that runs in nearly every turn of the event loop.
 * Each call needs a different text, and the returned bytes have to show to which text they belong. Calls have no timeout. A call rejects as
 * `evaluate` does.
 */
export function createTextCall(client: Redis, unsealed: string): (text: string) => Promise<Buffer> {
  const { source, sha } = scriptOf(sealedText(unsealed));
  const head = `*4\r\n$7\r\nevalsha\r\n$${sha.length}\r\n${sha}\r\n$1\r\n0\r\n$`;
  const send = client.sendCommand.bind(client) as unknown as (call: TextCall) => void;
  return function callWithText(text) {
    const question = hash('sha1', text) + text;
    return new Promise((resolve, reject) => {
      function take(reply: unknown): void {
        const result = resultIn(reply);
        if (result === undefined) reject(garbledReply(client));
        else resolve(result);
      }
      function refuse(error: unknown): void {
        reject(isRefused(error) ? garbledReply(client) : error);
      }
      function sendSource(error: unknown): void {
        if (isUnknown(error)) client.callBuffer('eval', [source, 0, question]).then(take, refuse);
        else refuse(error);
      }
      send(new TextCall(head, question, take, sendSource));
    });
  };
}

/** Returns the result; undefined if the digest does not match. */
function resultIn(reply: unknown): Buffer | undefined {
  if (!Buffer.isBuffer(reply)) return undefined;
  const result = reply.subarray(0, Math.max(0, reply.length - DIGEST_LENGTH));
  return hash('sha1', result) === reply.toString('latin1', result.length) ? result : undefined;
}
