// The operator of the protocol `limits`: resets what organizations have used, by the command, and gateways follow the note of it as they
// follow changes of keys.

import { resetLimits } from '../../../gateway/administration/limits.ts';
import type { CounterStore } from '../../../gateway/limits/counters/counter-store.ts';
import type { LimitRules } from '../../../gateway/limits/limit-rules.ts';
import { createLimitUsage } from '../../../gateway/limits/limit-usage.ts';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import { ChangeFollower } from '../../../gateway/shared/stores/change-follower.ts';
import { organization } from '../../unit/limits/parties.ts';
import type { WindowChecker } from '../checkers/window.ts';
import type { Deployment } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';
import { openKeyStore } from './key-operator.ts';

const RESET_GAP_MS = 30_000;
const POLL_MS = 250;
/** The share of answers after which a command stands still for a moment. */
const HESITATES = 0.3;

/** Lets a gateway forget its refusals when limits were reset, as `wiring/sections/callers.ts` does. */
export async function followResets(
  process: SimulatedProcess,
  connect: ConnectRedis,
  counters: CounterStore,
): Promise<void> {
  const { machine } = process;
  const store = await openKeyStore(process, connect);
  new ChangeFollower({
    stream: store.audit,
    pollMs: POLL_MS,
    now: machine.now,
    onChange: ({ kind }) => kind === 'limits.reset' && counters.clearRefusals(),
    onReset: () => undefined,
    onPolled: () => undefined,
    machine,
  });
}

interface OperatorOptions {
  readonly deployment: Deployment;
  readonly rules: LimitRules;
  /** By the ids of organizations. */
  readonly checkers: ReadonlyMap<string, WindowChecker>;
  openCounters(
    process: SimulatedProcess,
    connect: ConnectRedis,
  ): CounterStore & { readonly firstAttempt: Promise<void> };
}

/** Begins to reset limits, one after the other, each by connections of its own as a command has them. */
export function beginOperator({ deployment, rules, checkers, openCounters }: OperatorOptions): void {
  const { world } = deployment;
  const random = world.random.named('operator');
  const process = deployment.helper('operator');
  const { machine } = process;
  // Gateways may do much between two of its steps.
  process.hesitate(HESITATES);

  async function reset(id: string, checker: WindowChecker): Promise<void> {
    const connect = deployment.connect(process);
    const [store, counters] = [await openKeyStore(process, connect), openCounters(process, connect)];
    const done = checker.reset();
    try {
      await counters.firstAttempt;
      const limitUsage = createLimitUsage({
        store: counters,
        rules: () => rules,
        operations: () => [],
        organizationOf: organization,
        keysOf: () => [`key of ${id}`],
        placeOf: () => undefined,
      });
      await resetLimits({ store, limitUsage, now: machine.now }, { kind: 'operator', by: 'ada' }, { organization: id });
      world.note('operator', `has reset ${id}`);
      done();
    } catch (error) {
      world.note('operator', `fails: ${(error as Error).message.slice(0, 60)}`);
    } finally {
      await store.close();
      await counters.close();
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await machine.sleep(random.between(0, 2 * RESET_GAP_MS));
      const [id, checker] = random.pick([...checkers]);
      await reset(id, checker);
    }
  }
  void run();
}
