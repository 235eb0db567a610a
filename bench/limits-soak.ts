// `node bench/limits-soak.ts`: minutes of overload on one organization over several instances, judged by the store's decision times in
// the access logs. Ends with 1 if the limit was exceeded or not used.

import { parseArgs } from 'node:util';
import { overload } from './limits-overload.ts';
import { busiestSpan, countOfFirst, countsOfWindows, leanestSpan } from './limits-spans.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    instances: { type: 'string', default: '4' },
    clients: { type: 'string', default: '400' },
    requests: { type: 'string', default: '1000' },
    'window-seconds': { type: 'string', default: '60' },
    'pause-ms': { type: 'string', default: '100' },
  },
});
const requests = Number(values.requests);
const windowSeconds = Number(values['window-seconds']);
const windowMs = windowSeconds * 1000;

const { admittedAtMs, lastDecisionMs, sources, statuses } = await overload({
  instances: Number(values.instances),
  clients: Number(values.clients),
  requests,
  windowSeconds,
  durationMs: Number(values.minutes) * 60_000,
  pauseMs: Number(values['pause-ms']),
});

const startMs = admittedAtMs[0] ?? 0;
const first = countOfFirst(admittedAtMs, windowMs);
const most = busiestSpan(admittedAtMs, windowMs);
const windows = countsOfWindows(admittedAtMs, windowMs, startMs, lastDecisionMs);
const byTheClock = countsOfWindows(admittedAtMs, windowMs, Math.ceil(startMs / windowMs) * windowMs, lastDecisionMs);
const holds = first === requests && most === requests && windows.every((count) => count >= requests * 0.98);

process.stdout.write(`${values.instances} instances, ${values.clients} clients, ${requests} per ${windowSeconds} s
decisions                        ${JSON.stringify(sources)}
answers                          ${JSON.stringify(statuses)}
admitted in the first window     ${first}
most in any span of a window     ${most}
in each window from the first    ${windows.join(' ')}
in each window by the clock      ${byTheClock.join(' ')}
least in any span of a window    ${leanestSpan(admittedAtMs, windowMs, lastDecisionMs)}
least in any span 1 % longer     ${leanestSpan(admittedAtMs, windowMs * 1.01, lastDecisionMs)}
${holds ? 'never more than the limit, hardly ever less' : 'THE LIMIT DID NOT HOLD'}
`);
process.exitCode = holds ? 0 : 1;
