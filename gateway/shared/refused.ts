// Whether the gateway refused a request before its service had it, or the service failed, as operators count it.

/** The codes of requests that got no place or met an open circuit breaker, and what stands for the stage of these among refusals. */
export const REFUSED_UNSENT: Readonly<Record<string, string>> = {
  upstream_overloaded: 'queue',
  upstream_unavailable: 'breaker',
};

interface Ended {
  readonly code?: unknown;
  readonly stage?: unknown;
  /** Absent if it was sent to none. */
  readonly target?: unknown;
}

/** Services may respond with the same codes. */
export function wasRefused({ code, stage, target }: Ended): boolean {
  if (code == null) return false;
  return stage !== 'forward' || (target == null && Object.hasOwn(REFUSED_UNSENT, String(code)));
}

/** A response with 5xx that the gateway gives itself, before the service has the request, is a refusal. */
export function hasFailed(ended: Ended & { readonly status?: unknown }): boolean {
  return Number(ended.status) >= 500 && !wasRefused(ended);
}
