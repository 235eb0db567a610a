// Credentials and concurrency limits of upstreams. Credentials come from the secrets store. A start generates missing credentials for
// upstreams without a real service, which are on the sandbox or answered from examples of the contract.

import type { Config } from '../config/load.ts';
import type { Secrets } from '../config/secrets.ts';
import type { UpstreamEntry } from '../config/upstreams/upstreams-file.ts';
import type { Configuration } from '../configuration.ts';
import type { Log } from '../observe/log/log.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { AccessTable, type AccessTableOptions } from '../upstream/access.ts';
import { simulatedSecret } from '../upstream/credentials/credential-kinds.ts';
import { isSimulated } from '../upstream/targets/addresses.ts';

interface OpenedAccess {
  readonly access: AccessTable;
  /** The administrator of the sandbox's mail server, `user:password`; undefined if no upstream uses this server. */
  readonly sandboxAdministrator: string | undefined;
  /** Returns mistakes for missing credentials that only a start can generate. */
  check(next: Configuration): Mistake[];
}

interface AccessOptions
  extends Omit<AccessTableOptions, 'readSecret' | 'secretWrittenAt' | 'onSuspended' | 'onHealed'> {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Log;
}

/** Opens the access to upstreams. Generates missing credentials of upstreams without a real service. */
export async function openUpstreamAccess({ config, secrets, log, ...options }: AccessOptions): Promise<OpenedAccess> {
  const generated = new Map<string, string>();
  for (const credential of credentialsOf(config.upstreams, isSimulated)) {
    const { secret } = credential;
    if (secrets.read(secret) === undefined)
      generated.set(secret, simulatedSecret(credential, await secrets.readOrMake(secret)));
  }
  const readSecret = (entry: string) => secrets.read(entry) ?? generated.get(entry);

  /** Finds missing credentials of upstreams without a real service that a reload adds. Only a start can generate them. */
  function check({ config }: Pick<Configuration, 'config'>): Mistake[] {
    return Object.entries(config.upstreams).flatMap(([name, entry]) => {
      if (entry.credential === undefined || !isSimulated(entry)) return [];
      const { kind, secret } = entry.credential;
      if (readSecret(secret) !== undefined) return [];
      const path = ['upstreams', name, 'credential', kind, 'secret'];
      const reason = `there is no secrets entry "${secret}".`;
      const mistake = config.sources.upstreams.mistakeAt(path, reason, 'Start the gateway again.');
      return [{ ...mistake, needsRestart: true }];
    });
  }

  const access = new AccessTable({
    ...options,
    readSecret,
    secretWrittenAt: secrets.writtenAt,
    onSuspended: (upstream, reason) =>
      log.logger.error(
        { upstream, reason },
        'the upstream credential cannot be used; requests are suspended until the secret changes, an address changes or `upstreams retry` is run',
      ),
    onHealed: (upstream) => log.logger.info({ upstream }, 'the credential for the upstream can be used again'),
  });
  access.apply(config.upstreams, config.gateway.overload.organizationShare);
  return { access, sandboxAdministrator: administratorOf(config.upstreams, readSecret), check };
}

function credentialsOf(upstreams: Config['upstreams'], applies: (upstream: UpstreamEntry) => boolean) {
  return Object.values(upstreams).flatMap((entry) => (entry.credential && applies(entry) ? [entry.credential] : []));
}

function administratorOf(upstreams: Config['upstreams'], readSecret: (entry: string) => string | undefined) {
  const credentials = credentialsOf(upstreams, ({ live, test = [] }) => [...live, ...test].includes('sandbox:mail'));
  const credential = credentials.find((one) => one.kind === 'basic');
  if (credential === undefined) return undefined;
  const text = readSecret(credential.secret) ?? '';
  return text.includes(':') ? text : `${credential.user}:${text}`;
}
