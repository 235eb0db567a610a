// Wiring of what upstreams are shown and how much they are sent: their credentials come from the secrets store, where one must be unless
// the upstream is the sandbox, for which one is made.

import type { Config } from '../config/load.ts';
import type { UpstreamEntry } from '../config/schema.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Mistake } from '../config-errors.ts';
import type { Configuration } from '../configuration.ts';
import type { Log } from '../observe/log.ts';
import { type Accesses, type AccessesOptions, createAccesses } from '../upstream/access.ts';
import { liesOnSandboxOnly } from '../upstream/sandbox.ts';

export interface UpstreamAccess extends Accesses {
  /** What the mail server of the sandbox is to accept, `user:password`; undefined when nobody uses it. */
  readonly sandboxAdministrator: string | undefined;
  /** Credentials that only a start can make. */
  objections(next: Configuration): Mistake[];
}

export interface UpstreamAccessOptions extends Pick<AccessesOptions, 'onWaited' | 'onShed' | 'isShedding'> {
  readonly config: Config;
  /** How many processes there are of this gateway. */
  readonly workers: number;
  readonly secrets: Secrets;
  readonly log: Log;
  now(): number;
}

/** Makes the credentials of upstreams on the sandbox that have none. */
export async function openUpstreamAccess({
  config,
  workers,
  secrets,
  log,
  now,
  onWaited,
  onShed,
  isShedding,
}: UpstreamAccessOptions): Promise<UpstreamAccess> {
  const made = new Map<string, string>();
  for (const { basic } of credentialsOf(config.upstreams, liesOnSandboxOnly)) {
    if (secrets.read(basic.secret) === undefined) made.set(basic.secret, await secrets.readOrMake(basic.secret));
  }
  const readSecret = (entry: string) => secrets.read(entry) ?? made.get(entry);

  /** A credential that a reload adds to an upstream on the sandbox, which a start would have made. */
  function objections({ config }: Pick<Configuration, 'config'>): Mistake[] {
    return Object.entries(config.upstreams).flatMap(([name, entry]) => {
      if (entry.credential === undefined || !liesOnSandboxOnly(entry)) return [];
      const { secret } = entry.credential.basic;
      if (readSecret(secret) !== undefined) return [];
      const path = ['upstreams', name, 'credential', 'basic', 'secret'];
      return [
        config.sources.upstreams.mistakeAt(path, `there is no secrets entry "${secret}".`, 'Start the gateway again.'),
      ];
    });
  }

  const accesses = createAccesses({
    readSecret,
    workers,
    now,
    onWaited,
    onShed,
    isShedding,
    onLatched: (upstream, reason) =>
      log.logger.error(
        { upstream, reason },
        'the upstream is not asked until the credential that the gateway shows it changes',
      ),
    onHealed: (upstream) => log.logger.info({ upstream }, 'the credential for the upstream can be used again'),
  });
  accesses.use(config.upstreams, config.gateway.overload.organizationShare);
  return { ...accesses, sandboxAdministrator: administratorOf(config.upstreams, readSecret), objections };
}

function credentialsOf(upstreams: Config['upstreams'], applies: (upstream: UpstreamEntry) => boolean) {
  return Object.values(upstreams).flatMap((entry) => (entry.credential && applies(entry) ? [entry.credential] : []));
}

function administratorOf(upstreams: Config['upstreams'], readSecret: (entry: string) => string | undefined) {
  const [credential] = credentialsOf(upstreams, ({ live, test = [] }) => [...live, ...test].includes('sandbox:mail'));
  if (credential === undefined) return undefined;
  const { user, secret } = credential.basic;
  const text = readSecret(secret) ?? '';
  return text.includes(':') ? text : `${user}:${text}`;
}
