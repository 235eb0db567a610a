// The operator of the protocol `certificates`: orders and revokes certificates, and replaces the key of the account, by commands that wait
// until a gateway has done it. Many commands come while a gateway is just ordering.

import type { AcmeStore } from '../../../gateway/acme/acme-store.ts';
import { askGateways } from '../../../gateway/acme/asking.ts';
import { recordIdOf, SERVER } from '../../../gateway/acme/records.ts';
import type { ConnectRedis } from '../../../gateway/redis/client.ts';
import type { CommandChecker } from '../checkers/commands.ts';
import type { Deployment } from '../deployment.ts';
import type { SimulatedProcess } from '../engine/process.ts';

const MINUTE_MS = 60_000;
const GAPS_MS = [4 * MINUTE_MS, 15 * MINUTE_MS] as const;
const KINDS = ['order', 'revoke', 'revoke', 'account key'] as const;
/** This share waits until a gateway is in the middle of its work: a piece of work has so many questions. */
const AIMED = 0.6;
const QUESTIONS = 20;

interface OperatorOptions {
  readonly deployment: Deployment;
  readonly checker: CommandChecker;
  readonly certificates: readonly (readonly string[])[];
  openStore(process: SimulatedProcess, connect: ConnectRedis): Promise<AcmeStore>;
  /** Fingerprints of what the gateways show for these names. */
  shownFor(names: readonly string[]): readonly string[];
}

/** Begins to give commands, one after the other. */
export function beginOperator({ deployment, checker, certificates, openStore, shownFor }: OperatorOptions): void {
  const { world } = deployment;
  const random = world.random.named('operator');
  const process = deployment.helper('operator');
  const { machine } = process;
  const gapMs = random.pick(GAPS_MS);

  async function command(): Promise<void> {
    const kind = random.pick(KINDS);
    const names = random.pick(certificates);
    const store = await openStore(process, deployment.connect(process));
    try {
      const told = checker.asked(kind, names.join(), shownFor(names));
      world.note('operator', `${kind} ${names}`);
      const id = kind === 'account key' ? SERVER : recordIdOf(names);
      const failure = await askGateways({ store, id, kind, by: 'ada', now: machine.now, machine });
      world.note('operator', failure ?? 'done');
      told(failure);
    } catch (error) {
      world.note('operator', `fails: ${(error as Error).message.slice(0, 60)}`);
    } finally {
      store.close();
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await machine.sleep(random.between(0, 2 * gapMs));
      if (random.chance(AIMED))
        await new Promise<void>((resolve) =>
          deployment.afterMoments('question', random.below(QUESTIONS), () => resolve()),
        );
      await command();
    }
  }
  void run();
}
