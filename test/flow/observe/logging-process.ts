// Logs a number of exchanges, and a line of its own every 100 of them, to its standard output, whether or not it is read. Then reports over
// IPC the memory of buffers and the number of dropped lines, and on request logs one more line and ends.

import { Trail } from '../../../gateway/exchange/trail.ts';
import { createLog } from '../../../gateway/observe/log/log.ts';

const EXCHANGES = Number(process.argv[2]);
let dropped = 0;
const log = createLog({
  level: 'info',
  now: Date.now,
  onDropped(lines) {
    dropped += lines;
  },
});
const collectGarbage = globalThis.gc as () => void;
collectGarbage();
const before = process.memoryUsage().arrayBuffers;
for (let count = 1; count <= EXCHANGES; count += 1) {
  const trail = new Trail(`req_${count}`, 'GET');
  trail.status = 404;
  trail.code = 'route_not_found';
  trail.note('clientRequestId', 'x'.repeat(100));
  log.logExchange(trail);
  if (count % 100 === 0) log.logger.info({ count }, 'a hundred more');
  if (count % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
log.recent('none');
// A thread beside collects the garbage.
for (let times = 0; times < 3; times += 1) {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 50));
}
process.send?.({ dropped, grownBytes: process.memoryUsage().arrayBuffers - before });
process.once('message', () => {
  log.logger.info('the last line');
  log.flush();
  process.exit(0);
});
