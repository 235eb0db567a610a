// Pure: arguments that are taken from the answer of an earlier call (RFC 8620, section 3.7).

interface Answered {
  readonly method: string;
  readonly id: string;
  readonly answer: unknown;
}

/** The arguments with their references resolved; undefined where one leads nowhere. */
export function resolveReferences(
  given: Readonly<Record<string, unknown>>,
  before: readonly Answered[],
): Readonly<Record<string, unknown>> | undefined {
  const resolved: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!name.startsWith('#')) {
      resolved[name] = value;
      continue;
    }
    const { resultOf, name: method, path } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const call = before.find((one) => one.id === resultOf && one.method === method);
    const found = call && typeof path === 'string' ? valueAt(call.answer, path.split('/').slice(1)) : undefined;
    if (found === undefined) return undefined;
    resolved[name.slice(1)] = found;
  }
  return resolved;
}

/** A JSON pointer in which `*` is every item of a list; lists of lists become one. */
function valueAt(value: unknown, [token, ...rest]: readonly string[]): unknown {
  if (token === undefined) return value;
  if (token === '*') return Array.isArray(value) ? value.flatMap((item) => valueAt(item, rest) ?? []) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
  return Object.hasOwn(value, name) ? valueAt((value as Readonly<Record<string, unknown>>)[name], rest) : undefined;
}
