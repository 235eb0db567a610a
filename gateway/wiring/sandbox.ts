// Opens the sandbox process, which is started if an upstream uses it, and is found at its new port after a restart.

import type { Assertions } from '../auth/assertions/assertions.ts';
import type { Config } from '../config/load.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import { addressOfSite } from '../edge/admission/sites.ts';
import type { Log } from '../observe/log/log.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { liesOnSandbox, type SandboxProcess, startSandbox } from '../upstream/sandbox/sandbox.ts';

export interface OpenSandbox {
  /** The process of the sandbox; undefined if no upstream uses it. */
  readonly process: SandboxProcess | undefined;
  /** Returns the current origin of a configured address. */
  originOf(address: string): string;
  /**
   * Returns mistakes for upstreams that a reload moves to the sandbox, because the sandbox accepts assertions only for upstreams known at
   * its start.
   */
  check(next: Config): Mistake[];
}

interface OpenSandboxOptions {
  readonly settings: Settings;
  readonly config: Config;
  readonly secrets: Secrets;
  readonly jwks: Assertions['jwks'];
  /** Administrator of its mail server, `user:password`. */
  readonly mailAdministrator: string | undefined;
  readonly log: Log;
}

/** Opens the sandbox. Rejects if an upstream needs the sandbox and it cannot be started. */
export async function openSandbox({ settings, config, secrets, ...options }: OpenSandboxOptions): Promise<OpenSandbox> {
  const upstreamsOnIt = Object.keys(config.upstreams).filter((name) => liesOnSandbox(config.upstreams[name]));
  const process =
    upstreamsOnIt.length === 0
      ? undefined
      : await startSandbox({
          dataDirectory: settings.dataDirectory,
          jwks: options.jwks,
          issuer: config.gateway.publicUrl,
          audiences: upstreamsOnIt,
          cursorSecret: await secrets.cursorSecret(),
          mailUrl: addressOfSite(config.gateway.hosts, config.gateway.publicUrl)('jmap'),
          mailAdministrator: options.mailAdministrator,
          onRestart: () => options.log.logger.warn('the sandbox ended; starting it again'),
        });

  return {
    process,
    originOf: (address) => process?.originOf(address) ?? address,
    check({ upstreams, sources }) {
      const added = Object.keys(upstreams).filter(
        (name) => liesOnSandbox(upstreams[name]) && !upstreamsOnIt.includes(name),
      );
      return added.map((name) => {
        const reason = 'an upstream cannot move to the sandbox while the gateway runs.';
        const mistake = sources.upstreams.mistakeAtKey(['upstreams', name], reason, 'Start the gateway again.');
        return { ...mistake, needsRestart: true };
      });
    },
  };
}
