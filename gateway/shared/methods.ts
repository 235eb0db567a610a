// The methods of HTTP that this gateway knows, and their properties.

/** Methods of requests for a resource: without CONNECT, which asks for a connection. */
export const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'] as const;

/** RFC 9110 section 9.2.2, and RFC 10008 for QUERY. */
const idempotentMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']);

/** Whether a request of this method may be sent again after it may have been processed. */
export function isIdempotent(method: string): boolean {
  return idempotentMethods.has(method);
}
