// Wiring of the sandbox: started where some upstream lies on it, and found wherever it listens after a restart.

import type { Assertions } from '../auth/assertions/assertions.ts';
import type { Config, Settings } from '../config/load.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Mistake } from '../config-errors.ts';
import type { Log } from '../observe/log.ts';
import { liesOnSandbox, type SandboxProcess, startSandbox } from '../upstream/sandbox.ts';

export interface OpenSandbox {
  /** Undefined: no upstream needs it. */
  readonly process: SandboxProcess | undefined;
  /** Where an address of the configuration is right now. */
  originOf(address: string): string;
  /** Upstreams that it was not started for: it trusts assertions for those that it knows. */
  objections(next: Config): Mistake[];
}

export interface OpenSandboxOptions {
  readonly settings: Settings;
  readonly config: Config;
  readonly secrets: Secrets;
  readonly jwks: Assertions['jwks'];
  /** Whom its mail server lets in, `user:password`. */
  readonly mailAdministrator: string | undefined;
  readonly log: Log;
}

/** Rejects when it is needed and cannot be had. */
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
          mailAdministrator: options.mailAdministrator,
          onRestart: () => options.log.logger.warn('the sandbox ended; starting it again'),
        });

  return {
    process,
    originOf: (address) => process?.originOf(address) ?? address,
    objections({ upstreams, sources }) {
      const added = Object.keys(upstreams).filter(
        (name) => liesOnSandbox(upstreams[name]) && !upstreamsOnIt.includes(name),
      );
      return added.map((name) => {
        const reason = 'an upstream cannot move to the sandbox while the gateway runs.';
        return sources.upstreams.mistakeAtKey(['upstreams', name], reason, 'Start the gateway again.');
      });
    },
  };
}
