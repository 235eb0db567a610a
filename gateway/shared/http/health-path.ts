// Recognizes paths of health checks. A health check succeeds without trying the service, so it is not an example of its operations.

const NAMES =
  /\/(health|healthz|healthcheck|health-check|livez|live|liveness|readyz|ready|readiness|ping|_?status)\/?$/i;

export function isHealthPath(path: string): boolean {
  return NAMES.test(path);
}
