// The context of a command: its process, the stores that it opens, the actions on this machine or at a remote gateway, and the ways to end
// it. A store is opened at its first use, and closed when the command has ended.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenActions } from '../administration/actions.ts';
import { KEY_STORE_FILE } from '../auth/store/key-store.ts';
import { adminTokensIn, type Secrets } from '../config/secrets.ts';
import { loadSettings, type Settings } from '../config/settings.ts';
import type { Configuration, LoadPurpose } from '../configuration.ts';
import type { HostProcess, Painter } from '../process/host-process.ts';
import { type OpenKeyStore, openKeyStore, openSecrets } from '../process/open-key-store.ts';
import { visibleLine, visibleLines } from '../shared/text.ts';
import { type AdminClient, createAdminClient, tokensOf } from './admin-client.ts';
import { CommandFailure } from './command-failure.ts';
import type { Remote } from './server/remote.ts';

export interface MachineContext extends HostProcess, Painter {
  /**
   * Writes to standard output. Control characters are escaped, because text from documents, services and clients must not control the
   * terminal.
   */
  write(text: string): void;
  /** Writes to standard error, in the same way. */
  complain(text: string): void;
  /** Replaces the last line of standard error, which is a terminal; an empty line clears it. */
  rewrite(line: string): void;
  /** Throws ConfigError. */
  settings(): Settings;
  secrets(): Secrets;
  /**
   * Loads and checks all files, once. Rejects with ConfigError.
   *
   * @param purpose `check` compiles all schemas of contracts, which finds every mistake; `serve` is faster, and so is `compare`,
   * which accepts what breaks a published contract
   * @param limitsPath the file that replaces limits.yaml
   */
  configuration(purpose?: LoadPurpose, limitsPath?: string): Promise<Configuration>;
  /**
   * Returns the key store of the gateway. It stays open until the command has ended.
   *
   * @param purpose `use` ends the command if there is no store yet; `begin` creates one
   */
  keyStore(purpose?: 'use' | 'begin'): Promise<OpenKeyStore>;
  /**
   * Ends the command if there is no data of a gateway here. Otherwise a command with wrong environment variables would create a new store.
   */
  requireData(): void;
  /** Returns the client of the gateway that runs on this machine. */
  adminClient(): AdminClient;
  /** Ends the command with exit code 1, because a problem was found. Prints the sentence, if there is one. */
  fail(sentence?: string): never;
  /** Prints the sentence and ends the command with exit code 2, for wrong usage. */
  usage(sentence: string): never;
  close(): Promise<void>;
}

export interface CommandContext extends MachineContext {
  /** Opens the actions on organizations, keys and so on, on this machine, or on the gateway at --server or GATEWAY_SERVER. */
  readonly actions: OpenActions;
  /** The gateway at `--server` or GATEWAY_SERVER; undefined for the gateway of this machine. Some options need one or the other. */
  readonly remote?: Remote | undefined;
}

export function createMachineContext(around: HostProcess): MachineContext {
  const { environment } = around;
  const settings = () => loadSettings(environment);
  const secrets = () => openSecrets(around, settings());
  const configurations = new Map<string, Promise<Configuration>>();
  let keyStore: Promise<OpenKeyStore> | undefined;

  function configuration(purpose: LoadPurpose = 'serve', limitsPath?: string): Promise<Configuration> {
    const name = `${purpose} ${limitsPath ?? ''}`;
    const loading = configurations.get(name) ?? load(purpose, limitsPath);
    configurations.set(name, loading);
    return loading;
  }

  async function load(purpose: LoadPurpose, limitsPath: string | undefined): Promise<Configuration> {
    // This module is loaded on demand, because most commands do not need it, and loading it takes longer than most commands take.
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
    adminClient() {
      return createAdminClient(settings(), tokensOf(adminTokensIn(secrets()), environment));
    },
    fail(sentence = '') {
      throw new CommandFailure(1, sentence);
    },
    usage(sentence) {
      throw new CommandFailure(2, sentence);
    },
    async close() {
      // A store that could not be opened has already ended the command with the reason.
      const opened = await keyStore?.catch(() => undefined);
      await opened?.store.close();
    },
  };
}
