// Creates the functions that execute operations of the gateway itself: administration at `gateway:` and browser sessions at `session:`.

import { randomBytes } from 'node:crypto';
import { createService } from '../administration/service/service.ts';
import { upstreamStates } from '../administration/upstream-states.ts';
import { instanceName } from '../shared/questions/fleet.ts';
import type { Executors } from '../upstream/routes.ts';
import { deprecationsOf } from '../versions/deprecation.ts';
import { operationsServed } from './sections/base.ts';
import type { Sections } from './sections.ts';

export function createExecutors({
  options,
  base,
  observation,
  counters,
  upstreams,
  callers,
  stores,
  certificates,
}: Omit<Sections, 'traffic'>): Executors {
  const { settings, store, digestOf, version, now } = options;
  const { inForce, inForceSinceMs } = base;
  const { access, targets } = upstreams;
  const { usage, deprecatedCalls } = stores;
  const { sessionServices } = callers;
  const administer = createService({
    store,
    digestOf,
    randomBytes,
    now,
    version,
    configuration: inForce,
    inForceSinceMs,
    limitUsage: counters.limitUsage,
    usage,
    askFleet: observation.admin.askFleet,
    upstreams: () => upstreamStates(inForce().config.upstreams, targets.targetSets.status(), access.status()),
    certificates: certificates.status,
    deprecatedUses(organization) {
      const { gateway: rules } = inForce().config;
      const deprecations = deprecationsOf(operationsServed(inForce()), rules, rules.publicUrl);
      return deprecatedCalls.affected(deprecations, organization);
    },
    sessions: sessionServices?.operators,
    instance: instanceName(settings.port),
  });
  return { 'gateway:': administer, 'session:': sessionServices?.execute };
}
