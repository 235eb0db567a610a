// Runs commands in this process, on a real store, the way the entry point wires them.

import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { Command, CommanderError } from 'commander';
import { createSqliteStore } from '../../../gateway/auth/sqlite-store.ts';
import { addAuditCommands } from '../../../gateway/commands/audit.ts';
import type { CommandContext } from '../../../gateway/commands/context.ts';
import { addKeysCommands } from '../../../gateway/commands/keys.ts';
import { addOrgsCommands } from '../../../gateway/commands/orgs.ts';
import { addSeedCommands } from '../../../gateway/commands/seed.ts';
import { digestOf, pepperFingerprint, START_MS, temporaryDirectory } from '../../unit/auth/samples.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What the entry point does by ending the process. */
function exit(code: number, err: string): never {
  throw Object.assign(new Error(err), { outcome: { code, err } });
}

export function commandLine(test: TestContext) {
  const directory = temporaryDirectory(test);
  const clock = { nowMs: START_MS };

  function openStore() {
    return createSqliteStore({ directory, pepperFingerprint, now: () => clock.nowMs });
  }

  function contextFor(write: (text: string) => void): CommandContext {
    return {
      openStore: async () => ({ store: openStore(), digestOf }),
      tiers: async () => ['standard', 'premium'],
      knownScopes: async () => new Set(['customers:read', 'customers:write', 'mail:read']),
      operatorScopes: async () => new Set(['mail:read']),
      actor: 'tests',
      now: () => clock.nowMs,
      randomBytes,
      write,
      fail: (message) => exit(1, message),
      usage: (message) => exit(2, message),
    };
  }

  async function run(...words: string[]): Promise<Outcome> {
    const printed: string[] = [];
    const complaints: string[] = [];
    const program = new Command('gateway').exitOverride().configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: (text) => complaints.push(text),
    });
    const context = contextFor((text) => printed.push(text));
    for (const add of [addOrgsCommands, addKeysCommands, addAuditCommands, addSeedCommands]) add(program, context);
    try {
      await program.parseAsync(words, { from: 'user' });
      return { code: 0, out: printed.join(''), err: '' };
    } catch (thrown) {
      const out = printed.join('');
      if (thrown instanceof CommanderError) return { code: thrown.exitCode && 2, out, err: complaints.join('') };
      if (thrown instanceof Error && 'outcome' in thrown) return { ...(thrown.outcome as Omit<Outcome, 'out'>), out };
      throw thrown;
    }
  }

  async function json(...words: string[]) {
    const { code, out, err } = await run(...words, '--json');
    if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`);
    return JSON.parse(out);
  }

  return { run, json, openStore, clock };
}
