// Measures the cost of each test file in CPU seconds, which depend on the load of the machine far less than time does.
// A child that ends after its file counts for the file that runs then; the sandbox, which is detached from its gateway, may count for none.
//
//   TEST_COSTS=/tmp/costs.tsv npm test && sort -k1nr /tmp/costs.tsv | head -30

import { appendFileSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_SECOND = 100;

/** Returns the CPU seconds of ended child processes and their children. Only Linux reports them; the result is 0 elsewhere. */
function ofChildren(): number {
  if (process.platform !== 'linux') return 0;
  // proc(5): after the name in parentheses, the fields from the third on; cutime is the 16th, cstime the 17th.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / CLOCK_TICKS_PER_SECOND;
}

function ofProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * Returns a function that adds a line to the file that TEST_COSTS names: CPU seconds in all, of this process, of children; seconds; name.
 * Without TEST_COSTS it does nothing.
 */
export function startCosts(name: string): () => void {
  const { TEST_COSTS: list } = process.env;
  if (!list) return () => undefined;
  const before = { process: ofProcess(), children: ofChildren(), ms: performance.now() };
  return () => {
    const own = ofProcess() - before.process;
    const children = ofChildren() - before.children;
    const figures = [own + children, own, children, (performance.now() - before.ms) / 1000];
    appendFileSync(list, `${figures.map((seconds) => seconds.toFixed(2)).join('\t')}\t${name}\n`);
  };
}
