// The name of a running gateway, as causes, alerts and the audit log have it.

import { hostname } from 'node:os';

/** Host and port of the public listener. A port that the system chooses names nothing, so the process stands in its place. */
export function instanceName(port: number): string {
  return `${hostname()}:${port === 0 ? `process ${process.pid}` : port}`;
}
