// The context of every command: the process that it runs in, what it opens of the gateway, and how it ends. Each thing is opened on first
// use, so that a command loads only what it needs, and closed when the command has ended.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createDigestOf, type DigestOf, keyFingerprint } from '../auth/api-key.ts';
import { KEY_STORE_FILE, type KeyStore } from '../auth/store/key-store.ts';
import { loadSecrets, type Secrets } from '../config/secrets.ts';
import { loadSettings, type Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import { visibleLine, visibleLines } from '../visible-text.ts';
import { type AdminClient, createAdminClient } from './admin-client.ts';

/** The process around a command. */
export interface CommandProcess {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name of the user for the audit log. */
  readonly actor: string;
  /** Whether standard error is a terminal, where a line can be rewritten. */
  readonly onTerminal: boolean;
  /** Whether standard output is a terminal: a person reads it. */
  readonly outputOnTerminal: boolean;
  now(): number;
  /** Writes to standard output, as is. */
  write(text: string): void;
  /** Writes to standard error, as is. */
  complain(text: string): void;
  /** Standard input. */
  input(): Readable;
  exit(code: number): never;
  /** Ends at once, without writing buffered output. */
  abort(): void;
  /** Handles SIGTERM and SIGINT: end. */
  onSignal(handle: (name: NodeJS.Signals) => void): void;
  /** Handles SIGHUP: reload the configuration. */
  onReload(handle: () => void): void;
  /** Handles SIGUSR2: replace every worker. */
  onRestart(handle: () => void): void;
  /** Handles uncaught exceptions and unhandled rejections. Without a handler Node prints the error and exits with 1. */
  onCrash(handle: (error: unknown) => void): void;
}

export interface OpenKeyStore {
  readonly store: KeyStore;
  readonly digestOf: DigestOf;
}

export interface CommandContext extends CommandProcess {
  /** Writes to standard output. Text of documents, services and clients commands no terminal: control characters become escapes. */
  write(text: string): void;
  /** Writes to standard error, in the same way. */
  complain(text: string): void;
  /** Replaces the last line of standard error, which is a terminal; an empty line clears it. */
  rewrite(line: string): void;
  /** Writes coloured text, in which all else is visible already. */
  paint(text: string): void;
  /** Throws ConfigError. */
  settings(): Settings;
  secrets(): Secrets;
  /**
   * Loads and checks all files, once. Rejects with ConfigError.
   *
   * @param purpose `check` compiles all schemas of contracts, which finds every mistake; `serve` is faster
   * @param limitsPath takes the place of limits.yaml
   */
  configuration(purpose?: 'check' | 'serve', limitsPath?: string): Promise<Configuration>;
  /**
   * The key store of the gateway. Stays open until the command has ended.
   *
   * @param purpose `use` ends the command if there is no store yet; `begin` creates one
   */
  keyStore(purpose?: 'use' | 'begin'): Promise<OpenKeyStore>;
  /** Ends the command unless a gateway has kept data here, so that a command in another environment creates nothing. */
  requireData(): void;
  /** Client of the gateway that runs on this machine. */
  adminClient(): AdminClient;
  /** Ends the command with exit code 1: a problem was found. Prints the sentence, if there is one. */
  fail(sentence?: string): never;
  /** Prints the sentence and ends the command with exit code 2: wrong usage. */
  usage(sentence: string): never;
  close(): Promise<void>;
}

/** Ends a command. The command does not exit itself, so that what it has opened is closed. */
export class CommandFailure extends Error {
  readonly exitCode: 1 | 2;

  /** @param sentence empty: nothing is printed */
  constructor(exitCode: 1 | 2, sentence: string) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

export function createCommandContext(around: CommandProcess): CommandContext {
  const { environment } = around;
  const settings = () => loadSettings(environment);
  const secrets = () => openSecrets(around, settings());
  const configurations = new Map<string, Promise<Configuration>>();
  let keyStore: Promise<OpenKeyStore> | undefined;

  function configuration(purpose: 'check' | 'serve' = 'serve', limitsPath?: string): Promise<Configuration> {
    const name = `${purpose} ${limitsPath ?? ''}`;
    const loading = configurations.get(name) ?? load(purpose, limitsPath);
    configurations.set(name, loading);
    return loading;
  }

  async function load(purpose: 'check' | 'serve', limitsPath: string | undefined): Promise<Configuration> {
    // Most commands do not need it, and it takes longer to load than most of them take to run.
    const { loadConfiguration } = await import('../configuration.ts');
    return loadConfiguration(settings(), environment, purpose, limitsPath);
  }

  function requireData(): void {
    const { redisUrl, dataDirectory } = settings();
    if (redisUrl !== undefined || existsSync(join(dataDirectory, KEY_STORE_FILE))) return;
    throw new CommandFailure(
      1,
      `There is no data of a gateway in ${dataDirectory}, and nothing was created. Set GATEWAY_DATA or REDIS_URL to what the gateway has; "orgs create" and "start" make new data.`,
    );
  }

  return {
    ...around,
    write: (text) => around.write(visibleLines(text)),
    complain: (text) => around.complain(visibleLines(text)),
    rewrite: (line) => around.complain(`\r${visibleLine(line)}\x1b[K`),
    paint: around.write,
    settings,
    secrets,
    configuration,
    requireData,
    keyStore(purpose = 'use') {
      if (purpose === 'use') requireData();
      keyStore ??= openKeyStore(around, settings());
      return keyStore;
    },
    adminClient: () => createAdminClient(settings(), secrets().read('admin_token')),
    fail(sentence = '') {
      throw new CommandFailure(1, sentence);
    },
    usage(sentence) {
      throw new CommandFailure(2, sentence);
    },
    async close() {
      // One that could not be opened has ended the command with its reason.
      const opened = await keyStore?.catch(() => undefined);
      await opened?.store.close();
    },
  };
}

export function openSecrets({ environment }: Pick<CommandProcess, 'environment'>, settings: Settings): Secrets {
  const { secretsDirectory: directory, dataDirectory, redisUrl } = settings;
  return loadSecrets({ directory, environment, dataDirectory, redisUrl });
}

/** Opens the key store that commands and the gateway share; the caller closes it. Rejects with a sentence if it cannot be opened. */
export async function openKeyStore(
  around: Pick<CommandProcess, 'environment' | 'now'>,
  settings: Settings,
  secrets: Secrets = openSecrets(around, settings),
): Promise<OpenKeyStore> {
  const digestOf = createDigestOf(await secrets.keyPepper());
  const options = { pepperFingerprint: keyFingerprint(digestOf), now: around.now };
  const { redisUrl: url, dataDirectory: directory, acceptOneWay } = settings;
  if (url === undefined) {
    const { createSqliteKeyStore } = await import('../auth/store/sqlite/sqlite-key-store.ts');
    return { store: createSqliteKeyStore({ directory, acceptOneWay, ...options }), digestOf };
  }
  const { openRedisStore } = await import('../auth/store/redis/redis-key-store.ts');
  return { store: await openRedisStore({ url, ...options }), digestOf };
}
