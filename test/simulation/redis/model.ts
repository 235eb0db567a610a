// A server of Redis as its clients see it: commands and scripts on data in memory. It knows the commands that the gateway uses. Nothing
// here knows of networks; `test/simulation/redis/*.test.ts` compares it with the real server.

import type { Command, Commands } from './commands/command.ts';
import { hashCommands } from './commands/hashes.ts';
import { keyCommands } from './commands/keys.ts';
import { listCommands } from './commands/lists.ts';
import { sortedSetCommands } from './commands/sorted-sets.ts';
import { streamCommands } from './commands/streams.ts';
import { Dataset, integer } from './dataset.ts';
import { CommandFailure, fail, OK, RedisError, type Reply, Status } from './reply.ts';
import { runScript, Scripts } from './scripts.ts';

const DATA_COMMANDS: Commands = {
  ...keyCommands,
  ...hashCommands,
  ...listCommands,
  ...sortedSetCommands,
  ...streamCommands,
};

interface RedisModelOptions {
  /** The clock of the server, epoch milliseconds. */
  readonly now: () => number;
  /** Called for each command that may have changed data, scripts' commands one by one. Times of expiry are absolute in it. */
  readonly onWrite?: (command: readonly string[]) => void;
  readonly onPublish?: (channel: string, message: string) => void;
}

export class RedisModel {
  data: Dataset;
  /** Like a server at `maxmemory` that does not evict: commands that allocate are refused. */
  isFull = false;
  /** Like a master that has become a replica: it refuses to write. */
  isReadOnly = false;
  readonly #scripts = new Scripts();
  #starts = 1;
  readonly #options: RedisModelOptions;

  constructor(options: RedisModelOptions) {
    this.#options = options;
    this.data = new Dataset(options.now);
  }

  /** Runs one command: name, then arguments, as bytes. */
  execute(command: readonly string[]): Reply {
    const [name = '', ...args] = command;
    try {
      switch (name.toLowerCase()) {
        case 'eval':
          this.#scripts.learn(args[0] ?? '');
          return this.#evaluate(args[0] ?? '', args.slice(1));
        case 'evalsha': {
          const source = this.#scripts.source(args[0] ?? '');
          if (source === undefined) fail('NOSCRIPT No matching script. Please use EVAL.');
          return this.#evaluate(source, args.slice(1));
        }
        case 'script':
          this.#scripts.forget();
          return OK;
        case 'ping':
          return args[0] ?? new Status('PONG');
        default:
          return this.#run(name, args, 'client');
      }
    } catch (error) {
      if (error instanceof CommandFailure) return new RedisError(error.message);
      throw error;
    }
  }

  /** Forgets the scripts, as a restart does, and is another process. The data is set beside. */
  restart(data: Dataset): void {
    this.#scripts.forget();
    this.#starts += 1;
    this.data = data;
  }

  #info(): string {
    const server = `redis_version:7.0.15\r\nrun_id:${this.#starts.toString(16).padStart(40, '0')}`;
    return `# Server\r\n${server}\r\n# Memory\r\nmaxmemory_policy:noeviction\r\n# Replication\r\nrole:master\r\nmaster_replid:${this.#starts.toString(16).padStart(40, '0')}\r\n`;
  }

  #evaluate(source: string, [count = '0', ...rest]: readonly string[]): Reply {
    const keys = integer(count);
    let hasWritten = false;
    return runScript(source, rest.slice(0, keys), rest.slice(keys), ([name = '', ...args]) => {
      const isWrite = DATA_COMMANDS[name.toLowerCase()]?.writes === true;
      try {
        return this.#run(name, args, hasWritten ? 'script that has written' : 'script');
      } catch (error) {
        if (error instanceof CommandFailure) return new RedisError(error.message);
        throw error;
      } finally {
        hasWritten ||= isWrite;
      }
    });
  }

  #run(name: string, args: readonly string[], from: 'client' | 'script' | 'script that has written'): Reply {
    const lower = name.toLowerCase();
    if (lower === 'time') return timeOf(this.#options.now());
    if (lower === 'publish') {
      this.#options.onPublish?.(args[0] ?? '', args[1] ?? '');
      return 0;
    }
    if (lower === 'info') return this.#info();
    const command = DATA_COMMANDS[lower] ?? fail(unknown(name, from));
    requireArity(lower, command, args, from);
    if (this.isReadOnly && command.writes) fail("READONLY You can't write against a read only replica.");
    if (this.isFull && command.allocates && from !== 'script that has written')
      fail("OOM command not allowed when used memory > 'maxmemory'.");
    const reply = command.run(this.data, args);
    if (command.writes) this.#options.onWrite?.(absolute(lower, args, this.#options.now()));
    return reply;
  }
}

/** Repeats a command that another server has run. */
export function repeat(data: Dataset, [name = '', ...args]: readonly string[]): void {
  DATA_COMMANDS[name]?.run(data, args);
}

/** A command whose effect does not depend on when it is run. */
function absolute(name: string, args: readonly string[], nowMs: number): readonly string[] {
  if (name === 'pexpire') return ['pexpireat', args[0] ?? '', String(nowMs + Number(args[1]))];
  if (name === 'expire') return ['pexpireat', args[0] ?? '', String(nowMs + Number(args[1]) * 1000)];
  return [name, ...args];
}

function timeOf(nowMs: number): Reply {
  const wholeMs = Math.floor(nowMs);
  return [String(Math.floor(wholeMs / 1000)), String((wholeMs % 1000) * 1000)];
}

function requireArity(name: string, { arity }: Command, args: readonly string[], from: string): void {
  const given = args.length + 1;
  if (arity > 0 ? given === arity : given >= -arity) return;
  fail(
    from === 'client'
      ? `ERR wrong number of arguments for '${name}' command`
      : 'ERR Wrong number of args calling Redis command from script',
  );
}

function unknown(name: string, from: string): string {
  return from === 'client' ? `ERR unknown command '${name}'` : 'ERR Unknown Redis command called from script';
}
