// Runs the same commands on the model and on a real server, and finds the first reply that differs.

import { Redis } from 'ioredis';
import { RedisModel } from './model.ts';
import { RedisError, type Reply, Status } from './reply.ts';
import { digestOf } from './scripts.ts';

/** Scripts read the time from here, so that both servers give the same. */
const CLOCK = 'compared:clock';

export interface Comparison {
  /** Runs one command on data that stays; `reply` is that of the model. */
  run(command: readonly string[]): Promise<{ readonly reply: Reply; readonly difference: string | undefined }>;
  /** Begins with no data again. */
  clear(): Promise<void>;
  /** Runs commands in turn. Returns the first difference as a sentence; undefined: there is none. */
  compare(commands: readonly (readonly string[])[]): Promise<string | undefined>;
  /** Commands compared so far. */
  count(): number;
  close(): void;
}

export function openComparison(port: number): Comparison {
  const server = new Redis({ port, host: '127.0.0.1', protocol: 2 });
  let count = 0;
  let lasting = new RedisModel({ now: () => Date.now() });

  async function run(command: readonly string[]) {
    const [name = '', ...args] = withoutTheServersOwn(command);
    const given = lasting.execute([name, ...args]);
    const reply = await server.callBuffer(name.toUpperCase(), args.map(bytesOf)).then(
      (value) => value as Reply,
      (error: Error) => new RedisError(error.message),
    );
    count += 1;
    const [expected, actual] = [shownOf(command, reply), shownOf(command, given)];
    const difference = isSame(command, expected, actual)
      ? undefined
      : `${JSON.stringify(command).slice(0, 3000)}\nserver: ${expected}\nmodel:  ${actual}`;
    return { reply: given, difference };
  }

  return {
    run,
    async clear() {
      lasting = new RedisModel({ now: () => Date.now() });
      await server.script('FLUSH');
      await server.flushall();
    },
    async compare(commands) {
      const model = new RedisModel({ now: () => Date.now() });
      const prepared = [['flushall'], ...commands.map(withoutTheServersOwn)];
      const pipeline = server.pipeline();
      // In upper case, the library changes neither arguments nor replies.
      for (const [name = '', ...args] of prepared) pipeline.callBuffer(name.toUpperCase(), args.map(bytesOf));
      const given = prepared.map((command) => model.execute(command));
      const replies = (await pipeline.exec()) ?? [];
      count += commands.length;
      for (const [index, command] of prepared.entries()) {
        const [error, value] = replies[index] ?? [];
        const expected = shownOf(command, error ? new RedisError(error.message) : (value as Reply));
        const actual = shownOf(command, given[index] as Reply);
        if (!isSame(command, expected, actual))
          return `${JSON.stringify(prepared.slice(0, index + 1))}\nserver: ${expected}\nmodel:  ${actual}`;
      }
      return undefined;
    },
    count: () => count,
    close: () => server.disconnect(),
  };
}

/** Sets what TIME gives to scripts from now on. */
export function clockCommands(nowMs: number): readonly (readonly string[])[] {
  const texts = [String(Math.floor(nowMs / 1000)), String((nowMs % 1000) * 1000)];
  return [
    ['del', CLOCK],
    ['rpush', CLOCK, ...texts],
  ];
}

/** Lets all times of expiry come nearer, in place of waiting. */
export function ageCommand(ms: number): readonly string[] {
  const source = `
for _, key in ipairs(redis.call('SCAN', '0', 'COUNT', '10000')[2]) do
  local left = redis.call('PTTL', key)
  if left > 0 then redis.call('PEXPIRE', key, left - ${ms}) end
end
return 0`;
  return ['eval', source, '0'];
}

/** Scripts get the same time and the same `run_id` from both servers. */
function withoutTheServersOwn(command: readonly string[]): readonly string[] {
  const [name, source = '', ...rest] = command;
  if (name !== 'eval') return command;
  const shared = source
    .replace(/call\('TIME'\)/g, `call('LRANGE', '${CLOCK}', 0, 1)`)
    .replace(/redis\.pcall\('INFO', '\w+'\)/g, "'run_id:c0'");
  return [name, shared, ...rest];
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Of scripts, by their digests. */
const sources = new Map<string, string>();

/** A reply as text; what has no order is sorted, and the digest of a sealed reply, which follows from the order, is left out. */
function shownOf([name = '', first = '']: readonly string[], reply: Reply | Buffer): string {
  const source = name === 'evalsha' ? (sources.get(first) ?? '') : first;
  if (name === 'eval') sources.set(digestOf(source), source);
  const isUnordered =
    ['hgetall', 'hkeys', 'hscan', 'scan'].includes(name.toLowerCase()) || /'(HGETALL|HSCAN)'/.test(source);
  return JSON.stringify(plain(reply, isUnordered));
}

function plain(reply: Reply | Buffer, isUnordered: boolean): unknown {
  if (Buffer.isBuffer(reply)) return `"${reply.toString('latin1')}`;
  if (typeof reply === 'string') return `"${reply}`;
  if (reply instanceof Status) return `"${reply.text}`;
  if (reply instanceof RedisError) return { error: errorText(reply.message) };
  if (!Array.isArray(reply)) return reply;
  const values = reply
    .filter((each: Reply | Buffer) => !isUnordered || !/^[0-9a-f]{40}$/.test(String(each)))
    .map((each: Reply) => plain(each, isUnordered));
  return isUnordered ? values.map((value) => JSON.stringify(value)).sort() : values;
}

/** A server adds the place in the script, and has long texts for some faults. */
function errorText(message: string): string {
  const text = message
    .replace(/ script: [0-9a-f]{40}.*$/s, '')
    .replace(/^ERR unknown command .*/s, 'ERR unknown command');
  return /user_script:\d+:|attempt to|bad argument/.test(text) ? 'a fault of Lua' : text.replace(/^ERR ERR /, 'ERR ');
}

/** Between the two servers some milliseconds pass. */
function isSame([name = '']: readonly string[], expected: string, actual: string): boolean {
  if (expected === actual) return true;
  return /^(pttl|ttl|eval|evalsha)$/.test(name) && isNear(JSON.parse(expected), JSON.parse(actual));
}

const CLOSE_MS = 4000;

function isNear(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number')
    return one === other || (one > CLOSE_MS && other > CLOSE_MS && Math.abs(one - other) < CLOSE_MS);
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return one === other;
  // Of a sealed script, the digest is that of the result, which may have a time in it.
  return one.every((value, index) => isNear(value, other[index]) || isDigest(value, other[index]));
}

const isDigest = (one: unknown, other: unknown) => [one, other].every((value) => /^"[0-9a-f]{40}$/.test(String(value)));
