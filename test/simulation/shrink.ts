// Makes a failing simulation smaller: fewer processes, then fewer faults, as long as the same checker still fails.

import { type Outcome, type Spec, simulate } from './run.ts';

const ATTEMPTS_MAX = 150;

interface Shrunk {
  readonly spec: Spec;
  readonly outcome: Outcome;
}

/** @param failed the outcome of the whole simulation */
export async function shrink(spec: Spec, failed: Outcome): Promise<Shrunk> {
  let smallest: Shrunk = { spec: { ...spec, processes: failed.processes }, outcome: failed };
  let attempts = 0;

  /** Takes a smaller simulation if it fails, too. */
  async function take(smaller: Partial<Spec>): Promise<boolean> {
    attempts += 1;
    if (attempts > ATTEMPTS_MAX) return false;
    const tried = { ...smallest.spec, ...smaller };
    const outcome = await simulate(tried);
    if (outcome.violation?.checker !== failed.violation?.checker) return false;
    smallest = { spec: tried, outcome };
    return true;
  }

  for (let processes = 1; processes < failed.processes; processes += 1) if (await take({ processes })) break;
  await take({ faults: happened(smallest.outcome) });
  for (let size = Math.ceil(faultsOf(smallest).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < faultsOf(smallest).length; ) {
      const left = faultsOf(smallest).filter((_, index) => index < from || index >= from + size);
      if (!(await take({ faults: left }))) from += size;
    }
  }
  return smallest;
}

const faultsOf = ({ spec, outcome }: Shrunk): readonly number[] =>
  spec.faults ?? outcome.faults.map(([place]) => place);

/** What came later cannot be the cause. */
function happened({ faults, violation }: Outcome): readonly number[] {
  return faults.filter(([, { atMs }]) => atMs <= (violation?.atMs ?? 0)).map(([place]) => place);
}
