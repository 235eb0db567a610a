// Wiring of the admin listener: status, metrics, limits, recent exchanges and the console.

import type { Server } from 'node:http';
import { liveKeysOf } from '../auth/live-keys.ts';
import type { KeyStore } from '../auth/store/store.ts';
import type { Settings } from '../config/load.ts';
import type { Secrets } from '../config/secrets.ts';
import { type Console, createConsole } from '../console/console.ts';
import type { NearLimit } from '../console/near-limit.ts';
import type { Sample } from '../console/sample.ts';
import { closeAtOnce, listen } from '../edge/server.ts';
import type { CounterStore } from '../limits/store.ts';
import { createLimitUsage } from '../limits/usage.ts';
import { createAdminServer, type Operators } from '../observe/admin.ts';
import type { Log } from '../observe/log.ts';
import { DURATION_BUCKETS, type Metrics } from '../observe/metrics.ts';
import { createStatus, type StatusOptions } from '../observe/status.ts';
import type { Serving } from '../serving.ts';
import type { VersionUses } from './version-uses.ts';

export interface AdminListenerOptions {
  readonly settings: Settings;
  readonly secrets: Pick<Secrets, 'read'>;
  readonly log: Pick<Log, 'logger'>;
  /** Set in a worker: the primary process has the listener and asks the worker. */
  readonly worker?: number | undefined;
  now(): number;
}

export interface AdminListener {
  /** Starts to listen. Resolves with the port, or 0 in a worker. */
  listen(answers: Operators<Sample>): Promise<number>;
  close(): Promise<void>;
}

/** Opened before the other parts and closed after them, so that operators see the gateway start and drain. */
export function openAdminListener({ settings, secrets, log, worker, now }: AdminListenerOptions): AdminListener {
  let opened: { readonly server: Server; readonly console: Console } | undefined;
  return {
    async listen(answers) {
      if (worker !== undefined) return 0;
      const { adminHost: host, adminPort } = settings;
      const console = openConsole(answers, now);
      const token = secrets.read('admin_token');
      const server = createAdminServer({ host, token, logger: log.logger, ...answers, console });
      opened = { server, console };
      return listen(server, host, adminPort, 'ADMIN_PORT');
    },
    async close() {
      opened?.console.stop();
      if (opened?.server.listening) await closeAtOnce(opened.server);
    },
  };
}

export interface OperatorsOptions extends StatusOptions {
  readonly store: KeyStore;
  readonly log: Pick<Log, 'recent'>;
  readonly metrics: Metrics;
  readonly pressed: NearLimit;
  readonly counters: CounterStore;
  readonly versionUses: Pick<VersionUses, 'report'>;
  /** The serving object of the configuration in force. */
  serving(): Pick<Serving, 'configuration' | 'operations' | 'deprecations'>;
}

/** The answers of this process to operators. */
export function answersForOperators(options: OperatorsOptions): Operators<Sample> {
  const { metrics, counters, store, now, versionUses, serving } = options;
  const { readiness, status } = createStatus(options);
  return {
    metrics,
    readiness,
    status,
    sample: async () => ({ ...(await metrics.sample()), organizations: options.pressed.list() }),
    exchanges: async (id) => options.log.recent(id),
    versions: () => versionUses.report(serving().deprecations),
    limits: createLimitUsage({
      store: counters,
      rules: () => serving().configuration.config.limits,
      operations: () => serving().operations,
      organizationOf: store.organizations.get,
      keysOf: (organization) => liveKeysOf(store, organization, now()),
      noteReset: store.audit.appendReset,
    }),
  };
}

function openConsole({ sample, status, versions }: Operators<Sample>, now: () => number): Console {
  // A single process: one entry.
  const self = {};
  const samples = async () => new Map([[self, await sample()]]);
  return createConsole({ bounds: DURATION_BUCKETS, samples, status, versions, now });
}
