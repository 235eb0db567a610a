// What every command is given: the store, the names that configuration knows, and how a command ends.

import type { Readable } from 'node:stream';
import type { DigestOf } from '../auth/api-key.ts';
import type { KeyStore } from '../auth/store/store.ts';

export interface OpenStore {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
}

export interface CommandContext {
  /** The store the gateway uses; whoever opens it closes it. */
  openStore(): Promise<OpenStore>;
  /** Names from the limits file. */
  tiers(): Promise<readonly string[]>;
  /** Every scope a contract mentions. */
  knownScopes(): Promise<ReadonlySet<string>>;
  /** Those among them that only operator organizations may hold. */
  operatorScopes(): Promise<ReadonlySet<string>>;
  /** Who is at work, as the audit log names them. */
  readonly actor: string;
  now(): number;
  randomBytes(size: number): Uint8Array;
  /** Writes to standard output, as is. */
  write(text: string): void;
  /** Writes to standard error, as is. */
  complain(text: string): void;
  /** Whether standard error is a terminal, where a line can be rewritten. */
  readonly onTerminal: boolean;
  /** Standard input. */
  input(): Readable;
  /** Says one sentence and ends with exit code 1: there is a problem. */
  fail(message: string): never;
  /** Says one sentence and ends with exit code 2: the command was called wrongly. */
  usage(message: string): never;
}

/** Opens the store for one piece of work and closes it whatever comes of it. */
export async function withStore<T>(context: CommandContext, work: (open: OpenStore) => Promise<T>): Promise<T> {
  const open = await context.openStore();
  try {
    return await work(open);
  } finally {
    await open.store.close();
  }
}
