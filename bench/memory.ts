// `npm run bench:memory`: that the gateway's memory stays within its bounds: flat under full load, small for idle connections, and not
// the place where answers wait for slow readers. Ends with 1 if a bound is broken.

import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { fullLoad } from './memory/full-load.ts';
import { idleConnections } from './memory/idle-connections.ts';
import { slowReaders } from './memory/slow-readers.ts';
import type { Verdict } from './memory/verdict.ts';
import { printTable, sentenceOf } from './print.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    connections: { type: 'string', default: '10000' },
    readers: { type: 'string', default: '1000' },
    'answer-bytes': { type: 'string', default: String(2 ** 20) },
    /** Of load, idle, slow. */
    only: { type: 'string', default: 'load,idle,slow' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`));
const checks: Record<string, () => Promise<Verdict | Verdict[]>> = {
  idle: () => idleConnections(Number(values.connections), progress),
  slow: () => slowReaders(Number(values.readers), Number(values['answer-bytes']), progress),
  load: () => fullLoad(Number(values.minutes), progress),
};

const verdicts: Verdict[] = [];
for (const name of values.only.split(',')) {
  const check = checks[name];
  if (check === undefined) throw new Error(`--only ${name}: there are ${Object.keys(checks).join(', ')}.`);
  verdicts.push(...[await check()].flat());
}
progress('');

if (values.json) process.stdout.write(`${JSON.stringify({ ...describeMachine(), verdicts })}\n`);
else {
  process.stdout.write(`${sentenceOf(describeMachine())}.\n\n`);
  printTable(
    verdicts.map(({ holds, ...verdict }) => ({ ...verdict, holds: holds ? 'yes' : 'NO' })),
    values.markdown,
  );
}
process.exitCode = verdicts.every(({ holds }) => holds) ? 0 : 1;
