// Runs commands in this process, on a real key store and a clock that the test sets.

import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import { loadSettings } from '../../../gateway/config/settings.ts';
import type { Configuration } from '../../../gateway/configuration.ts';
import { openSecrets } from '../../../gateway/process/open-key-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type InProcess, runInProcess } from '../../support/in-process.ts';
import { PEPPER, pepperFingerprint, START_MS } from '../../unit/auth/samples.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  /** Without the name of the program before the reason of a failure. */
  readonly err: string;
}

/** The names that commands look up, for tests that are not about the configuration. */
const NAMES = {
  config: {
    upstreams: {},
    limits: { tiers: { standard: {}, premium: {} } },
    gateway: { operatorScopes: ['mail:read'], keys: { perOrganizationMax: 1000 } },
  },
  contracts: { scopes: new Set(['customers:read', 'customers:write', 'mail:read']) },
} as unknown as Configuration;

/**
 * @param directory the data directory, to be shared with a gateway
 * @param environment read anew by each command; without GATEWAY_CONFIG, the configuration is a few names
 */
export function commandLine(
  directory = temporaryDirectory(),
  environment: Readonly<Record<string, string | undefined>> = {},
) {
  /** By `stepMs` it goes on whenever a command looks at it. */
  const clock = { nowMs: START_MS, stepMs: 0, now: () => (clock.nowMs += clock.stepMs) };
  const all = () => ({ KEY_PEPPER: PEPPER, GATEWAY_DATA: directory, PORT: '0', ADMIN_PORT: '0', ...environment });

  function openStore() {
    return createSqliteKeyStore({ directory, pepperFingerprint, now: () => clock.nowMs });
  }

  const run = (...words: string[]) => runWith({}, ...words);

  async function runWith(given: Pick<InProcess, 'input' | 'onTerminal'>, ...words: string[]): Promise<Outcome> {
    const { code, stdout, stderr } = await runInProcess(words, {
      ...given,
      environment: all(),
      now: () => clock.now(),
      adjust: (context) =>
        environment.GATEWAY_CONFIG === undefined ? { ...context, configuration: async () => NAMES } : context,
    });
    return { code, out: stdout, err: stderr.replace(/^gateway: ([\s\S]*)\n$/m, '$1') };
  }

  async function json(...words: string[]) {
    const { code, out, err } = await run(...words, '--json');
    if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`);
    return JSON.parse(out);
  }

  return {
    directory,
    run,
    runWith,
    json,
    openStore,
    openSecrets: () => openSecrets({ environment: all() }, loadSettings(all())),
    clock,
  };
}
