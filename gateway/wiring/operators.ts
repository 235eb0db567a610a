// Wiring of what operators see: status, metrics, limits, recent exchanges and the console, on a listener of their own.

import { liveKeysOf } from '../auth/live-keys.ts';
import type { KeyStore } from '../auth/store/store.ts';
import type { Settings } from '../config/load.ts';
import type { Secrets } from '../config/secrets.ts';
import type { Configuration } from '../configuration.ts';
import { type Console, createConsole } from '../console/console.ts';
import type { Pressed } from '../console/pressed.ts';
import type { Sample } from '../console/sample.ts';
import { closeAtOnce, listen } from '../edge/server.ts';
import type { CounterStore } from '../limits/store.ts';
import { createUsage } from '../limits/usage.ts';
import { createAdminServer, type Operators } from '../observe/admin.ts';
import type { Log } from '../observe/log.ts';
import { DURATION_BUCKETS, type Metrics } from '../observe/metrics.ts';
import { createStatus, type StatusOptions } from '../observe/status.ts';
import type { Serving } from '../serving.ts';
import type { Identity } from './identity.ts';
import type { VersionUses } from './version-uses.ts';

/** Something that can tell how it is. */
interface Telling<Name extends keyof StatusOptions> {
  readonly status: StatusOptions[Name];
}

export interface OperatorsParts {
  readonly version: string;
  readonly settings: Settings;
  readonly secrets: Pick<Secrets, 'read'>;
  readonly store: KeyStore;
  /** Present: somebody else has the listener, and asks here. */
  readonly worker?: number | undefined;
  now(): number;
  forwardNow(): number;
  readonly log: Pick<Log, 'recent'>;
  readonly metrics: Metrics;
  readonly pressed: Pressed;
  readonly counters: CounterStore;
  readonly identity: Pick<Identity, 'keysStatus' | 'issuersStatus'>;
  readonly answers: Telling<'idempotency'>;
  readonly access: Telling<'access'>;
  readonly targets: { readonly groups: Telling<'targets'> };
  readonly overload: Telling<'overload'>;
  readonly certificates: Telling<'certificates'>;
  readonly versionUses: Pick<VersionUses, 'report' | 'status'>;
  readonly reload: StatusOptions['configuration'];
  readonly lifecycle: StatusOptions['lifecycle'];
  /** What is in force now. */
  configuration(): Configuration;
  serving(): Serving;
}

export interface OpenedOperators {
  /** What they are told, also through whoever has the listener. */
  readonly answers: Operators<Sample>;
  /** Answers the port; 0: the listener is somebody else's. */
  listen(): Promise<number>;
  close(): Promise<void>;
}

export function openOperators(parts: OperatorsParts): OpenedOperators {
  const { settings } = parts;
  const answers = answersOf(parts);
  const console = parts.worker === undefined ? openConsole(answers, parts.forwardNow) : undefined;
  const server =
    console &&
    createAdminServer({ host: settings.adminHost, token: parts.secrets.read('admin_token'), ...answers, console });
  return {
    answers,
    listen: async () => (server ? listen(server, settings.adminHost, settings.adminPort) : 0),
    async close() {
      console?.stop();
      if (server) await closeAtOnce(server);
    },
  };
}

function answersOf(parts: OperatorsParts): Operators<Sample> {
  const { metrics, counters, store, now, versionUses, configuration, serving } = parts;
  const { readiness, status } = createStatus({
    version: parts.version,
    now,
    configuration: parts.reload,
    upstreams: () => configuration().config.upstreams,
    access: parts.access.status,
    targets: parts.targets.groups.status,
    operations: () => serving().operations.length,
    keys: parts.identity.keysStatus,
    issuers: parts.identity.issuersStatus,
    limits: counters.status,
    idempotency: parts.answers.status,
    certificates: parts.certificates.status,
    deprecatedUses: versionUses.status,
    overload: parts.overload.status,
    lifecycle: parts.lifecycle,
  });
  return {
    metrics,
    readiness,
    status,
    sample: async () => ({ ...(await metrics.sample()), organizations: parts.pressed.list() }),
    exchanges: async (id) => parts.log.recent(id),
    versions: () => versionUses.report(serving().lives),
    limits: createUsage({
      store: counters,
      rules: () => configuration().config.limits,
      operations: () => serving().operations,
      organizationOf: store.organizations.get,
      keysOf: (organization) => liveKeysOf(store, organization, now()),
      noteReset: store.audit.appendReset,
    }),
  };
}

function openConsole({ sample, status, versions }: Operators<Sample>, now: () => number): Console {
  // There is but one process to be asked.
  const self = {};
  const samples = async () => new Map([[self, await sample()]]);
  return createConsole({ bounds: DURATION_BUCKETS, samples, status, versions, now });
}
