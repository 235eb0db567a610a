// `npm run chaos`: breaks everything that can be broken around a gateway that works, and ends with 1 if any client got a wrong answer, two
// executions of one write, an answer that never came, or a failure without a reason.

import { parseArgs } from 'node:util';
import { describeMachine } from '../../bench/machine.ts';
import { printTable, sentenceOf } from '../../bench/print.ts';
import { chaosTrial } from './trial.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '20' },
    markdown: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const say = (line: string) => process.stdout.write(`${line}\n`);

say(`${sentenceOf(describeMachine())}, seed ${seed}, ${values.minutes} minutes`);
const result = await chaosTrial({
  seed,
  durationMs: Number(values.minutes) * 60_000,
  clients: Number(values.clients),
  tell: (line) => process.stderr.write(`${line}\n`),
});
const { sent, answered, outcomes, wrong, lost, hanging, doubled, worstMs, writesDone, writesRepeated, mail } = result;

const table = (rows: Parameters<typeof printTable>[0]) => rows.length > 0 && printTable(rows, values.markdown);
table([
  {
    sent,
    answered,
    wrong: wrong.length,
    'crossed on the wire': result.crossings.length,
    lost: lost.length,
    hanging: hanging.length,
    'executed twice': doubled.length,
    'writes done': writesDone,
    'writes repeated': writesRepeated,
    'slowest, ms': worstMs,
  },
]);
table(Object.entries(outcomes).map(([outcome, requests]) => ({ outcome, requests })));
table(Object.entries(result.faults).map(([fault, times]) => ({ fault, times })));
table(
  result.recoveries.map(({ fault, lastedMs, sent, failedAs, recoveredMs, slowestMs }) => ({
    'alone, nothing else broken': fault,
    'lasted, s': (lastedMs / 1000).toFixed(1),
    requests: sent,
    failed: failedAs || 'none',
    'last failure after its end, s': (recoveredMs / 1000).toFixed(1),
    'slowest, ms': slowestMs,
  })),
);
table([{ echoes: mail.echoes, 'WebSockets opened': mail.socketsOpened, 'event streams opened': mail.streamsOpened }]);
table(
  result.memory.map(({ process, minutes, from, to }) => ({
    process,
    minutes,
    'MB after 1 minute': from,
    'MB at the end': to,
  })),
);

const findings = { wrong, lost, hanging, 'executed twice': doubled };
for (const [what, all] of Object.entries(findings)) for (const one of all.slice(0, 20)) say(`${what}: ${one}`);
const isGood = Object.values(findings).every((all) => all.length === 0);
say(isGood ? 'Nothing was wrong.' : 'Something was wrong.');
process.exitCode = isGood ? 0 : 1;
