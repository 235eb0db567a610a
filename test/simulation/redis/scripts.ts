// Runs Lua scripts on the data: compiles each once, and converts between its values and replies as a server does.

import { hash } from 'node:crypto';
import { type CompiledScript, compile } from './lua/compile.ts';
import { LUA_LIBRARY, redisHelpers } from './lua/library.ts';
import { all, formatNumber, LuaError, LuaTable, type LuaValue } from './lua/values.ts';
import { RedisError, type Reply, Status } from './reply.ts';

/** Runs a command of a script. */
type RunCommand = (args: readonly string[]) => Reply;

const compiled = new Map<string, CompiledScript>();

export function digestOf(source: string): string {
  return hash('sha1', Buffer.from(source, 'latin1'));
}

/** The scripts that one server knows, until it is restarted. */
export class Scripts {
  readonly #sources = new Map<string, string>();

  /** Undefined: the server does not know the script. */
  source(sha: string): string | undefined {
    return this.#sources.get(sha.toLowerCase());
  }

  learn(source: string): void {
    this.#sources.set(digestOf(source), source);
  }

  forget(): void {
    this.#sources.clear();
  }
}

/** Runs a script. An error that it raises or returns is the reply. */
export function runScript(source: string, keys: readonly string[], args: readonly string[], run: RunCommand): Reply {
  let script = compiled.get(source);
  if (script === undefined) {
    script = compile(source);
    compiled.set(source, script);
  }
  const call = (...values: LuaValue[]) => toLua(run(values.map(argumentOf)));
  const redis = { ...redisHelpers, call, pcall: (...values: LuaValue[]) => failureAsTable(() => call(...values)) };
  try {
    return toReply(all(script({ ...LUA_LIBRARY, redis }, new LuaTable([...keys]), new LuaTable([...args])))[0]);
  } catch (error) {
    if (error instanceof LuaError) return new RedisError(error.message);
    throw error;
  }
}

function argumentOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatNumber(value, 17);
  throw new LuaError('ERR Lua redis lib command arguments must be strings or integers');
}

/** An error reply ends the script. */
function toLua(reply: Reply): LuaValue {
  if (reply === null) return false;
  if (typeof reply === 'number' || typeof reply === 'string') return reply;
  if (reply instanceof RedisError) throw new LuaError(reply.message);
  if (!(reply instanceof Status)) return new LuaTable(reply.map(toLua));
  const made = new LuaTable();
  made.set('ok', reply.text);
  return made;
}

function failureAsTable(call: () => LuaValue): LuaValue {
  try {
    return call();
  } catch (error) {
    if (error instanceof LuaError) return redisHelpers.error_reply(error.message);
    throw error;
  }
}

function toReply(value: LuaValue): Reply {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Math.trunc(value);
  if (value === true) return 1;
  if (!(value instanceof LuaTable)) return null;
  const [error, status] = [value.get('err'), value.get('ok')];
  if (typeof error === 'string') return new RedisError(error);
  if (typeof status === 'string') return new Status(status);
  return value.list.map(toReply);
}
