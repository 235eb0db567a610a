// Paths of health checks: they succeed where nothing of the service has been tried, so they are no example of it.

const NAMES =
  /\/(health|healthz|healthcheck|health-check|livez|live|liveness|readyz|ready|readiness|ping|_?status)\/?$/i;

export function isHealthPath(path: string): boolean {
  return NAMES.test(path);
}
