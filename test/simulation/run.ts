// Runs one simulation from beginning to end.

import type { Violation } from './engine/world.ts';
import { World } from './engine/world.ts';
import { applyFaults, type Fault } from './faults.ts';
import { planFaults } from './plan-faults.ts';
import type { Protocol } from './protocol.ts';

export interface Spec {
  readonly protocol: Protocol;
  readonly seed: string;
  readonly hours: number;
  /** Default: as the seed chooses. */
  readonly processes?: number | undefined;
  /** The faults to leave in, by their place in the plan. Default: all. */
  readonly faults?: readonly number[] | undefined;
  readonly keepsTrace?: boolean;
  /** Whether a calm follows, at the end of which everything has to be at rest. Default: true. */
  readonly hasCalm?: boolean;
}

export interface Outcome {
  readonly violation: Violation | undefined;
  readonly simulatedMs: number;
  readonly events: number;
  readonly processes: number;
  /** With their places in the plan. */
  readonly faults: readonly (readonly [place: number, fault: Fault])[];
  readonly hash: string;
  readonly trace: readonly string[];
}

const HOUR_MS = 3_600_000;

export async function simulate(spec: Spec): Promise<Outcome> {
  const { protocol, seed, hours, keepsTrace = false, hasCalm = true } = spec;
  const world = new World({ seed: `${protocol.name} ${seed}`, keepsTrace });
  const processes = spec.processes ?? 1 + world.random.named('processes').below(protocol.processesMax);
  const running = protocol.start(world, processes);
  const faultsEndMs = hours * HOUR_MS;
  const planned = planFaults(world, {
    weights: protocol.faults,
    processes,
    aimed: protocol.aimed,
    untilMs: faultsEndMs,
  });
  const faults = planned
    .map((fault, place) => [place, fault] as const)
    .filter(([place]) => spec.faults?.includes(place) ?? true);
  applyFaults(
    running.deployment,
    faults.map(([, fault]) => fault),
    faultsEndMs,
  );
  const rejected = (error: unknown) =>
    world.violate('process', `a promise was rejected and left alone: ${(error as Error)?.stack ?? error}`);
  process.on('unhandledRejection', rejected);
  try {
    await world.run(faultsEndMs + (hasCalm ? protocol.calmMs : 0));
    if (hasCalm && world.violation() === undefined) running.finish();
  } catch (error) {
    world.violate('process', `an exception was thrown: ${(error as Error).stack}`);
  } finally {
    process.off('unhandledRejection', rejected);
    running.close?.();
  }
  return {
    violation: world.violation(),
    simulatedMs: world.now(),
    events: world.events(),
    processes,
    faults,
    hash: world.trace.hash(),
    trace: world.trace.lines(),
  };
}
