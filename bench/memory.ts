// `npm run bench:memory`: that the gateway's memory stays within its bounds: beside the floor in a short run, flat under full load, small
// for idle connections, and not the place where answers wait for slow readers; and what that of an idle one consists of. Ends with 1 if a
// bound is broken.

import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { fullLoad } from './memory/full-load.ts';
import { type IdleRow, idle } from './memory/idle.ts';
import { idleConnections } from './memory/idle-connections.ts';
import { peak } from './memory/peak.ts';
import { slowReaders } from './memory/slow-readers.ts';
import type { Verdict } from './memory/verdict.ts';
import { printTable, sentenceOf } from './print.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    connections: { type: 'string', default: '10000' },
    readers: { type: 'string', default: '1000' },
    'answer-bytes': { type: 'string', default: String(2 ** 20) },
    /** Of the runs for `peak` and `parts`. */
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: 'peak,parts,load,idle,slow' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\u001b[K${text}`));
let parts: IdleRow[] = [];
const checks: Record<string, () => Promise<Verdict | Verdict[]>> = {
  peak: () => peak(Number(values.seconds), progress),
  async parts() {
    parts = await idle(Number(values.seconds), progress);
    return [];
  },
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

if (values.json) process.stdout.write(`${JSON.stringify({ ...describeMachine(), verdicts, parts })}\n`);
else {
  process.stdout.write(`${sentenceOf(describeMachine())}.\n\n`);
  const rows = verdicts.map(({ holds, ...verdict }) => ({ ...verdict, holds: holds ? 'yes' : 'NO' }));
  if (rows.length > 0) printTable(rows, values.markdown);
  if (parts.length > 0) printTable(parts, values.markdown);
}
process.exitCode = verdicts.every(({ holds }) => holds) ? 0 : 1;
