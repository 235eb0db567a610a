// How the mail server reads a query: a repeated name keeps its last value, and an empty value is none.

export function lastOf(query: URLSearchParams, name: string): string | undefined {
  return query.getAll(name).at(-1) || undefined;
}
