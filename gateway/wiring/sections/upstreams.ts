// The parts that ask upstreams: credentials and concurrency limits, the sandbox, examples of contracts, connections and their health.

import { type Assertions, createAssertions } from '../../auth/assertions/assertions.ts';
import type { Configuration } from '../../configuration.ts';
import type { TlsSettings } from '../../http1/client/connect.ts';
import { upstreamStatus } from '../../observe/admin/status.ts';
import { logStoreState } from '../../observe/log/store-state.ts';
import type { Shedding } from '../../overload/shedding.ts';
import type { AccessTable } from '../../upstream/access.ts';
import { createLatchProbes } from '../../upstream/credentials/latch-probes.ts';
import { createRecordLocks, type RecordLocks } from '../../upstream/rules/requests/record-locks.ts';
import { openExamples } from '../examples.ts';
import { openShedding } from '../overload.ts';
import type { Parts } from '../parts.ts';
import { type OpenSandbox, openSandbox } from '../sandbox.ts';
import { openUpstreamAccess } from '../upstream-access.ts';
import { openUpstreamTargets, type UpstreamTargets } from '../upstream-targets.ts';
import { createTlsSettings } from '../upstream-tls.ts';
import type { FirstSections } from './observation.ts';

export interface UpstreamsSection {
  readonly shedding: Shedding;
  /** Credentials and concurrency limits. */
  readonly access: AccessTable;
  readonly recordLocks: RecordLocks;
  /** Returns the TLS settings of the upstreams of a configuration. */
  tlsSettingsOf(configuration: Configuration): ReadonlyMap<string, TlsSettings>;
  readonly assertions: Assertions;
  readonly sandbox: OpenSandbox;
  /** Connections, and the health of their targets. */
  readonly targets: UpstreamTargets;
}

/** Rejects if the keys of assertions cannot be read, or the sandbox cannot be started. */
export async function openUpstreams(
  { options, base: { gateway, inForce }, observation: { log, metrics } }: FirstSections,
  parts: Parts,
): Promise<UpstreamsSection> {
  const { configuration, settings, secrets, now } = options;
  const shedding = openShedding(log, metrics);
  const tlsSettingsOf = createTlsSettings({ secrets, log, now });
  const { access, check, sandboxAdministrator } = await openUpstreamAccess({
    config: configuration.config,
    workers: settings.workers,
    secrets,
    probes: createLatchProbes(settings.redisUrl, settings.dataDirectory),
    log,
    now,
    onWaited: metrics.overload.queued,
    onShed: (upstream, why) => shedding.note(why, upstream),
    isShedding: shedding.isShedding,
  });
  parts.add({
    name: 'upstream access',
    check,
    apply: ({ config }) => access.apply(config.upstreams, config.gateway.overload.organizationShare),
  });
  const recordLocks = createRecordLocks({
    redisUrl: settings.redisUrl,
    onChange: logStoreState(log, 'the locks of records'),
  });
  parts.add({ name: 'record locks', close: recordLocks.close });
  const assertions = await createAssertions({ keys: await secrets.assertionKeys(), issuer: gateway.publicUrl, now });
  const sandbox = await openSandbox({
    settings,
    config: configuration.config,
    secrets,
    jwks: assertions.jwks,
    mailAdministrator: sandboxAdministrator,
    log,
  });
  parts.add({
    name: 'sandbox',
    check: ({ config }) => sandbox.check(config),
    close: () => sandbox.process?.close(),
  });
  const examples = await openExamples(configuration, log);
  parts.add({ name: 'examples', apply: examples.apply });
  const targets = openUpstreamTargets({ originOf: sandbox.originOf, answerFor: examples.answerFor, log, metrics, now });
  parts.add({
    name: 'upstreams',
    status: () => ({
      upstreams: upstreamStatus(
        inForce().config.upstreams,
        examples.status(),
        targets.targetSets.status(),
        access.status(),
      ),
    }),
  });

  return { shedding, access, recordLocks, tlsSettingsOf, assertions, sandbox, targets };
}
