// Runs commands in this process, on a real store, the way the entry point wires them.

import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { Command, CommanderError } from 'commander';
import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/store.ts';
import { addAssertionKeysCommands } from '../../../gateway/commands/assertion-keys.ts';
import { addAuditCommands } from '../../../gateway/commands/audit.ts';
import type { CommandContext } from '../../../gateway/commands/context.ts';
import { addKeysCommands } from '../../../gateway/commands/keys/keys.ts';
import { addOrgsCommands } from '../../../gateway/commands/orgs.ts';
import { addSeedCommands } from '../../../gateway/commands/seed.ts';
import { loadSecrets, type SecretsOptions } from '../../../gateway/config/secrets.ts';
import { digestOf, pepperFingerprint, START_MS, temporaryDirectory } from '../../unit/auth/samples.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Streams extends Pick<CommandContext, 'write' | 'complain'> {
  readonly onTerminal?: boolean;
  /** What standard input holds. */
  readonly input?: readonly string[];
}

/** What the entry point does by ending the process. */
function exit(code: number, err: string): never {
  throw Object.assign(new Error(err), { outcome: { code, err } });
}

/** On a data directory of its own, unless there is one to be shared with a gateway; `addMore` adds further commands. */
export function commandLine(
  test: TestContext,
  directory = temporaryDirectory(test),
  secrets: Partial<SecretsOptions> = {},
  addMore: (program: Command, context: CommandContext) => void = () => undefined,
) {
  /** By `stepMs` it goes on whenever a command looks at it. */
  const clock = { nowMs: START_MS, stepMs: 0 };

  function openStore() {
    return createSqliteKeyStore({ directory, pepperFingerprint, now: () => clock.nowMs });
  }

  function openSecrets() {
    return loadSecrets({ environment: {}, dataDirectory: directory, ...secrets });
  }

  function contextFor({ write, complain, onTerminal = false, input }: Streams): CommandContext {
    return {
      openStore: async () => ({ store: openStore(), digestOf }),
      tiers: async () => ['standard', 'premium'],
      knownScopes: async () => new Set(['customers:read', 'customers:write', 'mail:read']),
      operatorScopes: async () => new Set(['mail:read']),
      actor: 'tests',
      now: () => (clock.nowMs += clock.stepMs),
      randomBytes,
      write,
      complain,
      onTerminal,
      input: () => Readable.from(input ?? []),
      fail: (message) => exit(1, message),
      usage: (message) => exit(2, message),
    };
  }

  const run = (...words: string[]) => runWith({}, ...words);

  async function runWith(given: Pick<Streams, 'input' | 'onTerminal'>, ...words: string[]): Promise<Outcome> {
    const printed: string[] = [];
    const complaints: string[] = [];
    const program = new Command('gateway').exitOverride().configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: (text) => complaints.push(text),
    });
    const write = (text: string) => void printed.push(text);
    const complain = (text: string) => void complaints.push(text);
    const context = contextFor({ ...given, write, complain });
    for (const add of [addOrgsCommands, addKeysCommands, addAuditCommands, addSeedCommands]) add(program, context);
    addAssertionKeysCommands(program, context, openSecrets);
    addMore(program, context);
    try {
      await program.parseAsync(words, { from: 'user' });
      return { code: 0, out: printed.join(''), err: complaints.join('') };
    } catch (thrown) {
      const out = printed.join('');
      const complained = complaints.join('');
      if (thrown instanceof CommanderError) return { code: thrown.exitCode && 2, out, err: complained };
      if (!(thrown instanceof Error && 'outcome' in thrown)) throw thrown;
      const { code, err } = thrown.outcome as Omit<Outcome, 'out'>;
      return { code, out, err: complained + err };
    }
  }

  async function json(...words: string[]) {
    const { code, out, err } = await run(...words, '--json');
    if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`);
    return JSON.parse(out);
  }

  return { directory, run, runWith, json, openStore, openSecrets, clock };
}
