// The context of every command: the key store, names from the configuration, and how a command ends.

import type { Readable } from 'node:stream';
import type { DigestOf } from '../auth/api-key.ts';
import type { KeyStore } from '../auth/store/store.ts';

export interface OpenStore {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
}

export interface CommandContext {
  /** Opens the key store of the gateway; the caller closes it. */
  openStore(): Promise<OpenStore>;
  /** Tier names from limits.yaml. */
  tiers(): Promise<readonly string[]>;
  /** All scopes in contracts. */
  knownScopes(): Promise<ReadonlySet<string>>;
  /** Scopes that only operator organizations may hold. */
  operatorScopes(): Promise<ReadonlySet<string>>;
  /** Name of the user for the audit log. */
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
  /** Prints one sentence and ends with exit code 1: a problem was found. */
  fail(message: string): never;
  /** Prints one sentence and ends with exit code 2: wrong usage. */
  usage(message: string): never;
}

/** Opens the key store, runs `work`, and closes the store in any case. */
export async function withStore<T>(context: CommandContext, work: (open: OpenStore) => Promise<T>): Promise<T> {
  const open = await context.openStore();
  try {
    return await work(open);
  } finally {
    await open.store.close();
  }
}
